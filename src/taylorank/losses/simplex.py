"""Maps from scores to the simplex: p = argmax_p p · z − Ω(p), the prediction of a Fenchel-Young loss.

Every map takes z (B, N) with row maximum 0, overwrites it, and returns

    Ω*(z) (B,),   w (B, N),   Σ_j w_j (B,)        so that p = w / Σ w

Ω is Shannon's or Tsallis' negative entropy, Ω(p) = (Σ_j p_j^α − 1) / (α(α − 1)), which is 0 at every corner. For α >
1 p_j = [(α − 1) z_j − τ]₊^(1/(α − 1)), where τ makes the sum 1. The sum is convex in τ for α ≤ 2, so Newton's
iteration from below never overshoots: finite for α = 2 (Michelot 1986), quadratic for α = 1.5. It takes a handful of
passes over the row and no sort, whether the support is one item or all of them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# exp of less may underflow, which takes a hundred times longer; beside the maximum's 1, e^-80 counts as 0
LEAST_EXPONENT = -80.0
MASKED = -1e30  # a masked score: finite, so that 0 · MASKED = 0
PASSES = 100


def softmax_map(z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """p_j = exp(z_j) / Σ exp, Ω* = log Σ exp."""
    weights = torch.threshold_(z.clamp_min_(LEAST_EXPONENT).exp_(), 2 * math.exp(LEAST_EXPONENT), 0.0)
    mass = weights.sum(1)
    return mass.log(), weights, mass


def sparsemax_map(z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """p_j = [z_j − τ]₊, the projection on the simplex; Ω* = ½ Σ p² + τ + ½."""
    tau = _threshold(z, 1)
    weights = z.sub_(tau).relu_()
    conjugate = 0.5 * torch.linalg.vector_norm(weights, dim=1).square() + tau[:, 0] + 0.5
    return conjugate, weights, weights.sum(1)


def entmax15_map(z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """p_j = [z_j / 2 − τ]₊²; Ω* = ⅔ Σ p^1.5 + 2τ + 4/3."""
    tau = _threshold(z.mul_(0.5), 2)
    root = z.sub_(tau).relu_()
    weights = root * root
    mass = weights.sum(1)
    conjugate = 2 / 3 * root.mul_(weights).sum(1) + 2 * tau[:, 0] + 4 / 3
    return conjugate, weights, mass


def entmax_map(z: Tensor, alpha: float) -> tuple[Tensor, Tensor, Tensor]:
    """p_j = [(α − 1) z_j − τ]₊^(1/(α − 1)), τ by bisection; Ω* = Σ p^α / α + (α τ + 1) / (α(α − 1))."""
    power = 1 / (alpha - 1)
    z.mul_(alpha - 1)
    low = torch.full_like(z[:, :1], -1.0)  # the largest alone makes the sum 1
    width = 1 - float(z.shape[1]) ** (1 - alpha)  # at the upper end the sum is 1 if all are equal, else less
    weights = torch.empty_like(z)
    for _ in range(52 if z.dtype == torch.float64 else 24):
        width /= 2
        mass = torch.sub(z, low + width, out=weights).relu_().pow_(power).sum(1, keepdim=True)
        low += width * (mass >= 1)
    root = z.sub_(low).relu_()
    torch.pow(root, power, out=weights)
    mass = weights.sum(1)
    conjugate = root.mul_(weights).sum(1) / alpha + (alpha * low[:, 0] + 1) / (alpha * (alpha - 1))
    return conjugate, weights, mass


def _threshold(z: Tensor, power: int) -> Tensor:
    """Return τ (B, 1) with Σ_j [z_j − τ]₊^power = 1, for power 1 or 2.

    It starts at a τ that is not above the solution: −1, where the maximum alone gives 1; mean z − N^(−1/power), by
    Jensen; or the solution for the largest of every eight items, which finds most of the support at little cost.
    """
    spread: float = z.shape[1] ** (-1 / power)
    tau = (z.mean(1, keepdim=True) - spread).clamp_min_(-1.0)
    width = z.shape[1] // 8
    if width >= 32:
        blocks, rest = z[:, : 8 * width].view(len(z), 8, width), z[:, 8 * width :]
        tau = torch.maximum(tau, _threshold(torch.cat((blocks.amax(1), rest), 1), power))
    buffer = torch.empty_like(z)
    eps = torch.finfo(z.dtype).eps
    enough = 8 * eps if power == 1 else eps**0.5 / 32  # what is left after a last step is of the order of its square
    for _ in range(PASSES):
        excess = torch.sub(z, tau, out=buffer).relu_().sum(1, keepdim=True)
        if power == 1:
            step = (excess - 1) / buffer.sign_().sum(1, keepdim=True).clamp_min_(1)
        else:
            step = (torch.linalg.vector_norm(buffer, dim=1, keepdim=True).square() - 1) / (2 * excess)
        tau += step
        if float(step.abs().max()) <= enough:
            break
    return tau
