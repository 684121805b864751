"""Any smooth convex loss f on the positives, with a quadratic of all items in the background.

    ℓ(o; y) = f(o_y) + w Σ_j q_j (½ o_j² − r o_j),        the background w/2 Σ_j q_j (o_j − r)² but for its constant

With m = Σ_y q_y v_y and G = Σ_y q_y v_y v_yᵀ the background is w (½ uᵀG u − r u·m): no logits, as in `losses.rg`, whose
RG² is f(o) = −o, w = 1, r = −1. Under a distribution η of one positive the best scores have −η_y f′(o_y) = w q_y (o_y −
r) where f decreases: o rises with η_y / q_y, so scores rank by η for a uniform q, the default here.

Yuan, Ban, Lin et al.: Efficient optimization for extreme similarity learning with nonlinear embeddings (KDD 2021), from
which the name of r, an imputed score of what was not observed.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_name
from taylorank.losses.batch import Negatives, Positives
from taylorank.losses.criterion import Criterion, weighted_sum
from taylorank.losses.rg import pair_scores, score_moments


def logistic(scores: Tensor) -> Tensor:
    """f = −log σ(o)."""
    return functional.softplus(-scores)


def squared(scores: Tensor) -> Tensor:
    """f = ½ (1 − o)²."""
    return 0.5 * (1 - scores).square()


POSITIVE_LOSSES: dict[str, Callable[[Tensor], Tensor]] = {"logistic": logistic, "squared": squared}


def bce_quadratic(
    queries: Tensor,
    items: Tensor,
    rows: Tensor,
    columns: Tensor,
    *,
    proposal: Tensor,
    positive_loss: str = "logistic",
    background_weight: float = 1.0,
    background_target: float = 0.0,
) -> Tensor:
    """ℓ = f(u·v_y) + w (½ q·o² − r q·o), for queries u (B, K), items v (N, K), positives (P,) each, q (N,) → (P,).

    >>> import torch
    >>> half = torch.full((2,), 0.5)
    >>> bce_quadratic(torch.ones(1, 1), torch.tensor([[0.0], [2]]), *torch.zeros(2, 1).long(), proposal=half)
    tensor([1.6931])
    """
    mean, square = score_moments(queries, items, proposal)
    background = background_weight * (0.5 * square - background_target * mean)
    f = check_name(positive_loss, POSITIVE_LOSSES, "positive_loss")
    return f(pair_scores(queries, items, rows, columns)) + background[rows]


class QuadraticBackgroundCriterion(Criterion):
    """Σ_p w_p ℓ_p; ranks by o."""

    kind = "product"
    proposal: Tensor

    def __init__(self, proposal: Tensor, options: dict[str, float | str]) -> None:
        super().__init__()
        self.options = options
        self.register_buffer("proposal", proposal)

    def forward(
        self,
        queries: Tensor,
        items: Tensor,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
    ) -> Tensor:
        """Return the sum."""
        rows, columns, _ = positives
        values = bce_quadratic(queries, items, rows, columns, proposal=self.proposal, **self.options)  # type: ignore[arg-type]
        return weighted_sum(values, positives)
