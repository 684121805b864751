"""SML as a criterion: it owns the margins of users and items, and ranks by distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from taylorank.checks import check_number
from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives, pick
from taylorank.losses.criterion import Criterion, ItemVectors, required, weighted_sum
from taylorank.losses.metric import sml, squared_distance

LEAST_MARGIN = 0.01


class MetricCriterion(Criterion):
    """Margins start at half of `limit` and stay in (0, limit]."""

    kind = "sampled"
    needs_users = True
    scoring = "distance"
    constrain = "unit-ball"

    def __init__(self, *, n_users: int, n_items: int, limit: float, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.limit, self.options = check_number(limit, "limit", least=LEAST_MARGIN), dict(options)
        self.user_margin = nn.Parameter(torch.full((n_users,), self.limit / 2))
        self.item_margin = nn.Parameter(torch.full((n_items,), self.limit / 2))

    def forward(
        self,
        queries: Tensor,
        items: ItemVectors,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
    ) -> Tensor:
        """Return the sum; `users` (B,) says whose margins count."""
        if users is None:
            raise ParameterError("sml learns a margin per user", "pass users=, the user of each query")
        drawn = required(negatives)
        query, item, other = pick(queries, positives.rows), items(positives.columns), items(drawn.columns)
        values = sml(
            squared_distance(query, item[:, None])[:, 0],
            squared_distance(query, other),
            item_negative=squared_distance(item, other),
            user_margin=self.user_margin[users[positives.rows]],
            item_margin=self.item_margin[positives.columns],
            mask=drawn.mask,
            **self.options,
        )
        return weighted_sum(values, positives)

    def export(self, queries: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return [2u, 1] and [v, −|v|²]: their product is |u|² − d(u, v)."""
        return _of_queries(queries), _of_items(items)

    def scored(self, queries: Tensor, items: ItemVectors) -> tuple[Tensor, ItemVectors]:
        """Return the same, of items as they are asked for."""
        return _of_queries(queries), lambda columns: _of_items(items(columns))

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def after_step(self) -> None:
        """Clamp the margins."""
        for margin in (self.user_margin, self.item_margin):
            margin.clamp_(LEAST_MARGIN, self.limit)


def _of_queries(vectors: Tensor) -> Tensor:
    return torch.cat((2 * vectors, torch.ones_like(vectors[..., :1])), -1)


def _of_items(vectors: Tensor) -> Tensor:
    return torch.cat((vectors, -vectors.square().sum(-1, keepdim=True)), -1)
