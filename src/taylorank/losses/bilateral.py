"""BSL: softmax whose normaliser has a weight, and whose positives may be pooled.

    ℓ(o; y) = −o_y + w log Σ_j exp(o_j)                                                    a = 0
    ℓ(o; y) = −(1/a) log mean_{y' ∈ P_x} exp(a o_y') + w log Σ_j exp(o_j)                  a > 0

With o = cosine / τ₁, a = 1 and w = τ₂/τ₁ this is −log E₊ exp(f/τ₁) + (τ₂/τ₁) log E₋ exp(f/τ₁) up to a constant: the
positives of a query P_x are pooled as the negatives are, so that one which scores far below the others counts little.
a → 0 is the mean over them. The gradient is w p − e_y, or w p less the softmax of a o over P_x.

For w ≠ 1 a constant added to all scores changes the loss, and it has no minimum unless scores are bounded, as cosines
are. Where the mean of the scores is held, the best ones have p_j = (η_j + (w − 1)/N) / w: for w > 1 the target η with
some of the uniform distribution mixed in, and so they rank by η.

Wu et al.: BSL: Understanding and improving softmax loss for recommendation (ICDE 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from taylorank.checks import check_number
from taylorank.losses.batch import widen
from taylorank.losses.exact import State, row_loss
from taylorank.losses.simplex import MASKED, softmax_map


@dataclass(frozen=True)
class Bilateral:
    """The loss by its values and its gradient."""

    negative_weight: float = 1.2
    positive_sharpness: float = 0.0
    shift_invariant: ClassVar[bool] = False

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return ℓ for every positive; with a > 0 those of one row have the same."""
        highest = z.amax(1)
        positive = z[rows, columns]
        conjugate, weights, mass = softmax_map(z.sub_(highest[:, None]))
        normaliser = self.negative_weight * (conjugate + highest)
        if not self.positive_sharpness:
            return normaliser[rows] - positive, (weights, mass, torch.ones_like(positive))
        pooled, shares = _pooled(positive, rows, len(z), self.positive_sharpness)
        return (normaliser - pooled)[rows], (weights, mass, shares)

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return Σ_p w_p ∇ℓ_p of every row."""
        prediction, mass, shares = state
        per_row = mass.new_zeros(len(mass)).index_add_(0, rows, weights)
        gradient = prediction.mul_((self.negative_weight * per_row / mass)[:, None])
        pull = per_row[rows] * shares if self.positive_sharpness else weights
        gradient.view(-1).index_add_(0, rows * gradient.shape[1] + columns, -pull)
        return gradient


def _pooled(positive: Tensor, rows: Tensor, n_rows: int, sharpness: float) -> tuple[Tensor, Tensor]:
    """Return (1/a) log mean exp(a o) over the positives of each row, (B,), and the share of each, (P,)."""
    kept = positive > 0.5 * MASKED
    highest = positive.new_full((n_rows,), MASKED).scatter_reduce_(0, rows, positive, "amax")
    powers = torch.where(kept, (sharpness * (positive - highest[rows])).exp(), 0.0)
    sums = positive.new_zeros(n_rows).index_add_(0, rows, powers).clamp_min(torch.finfo(powers.dtype).tiny)
    counts = positive.new_zeros(n_rows).index_add_(0, rows, kept.to(positive.dtype)).clamp_min(1.0)
    pooled = highest + (sums / counts).log() / sharpness
    return pooled, powers / sums[rows]


def bilateral_loss(negative_weight: float, positive_sharpness: float) -> Bilateral:
    """Return the loss of checked numbers ≥ 0."""
    weight = check_number(negative_weight, "negative_weight", least=0)
    return Bilateral(weight, check_number(positive_sharpness, "positive_sharpness", least=0))


def bsl(
    scores: Tensor,
    rows: Tensor,
    columns: Tensor,
    *,
    mask: Tensor | None = None,
    negative_weight: float = 1.2,
    positive_sharpness: float = 0.0,
) -> Tensor:
    """ℓ = −o_y + w log Σ_j exp(o_j), for scores (B, N) and positives (rows, columns), (P,) each → (P,).

    >>> import torch
    >>> bsl(torch.zeros(1, 4), torch.tensor([0]), torch.tensor([2]), negative_weight=2.0)
    tensor([2.7726])
    """
    return row_loss(bilateral_loss(negative_weight, positive_sharpness), scores, rows, columns, mask=mask)


def sampled_bsl(
    positive: Tensor, negative: Tensor, *, mask: Tensor | None = None, negative_weight: float = 1.2
) -> Tensor:
    """ℓ = −o_y + w log Σ_j exp(o_j) over the draws, for scores (P,) and (P, n) → (P,); 0 for the sum of none.

    >>> import torch
    >>> sampled_bsl(torch.zeros(1), torch.zeros(1, 4), negative_weight=2.0)
    tensor([2.7726])
    """
    scores = widen(negative)
    if mask is None:
        return negative_weight * torch.logsumexp(scores, 1) - widen(positive)
    sums = torch.logsumexp(scores.masked_fill(mask, MASKED), 1).masked_fill(mask.all(1), 0.0)
    return negative_weight * sums - widen(positive)
