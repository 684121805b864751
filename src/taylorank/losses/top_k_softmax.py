"""SL@K: softmax loss in which a positive counts by how near it is to the first k.

    ℓ(o; y) = σ((o_y − β_x) / t) · (log Σ_j exp(o_j) − o_y)            β_x = the k-th highest score of the query

As a surrogate of DCG cut off at k: a positive that is far below the list has little weight, one inside it all of it.
β_x is held fixed in the gradient, as the paper does; the weight is not. With w = σ(…) and s the softmax loss

    ∂ℓ/∂o = w (p − e_y) + s · w (1 − w) / t · e_y

Scores must be bounded, as cosines are: else all positives are best far below the k-th, where they weigh nothing. t is
in units of the scores; on cosines themselves it is t times their temperature.

Yang et al.: Breaking the top-K barrier: advancing top-K ranking metrics optimization in recommender systems (KDD 2025),
where β_x is estimated from drawn items and renewed every few epochs; here all scores are known at every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from taylorank.checks import check_number, check_whole
from taylorank.errors import ParameterError
from taylorank.losses.exact import State, row_loss
from taylorank.losses.simplex import softmax_map


@dataclass(frozen=True, eq=False)
class TopKSoftmax:
    """The loss by its values and its gradient; `thresholds` (B,) stand in the place of the k-th scores."""

    k: int = 20
    weight_temperature: float = 10.0
    thresholds: Tensor | None = None
    shift_invariant: ClassVar[bool] = False  # with thresholds that are given; else it is

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return ℓ for every positive."""
        positive = z[rows, columns]
        kth = self.thresholds
        if kth is None:
            kth = z.topk(min(self.k, z.shape[1]), dim=1).values[:, -1]
        share = ((positive - kth.to(z.dtype)[rows]) / self.weight_temperature).sigmoid()
        highest = z.amax(1)
        conjugate, weights, mass = softmax_map(z.sub_(highest[:, None]))
        plain = conjugate[rows] + (highest[rows] - positive)
        return share * plain, (weights, mass, share, plain)

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return Σ_p w_p ∇ℓ_p of every row."""
        prediction, mass, share, plain = state
        own = weights * share
        per_row = mass.new_zeros(len(mass)).index_add_(0, rows, own)
        gradient = prediction.mul_((per_row / mass)[:, None])
        change = own * (plain * (1 - share) / self.weight_temperature - 1)
        gradient.view(-1).index_add_(0, rows * gradient.shape[1] + columns, change)
        return gradient


def top_k_loss(k: int, weight_temperature: float, thresholds: Tensor | None = None) -> TopKSoftmax:
    """Return the loss of checked numbers."""
    if not check_number(weight_temperature, "weight_temperature", least=0) > 0:
        raise ParameterError("weight_temperature=0 divides by zero", "give a positive number, such as 10")
    return TopKSoftmax(check_whole(k, "k"), float(weight_temperature), thresholds)


def sl_at_k(
    scores: Tensor,
    rows: Tensor,
    columns: Tensor,
    *,
    mask: Tensor | None = None,
    k: int = 20,
    weight_temperature: float = 10.0,
    thresholds: Tensor | None = None,
) -> Tensor:
    """ℓ = σ((o_y − β) / t) (log Σ_j exp(o_j) − o_y), β the k-th score, for scores (B, N), positives (P,) → (P,).

    `thresholds` (B,): β of every query, if it is known.

    >>> import torch
    >>> sl_at_k(torch.zeros(1, 4), torch.tensor([0]), torch.tensor([2]))
    tensor([0.6931])
    """
    return row_loss(top_k_loss(k, weight_temperature, thresholds), scores, rows, columns, mask=mask)
