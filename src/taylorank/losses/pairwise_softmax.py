"""PSL: softmax over pairs, with another function in the place of the exponential.

Softmax loss is log Σ_j exp(d_j) with d_j = o_j − o_y. The exponential lets a few draws far above the positive, often
unknown positives, take all of the gradient. PSL has an activation φ with 1[d ≥ 0] ≤ φ(d) ≤ exp(d) in its place, nearer
to the step that DCG counts:

    ℓ = log (1/n) Σ_j φ(d_j)^s        φ(d) = 1 + tanh d,  1 + arctan d,  or [1 + d]₊

The bounds hold for |d| ≤ 1, which cosines divided by 2 have: PSL is made for them. s = 1/τ* says how far the worst
draws count beyond the others; for φ = exp it is the temperature of softmax.

Yang et al.: PSL: Rethinking and improving softmax loss from pairwise perspective for recommendation (NeurIPS 2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_name
from taylorank.losses.batch import widen

LEAST = 1e-6  # of φ, whose logarithm is taken
ABSENT = -1e30  # finite, so that a row of nothing but masked draws has no gradient


def _log_tanh(d: Tensor) -> Tensor:
    """log(1 + tanh d) = log 2 − log(1 + e^(−2d))."""
    return math.log(2) - functional.softplus(-2 * d)


def _log_arctan(d: Tensor) -> Tensor:
    return (1 + torch.atan(d)).clamp_min(LEAST).log()


def _log_relu(d: Tensor) -> Tensor:
    return (1 + d).clamp_min(LEAST).log()


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": _log_tanh, "arctan": _log_arctan, "relu": _log_relu}


def psl(
    positive: Tensor,
    negative: Tensor,
    *,
    mask: Tensor | None = None,
    activation: str = "tanh",
    sharpness: float = 10.0,
) -> Tensor:
    """ℓ = log (1/n) Σ_j φ(o_j − o_y)^s, for scores (P,) and (P, n) → (P,); 0 where all draws are masked.

    >>> import torch
    >>> psl(torch.zeros(1), torch.zeros(1, 3))
    tensor([0.])
    """
    log_activation = check_name(activation, ACTIVATIONS, "activation")
    powers = sharpness * log_activation(widen(negative) - widen(positive)[:, None])
    if mask is None:
        return torch.logsumexp(powers, 1) - math.log(powers.shape[1])
    kept = (~mask).sum(1)
    values = torch.logsumexp(powers.masked_fill(mask, ABSENT), 1) - kept.clamp_min(1).log()
    return values.masked_fill(kept == 0, 0.0)
