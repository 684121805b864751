"""RG² and RG× with moments of the items that are kept from step to step, for costly encoders.

The loss needs m = Σ_y q_y v_y and G = Σ_y q_y v_yv_yᵀ of all N items. Exact moments encode every item at every step.
Kept ones, m̂ and Ĝ, are constants of a step: u gets its gradient, the items theirs as positives only. What they get as
the background of all queries is restored by n items y ~ q, encoded for this purpose:

    + mean over the draws of  v_y · h + ½ v_yᵀ H v_y  less its own value,    H = Σ_x W_x u_xu_xᵀ,  h = Σ_x W_x u_x
                                                                            (RG×: h = Σ_x W_x u_x − H m̂)

whose expected gradient is that of the exact loss through m and G, when m̂ and Ĝ are up to date (W_x is the total
weight of a query's positives). With `query_decay` > 0 h and H are means over the last 1/(1 − query_decay) batches:
less noise, but the items then follow the queries of past steps, which can make training oscillate.

m̂ and Ĝ are computed anew from all items every `refresh` steps, or, with refresh="average", moved at each step towards
those of the draws, m̂ ← decay · m̂ + (1 − decay) · mean of the draws: only the first step looks at all items (Krichene
et al., "Efficient training on very large corpora via Gramian estimation", ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_number, check_whole
from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives, check_order, widen
from taylorank.losses.criterion import ProductCriterion

BLOCK = 1 << 16  # items encoded at a time where all are


class RefreshCriterion(ProductCriterion):
    """RG² or RG× with kept moments; `items` is a function of item numbers, as for losses with draws."""

    kind = "refresh"
    steps: Tensor
    mean: Tensor
    gram: Tensor
    query_mean: Tensor
    query_gram: Tensor
    cumulative: Tensor

    def __init__(
        self,
        background: Callable[..., Tensor],
        proposal: Tensor,
        ranking: str,
        *,
        factors: int,
        refresh: int | str,
        draws: int,
        decay: float,
        query_decay: float,
    ) -> None:
        super().__init__(background, proposal, ranking)
        self.refresh, self.draws = check_refresh(refresh), check_whole(draws, "draws")
        self.decay, self.query_decay = _check_decay(decay, "decay"), _check_decay(query_decay, "query_decay")
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        for name, shape in (("mean", (factors,)), ("gram", (factors, factors))):
            self.register_buffer(name, torch.zeros(shape))
            self.register_buffer(f"query_{name}", torch.zeros(shape))
        self.register_buffer("cumulative", proposal.double().cumsum(0), persistent=False)

    def forward(
        self,
        queries: Tensor,
        items: Any,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
    ) -> Tensor:
        """Return the sum over the batch; its value is that of the kept moments."""
        check_order(positives.rows)
        U = widen(queries)
        weights = positives.weights.to(U.dtype)
        totals = torch.zeros_like(U[:, 0]).index_add(0, positives.rows, weights)  # W_x, (B,)
        drawn = self.draw()
        columns, place = torch.unique(torch.cat((positives.columns, drawn)), return_inverse=True)
        vectors = widen(items(columns))
        background = vectors[place[len(positives.columns) :]]  # (n, K)
        self._update(items, background.detach())
        offsets = torch.searchsorted(positives.rows, torch.arange(len(U), device=U.device))
        wanted = functional.embedding_bag(
            place[: len(positives.columns)], vectors, offsets, mode="sum", per_sample_weights=weights
        )  # (B, K)
        loss = totals @ self._background(U) - (U * wanted).sum()
        return loss + self._correction(U.detach(), totals, background)

    def draw(self) -> Tensor:
        """n item numbers from q, (n,), from torch's global seed."""
        where = torch.rand(self.draws, dtype=torch.float64, device=self.cumulative.device) * self.cumulative[-1]
        return torch.searchsorted(self.cumulative, where, right=True).clamp_(max=len(self.cumulative) - 1)

    def _background(self, U: Tensor) -> Tensor:
        """u·m̂ + ½ uᵀĜ u (RG×: − ½ (u·m̂)²), (B,)."""
        means = U @ self.mean.to(U.dtype)
        squares = (U @ self.gram.to(U.dtype) * U).sum(1)
        return means + 0.5 * (squares - means.square() if self.has_interaction else squares)

    def _correction(self, U: Tensor, totals: Tensor, background: Tensor) -> Tensor:
        """A term of value 0 whose gradient is what the items get through m and G."""
        h, H = self._query_moments(U, totals)
        if self.has_interaction:
            h = h - H @ self.mean.to(H.dtype)
        term = (background @ h + 0.5 * (background @ H * background).sum(1)).mean()
        return term - term.detach()

    @torch.no_grad()
    def _query_moments(self, U: Tensor, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Return h and H of this batch, or their means over the last batches per unit of weight, times its weight."""
        h, H = totals @ U, (totals[:, None] * U).T @ U
        if not self.query_decay:
            return h, H
        weight = totals.sum()
        share = (1 - self.query_decay) / (1 - self.query_decay ** int(self.steps))  # a mean from the first step on
        if not weight:  # a batch without weight changes nothing
            return h, H
        self.query_mean.lerp_((h / weight).to(self.query_mean.dtype), share)
        self.query_gram.lerp_((H / weight).to(self.query_gram.dtype), share)
        return weight * self.query_mean.to(h.dtype), weight * self.query_gram.to(H.dtype)

    @torch.no_grad()
    def _update(self, items: Any, drawn: Tensor) -> None:
        """Bring m̂ and Ĝ nearer to the current moments; the first step reads all items."""
        if int(self.steps) == 0 or (self.refresh != "average" and int(self.steps) % int(self.refresh) == 0):
            mean, gram = torch.zeros_like(self.mean), torch.zeros_like(self.gram)
            for vectors, q in self._all_items(items):
                weighted = q.to(vectors.dtype)[:, None] * vectors
                mean += weighted.sum(0)
                gram += weighted.T @ vectors
            self.mean.copy_(mean)
            self.gram.copy_(gram)
        elif self.refresh == "average":
            share = 1 - self.decay
            self.mean.lerp_(drawn.mean(0).to(self.mean.dtype), share)
            self.gram.lerp_((drawn.T @ drawn / len(drawn)).to(self.gram.dtype), share)
        self.steps += 1

    def _all_items(self, items: Any) -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, len(self.proposal), BLOCK):
            q = self.proposal[start : start + BLOCK]
            yield widen(items(torch.arange(start, start + len(q), device=q.device))), q


def check_refresh(refresh: int | str) -> int | str:
    """Return how often the moments of the items are computed anew, if that is a number of steps or "average"."""
    if refresh == "average":
        return "average"
    return check_whole(refresh, "refresh", remedy='give the steps between, such as 10, or "average"')


def _check_decay(value: float, name: str) -> float:
    if not 0 <= check_number(value, name) < 1:
        raise ParameterError(f"{name}={value} is not in [0, 1)", "give 0 for the latest alone, or such as 0.9")
    return float(value)
