"""What a trainer calls: vectors and positives in, Σ_p w_p ℓ_p out. A sum; the trainer normalises.

    criterion(queries (B, K), items, positives, negatives, users=None) → scalar

`items` is the tensor (N, K) for kinds "exact" and "product", and for the others a function of item numbers, columns →
(..., K).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives, pick, widen
from taylorank.losses.drawn import drawn_scores
from taylorank.losses.exact import RowLoss, product_loss
from taylorank.losses.rg import rg_sum, rgx_background

ItemVectors = Callable[[Tensor], Tensor]


class Criterion(nn.Module):  # type: ignore[misc, unused-ignore]
    """The parts that most criteria share; learned parts are parameters of the criterion."""

    kind: str
    needs_log_q = False  # the sampler must know the probabilities of its draws
    needs_users = False  # `users` (B,) must say whose queries these are
    scoring = "product"  # or "distance", "tree"
    constrain: str | None = None  # "unit-ball": the trainer keeps vectors there

    def export(self, queries: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors whose inner product ranks."""
        return queries, items

    def scored(self, queries: Tensor, items: ItemVectors) -> tuple[Tensor, ItemVectors]:
        """Return vectors, and a function to vectors, whose inner product ranks: for samplers that use scores."""
        return queries, items

    def after_step(self) -> None:
        """Put the criterion's own parameters back where they must be."""


class ExactCriterion(Criterion):
    """Σ_p w_p ℓ_p over all items, some queries at a time: no more than `chunk_elements` scores exist."""

    kind = "exact"

    def __init__(self, loss: RowLoss, chunk_elements: int | None) -> None:
        super().__init__()
        self.loss, self.chunk_elements = loss, chunk_elements

    def forward(
        self,
        queries: Tensor,
        items: Tensor,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return the sum; `mask` (B, N) takes candidates out."""
        total: Tensor = product_loss(
            self.loss, queries, items, positives, mask=mask, chunk_elements=self.chunk_elements
        )
        return total


class ProductCriterion(Criterion):
    """RG² and RG×: ranks by probability, [u, 1]·[q v, q], or by lift, u·v."""

    kind = "product"
    proposal: Tensor

    def __init__(self, background: Callable[..., Tensor], proposal: Tensor, ranking: str) -> None:
        super().__init__()
        if ranking not in ("probability", "lift"):
            raise ParameterError(f"ranking={ranking!r} is unknown", "choose from probability, lift")
        self.background, self.ranking = background, ranking
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
        background = self.background(queries, items, proposal=self.proposal)
        return rg_sum(background, queries, items, positives)

    def export(self, queries: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors whose inner product is N times the probability, or the lift."""
        if self.ranking == "lift":
            return queries, items
        scale = (self.proposal * len(items)).to(items.dtype)[:, None]
        base = 1 - self._offset(queries, items)
        return torch.cat((queries, base), 1), torch.cat((scale * items, scale), 1)

    @property
    def has_interaction(self) -> bool:
        """Whether this is RG×."""
        return self.background is rgx_background

    def _offset(self, queries: Tensor, items: Tensor) -> Tensor:
        """Return what is taken off all scores of a query (B, 1): q·o for RG×, where p = q (1 + o − q·o)."""
        if not self.has_interaction:
            return torch.zeros_like(queries[:, :1])
        return queries @ (self.proposal.to(items.dtype) @ items)[:, None]


class SampledCriterion(Criterion):
    """A loss on the positive's score and those of the draws."""

    kind = "sampled"

    def __init__(self, function: Callable[..., Tensor], *, log_q: str, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.function, self.options = function, dict(options)
        self.log_q = log_q  # "none", "negatives", "all": which log probabilities the function takes, or "optional"
        self.needs_log_q = log_q in ("negatives", "all")

    def forward(
        self,
        queries: Tensor,
        items: ItemVectors,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
    ) -> Tensor:
        """Return the sum."""
        drawn = required(negatives)
        query = pick(queries, positives.rows)  # (P, K)
        positive = (widen(query) * widen(items(positives.columns))).sum(1)
        if drawn.columns.ndim == 2:
            negative = drawn_scores(query, items, drawn.columns)  # (P, n)
        else:
            negative = pick(queries @ items(drawn.columns).T, positives.rows)
        values = self.function(
            positive, negative, mask=drawn.mask, **self.extra(query), **self._log_q(drawn), **self.options
        )
        return weighted_sum(values, positives)

    def extra(self, query: Tensor) -> dict[str, Tensor]:
        """Return what a learned part makes of the query vectors (P, K)."""
        return {}

    def _log_q(self, drawn: Negatives) -> dict[str, Tensor | None]:
        if self.needs_log_q and (drawn.log_q is None or (self.log_q == "all" and drawn.positive_log_q is None)):
            raise ParameterError(
                "this loss needs the log probabilities of the draws", "use the sampler uniform, popularity or in-batch"
            )
        takes = {"none": (), "optional": ("log_q",), "negatives": ("log_q",), "all": ("log_q", "positive_log_q")}
        return {name: getattr(drawn, name) for name in takes[self.log_q]}


class BoundaryCriterion(SampledCriterion):
    """UIB: the boundary of a user is b_u = w·u with one learned w for all."""

    def __init__(self, function: Callable[..., Tensor], *, factors: int, options: Mapping[str, Any]) -> None:
        super().__init__(function, log_q="none", options=options)
        self.weight = nn.Parameter(torch.zeros(factors))

    def extra(self, query: Tensor) -> dict[str, Tensor]:
        """Return the boundaries (P,)."""
        return {"boundary": widen(query) @ self.weight.to(widen(query).dtype)}


def required(negatives: Negatives | None) -> Negatives:
    """Return the negatives, which a sampled loss needs."""
    if negatives is None:
        raise ParameterError("this loss needs negatives", "draw some with a sampler")
    return negatives


def weighted_sum(values: Tensor, positives: Positives) -> Tensor:
    """Return Σ_p w_p ℓ_p."""
    return (values * positives.weights.to(values.dtype)).sum()
