"""The best items of users, by whichever way is fastest for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.data.csr import sort_pairs
from taylorank.kernels import top_k as top_products
from taylorank.ranking.mask import hidden_entries, mask_seen
from taylorank.ranking.scorer import Scorer
from taylorank.ranking.top_k import top_k

Best = tuple[NDArray[np.int64], NDArray[np.float32]]
BestOf = Callable[[NDArray[np.int64], int], Best]


def best_items(
    model: Scorer, masks: Sequence[Interactions], *, allowed: NDArray[np.bool_] | None = None
) -> tuple[BestOf, int]:
    """Return a function from (users, k) to the columns and scores of their best items, and users per call.

    Items in `masks` and items not `allowed` are left out; short lists are padded with -1 and NaN. A model that has
    `export_factors` is ranked by inner products without ever holding a row of scores.
    """
    if hasattr(model, "export_factors") and getattr(model, "ranks_by_products", True):
        return _by_product(model, masks, allowed, *model.export_factors()), 8192
    return _by_scores(model, masks, allowed), max(1, (1 << 22) // max(len(model.items), 1))


def _by_product(
    model: Scorer,
    masks: Sequence[Interactions],
    allowed: NDArray[np.bool_] | None,
    of_users: NDArray[Any],
    of_items: NDArray[Any],
) -> BestOf:
    of_items = of_items.astype(np.float32, copy=False)

    def best(users: NDArray[np.int64], k: int) -> Best:
        hidden = _hidden_rows(model, users, masks)
        chosen = of_users[users].astype(np.float32, copy=False)
        return top_products(chosen, of_items, k=min(k, len(of_items)), seen=hidden, allowed=allowed)

    return best


def _hidden_rows(model: Scorer, users: NDArray[np.int64], masks: Sequence[Interactions]) -> CSR | None:
    """The masked items of a block of users as rows, ascending and unique."""
    if not masks:
        return None
    entries = [hidden_entries(model, users, mask) for mask in masks]
    place = np.concatenate([p for p, _ in entries]).astype(np.int32)
    columns = np.concatenate([c for _, c in entries]).astype(np.int32)
    indptr, ordered, _ = sort_pairs(place, columns, (len(users), len(model.items)), want_order=False)
    rows = CSR(indptr, ordered, None, len(model.items))
    if len(masks) == 1:
        return rows
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]) | (np.diff(rows.row_of_entry()) != 0)
    lengths = np.bincount(rows.row_of_entry()[first], minlength=len(users))
    return CSR(np.concatenate(([0], np.cumsum(lengths))), ordered[first], None, len(model.items))


def _by_scores(model: Scorer, masks: Sequence[Interactions], allowed: NDArray[np.bool_] | None) -> BestOf:
    def best(users: NDArray[np.int64], k: int) -> Best:
        scores = mask_seen(model, users, masks)
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        columns = top_k(scores, k)
        found = np.take_along_axis(scores, columns, axis=1)
        return columns, np.where(columns >= 0, found, np.float32(np.nan))

    return best
