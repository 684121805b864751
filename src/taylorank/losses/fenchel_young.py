"""Fenchel-Young losses: a regulariser makes the prediction, the loss and its gradient.

    ℓ(o; y) = Ω*(o) + Ω(e_y) − o_y        p = ∇Ω*(o) = argmax_p p · o − Ω(p)        ∇ℓ = p − e_y

ℓ ≥ 0, convex, and 0 only where p = e_y; adding a constant to all scores changes nothing. Graded targets are weights
on the positives: with Σ_y w_y = 1 the weighted sum is the loss for the target distribution w, but for the constant
−Ω(w).

Blondel, Martins, Niculae: Learning with Fenchel-Young losses (2020). Softmax is Shannon's entropy; sparsemax
(Martins, Astudillo 2016) Ω = ½‖p‖² − ½; α-entmax (Peters, Niculae, Martins 2019) Tsallis' entropy, between the two
for 1 < α < 2. The Jacobian of its prediction is diag(p^(2−α)) less a matrix of rank one: for α ≤ 2 its spectral norm
is at most 2^(α−2), and for α > 2 it has no bound, as p^(2−α) grows without end where items enter the support.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import Tensor

from taylorank.checks import check_number
from taylorank.errors import ParameterError
from taylorank.losses.exact import State, row_loss
from taylorank.losses.simplex import entmax15_map, entmax_map, softmax_map, sparsemax_map


@dataclass(frozen=True)
class FenchelYoung:
    """The loss of one regulariser, given as the map z → Ω*(z), w, Σ w with p = w / Σ w (`losses.simplex`)."""

    map: Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]
    shift_invariant: ClassVar[bool] = True

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return Ω*(z) − z_y for every positive; Ω(e_y) = 0 for all our regularisers."""
        positive = z[rows, columns]
        conjugate, weights, mass = self.map(z)
        return conjugate[rows] - positive, (weights, mass)

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return Σ_p w_p (p − e_y) of every row."""
        prediction, mass = state
        per_row = mass.new_zeros(len(mass)).index_add_(0, rows, weights)
        gradient = prediction.mul_((per_row / mass)[:, None])
        gradient.view(-1).index_add_(0, rows * gradient.shape[1] + columns, -weights)
        return gradient


SOFTMAX = FenchelYoung(softmax_map)
SPARSEMAX = FenchelYoung(sparsemax_map)
ENTMAX15 = FenchelYoung(entmax15_map)


def entmax_loss(alpha: float) -> FenchelYoung:
    """Return the loss of Tsallis' entropy: closed forms at 1, 1.5 and 2, bisection elsewhere.

    Beyond α = 2 values and gradients are exact, but the gradient is not Lipschitz (`jacobian_bound`).
    """
    alpha = check_number(alpha, "alpha")
    if alpha < 1:
        raise ParameterError(f"alpha={alpha:g} has no sparse map", "use 1 (softmax) or more, such as 1.5")
    closed = {1.0: SOFTMAX, 1.5: ENTMAX15, 2.0: SPARSEMAX}
    return closed.get(alpha) or FenchelYoung(partial(entmax_map, alpha=alpha))


def jacobian_bound(alpha: float) -> float:
    """Return the largest spectral norm of the Jacobian of α-entmax: 2^(α−2) for 1 ≤ α ≤ 2, infinite beyond.

    >>> jacobian_bound(1.0), jacobian_bound(2.0), jacobian_bound(2.5)
    (0.5, 1.0, inf)
    """
    return float(2 ** (alpha - 2)) if alpha <= 2 else math.inf


def softmax(scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """ℓ = −o_y + log Σ_j exp(o_j), for scores (B, N) and positives (rows, columns), (P,) each → (P,).

    >>> import torch
    >>> softmax(torch.zeros(1, 4), torch.tensor([0]), torch.tensor([2]))
    tensor([1.3863])
    """
    return row_loss(SOFTMAX, scores, rows, columns, mask=mask)


def sparsemax(scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """ℓ = −o_y + ½ Σ_{j: p_j > 0} (o_j² − τ²) + ½, with p = [o − τ]₊ the projection of o on the simplex → (P,).

    >>> import torch
    >>> sparsemax(torch.tensor([[2.0, 0.5]]), torch.tensor([0]), torch.tensor([0]))
    tensor([0.])
    """
    return row_loss(SPARSEMAX, scores, rows, columns, mask=mask)


def entmax(scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None = None, alpha: float = 1.5) -> Tensor:
    """ℓ = (p − e_y) · o + (1 − Σ_j p_j^α) / (α(α − 1)), with p_j = [(α − 1) o_j − τ]₊^(1/(α − 1)) → (P,).

    >>> import torch
    >>> entmax(torch.zeros(1, 4), torch.tensor([0]), torch.tensor([2]))
    tensor([0.6667])
    """
    return row_loss(entmax_loss(alpha), scores, rows, columns, mask=mask)
