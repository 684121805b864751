"""The best items of users, by whichever way is fastest for the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.kernels import top_k as top_products
from taylorank.ranking.cold import Best, BestOf, rankable, with_popular_items
from taylorank.ranking.mask import hidden_rows, mask_seen
from taylorank.ranking.scorer import Scorer
from taylorank.ranking.top_k import top_k


def best_items(
    model: Scorer, masks: Sequence[Interactions], *, allowed: NDArray[np.bool_] | None = None
) -> tuple[BestOf, int]:
    """Return a function from (users, k) to the columns and scores of their best items, and users per call.

    Items in `masks` and items not `allowed` are left out, and so are those that the model cannot rank because nobody
    met them in training; short lists are padded with -1 and NaN. Users of whom the model knows nothing get the popular
    items (`ranking.cold`). A model that has `export_factors` is ranked by inner products without ever holding a row
    of scores.
    """
    allowed = rankable(model, allowed)
    if hasattr(model, "export_factors") and getattr(model, "ranks_by_products", True):
        best, size = _by_product(model, masks, allowed, *model.export_factors()), 8192
    else:
        best, size = _by_scores(model, masks, allowed), max(1, (1 << 22) // max(len(model.items), 1))
    return with_popular_items(model, best, masks, allowed), size


def _by_product(
    model: Scorer,
    masks: Sequence[Interactions],
    allowed: NDArray[np.bool_] | None,
    of_users: NDArray[Any],
    of_items: NDArray[Any],
) -> BestOf:
    of_items = of_items.astype(np.float32, copy=False)

    def best(users: NDArray[np.int64], k: int) -> Best:
        hidden = hidden_rows(model, masks, users=users)
        chosen = of_users[users].astype(np.float32, copy=False)
        return top_products(chosen, of_items, k=min(k, len(of_items)), seen=hidden, allowed=allowed)

    return best


def _by_scores(model: Scorer, masks: Sequence[Interactions], allowed: NDArray[np.bool_] | None) -> BestOf:
    def best(users: NDArray[np.int64], k: int) -> Best:
        scores = mask_seen(model, users, masks)
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        columns = top_k(scores, k)
        found = np.take_along_axis(scores, columns, axis=1)
        return columns, np.where(columns >= 0, found, np.float32(np.nan))

    return best
