"""One-versus-all: binary cross-entropy of every item of a query, none of them drawn.

    ℓ(o; y) = −log σ(o_y) − (w/N) Σ_{j≠y} log σ(−o_j) = φ(−o_y) + (w/N) (Σ_j φ(o_j) − φ(o_y)),    φ(t) = log(1 + e^t)

    ∂ℓ/∂o_y = σ(o_y) − 1        ∂ℓ/∂o_j = (w/N) σ(o_j)

It is the expectation of `bce` with uniform draws of all items but y, with weight w (N − 1)/N. With w = N every item
counts as much as the positive. The best scores under a distribution η of one positive have σ(o_y) = η_y / (η_y + (w/N)
(1 − η_y)): they rank by η. A query's other positives count among its negatives, once for each positive, as in
`softmax`; `mask` takes them out, and N is then the number of items that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_number
from taylorank.losses.exact import State, row_loss
from taylorank.losses.simplex import MASKED


@dataclass(frozen=True)
class OneVersusAll:
    """The loss by its values and its gradient."""

    negative_weight: float = 1.0
    shift_invariant: ClassVar[bool] = False

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return ℓ for every positive."""
        share = self.negative_weight / (z > 0.5 * MASKED).sum(1).clamp_min(1)  # (B,) w/N
        of_rows = functional.softplus(z).sum(1) * share
        positive = z[rows, columns]
        values = functional.softplus(-positive) + of_rows[rows] - share[rows] * functional.softplus(positive)
        return values, (z.sigmoid_(), share.to(z.dtype), positive.sigmoid())

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return Σ_p w_p ∇ℓ_p of every row."""
        sigmoid, share, positive = state
        per_row = share.new_zeros(len(share)).index_add_(0, rows, weights) * share
        gradient = sigmoid.mul_(per_row[:, None])
        change = weights * (positive - 1 - share[rows] * positive)
        gradient.view(-1).index_add_(0, rows * gradient.shape[1] + columns, change)
        return gradient


def bce_all(
    scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None = None, negative_weight: float = 1.0
) -> Tensor:
    """ℓ = −log σ(o_y) − (w/N) Σ_{j≠y} log σ(−o_j), for scores (B, N) and positives (rows, columns), (P,) each → (P,).

    >>> import torch
    >>> bce_all(torch.zeros(1, 4), torch.tensor([0]), torch.tensor([2]))
    tensor([1.2130])
    """
    weight = check_number(negative_weight, "negative_weight", least=0)
    return row_loss(OneVersusAll(weight), scores, rows, columns, mask=mask)
