"""Recommendations with original ids, for any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.ranking.best import best_items
from taylorank.ranking.cold import Cold, cold_users, known_rows, popular_items
from taylorank.ranking.mask import seen_parts
from taylorank.ranking.scorer import Scorer


def recommend(
    model: Scorer,
    users: Sequence[Any] | NDArray[Any],
    n: int = 10,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    items: Sequence[Any] | None = None,
    exclude: Sequence[Any] | None = None,
    cold: Cold | None = None,
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return ids and scores of the n best items of each user, (len(users), n); see the models' `recommend`."""
    if n < 1:
        raise ParameterError(f"n={n} is not a length", "ask for at least one item")
    if isinstance(users, str) or not hasattr(users, "__len__"):
        raise ParameterError(f"users={users!r} is not a list", "write recommend([user])")
    rows = known_rows(model, users, cold)
    allowed = _allowed(model, items, exclude)
    masks = seen_parts(model, seen)
    ids = np.full((len(rows), n), "" if model.items.is_text else -1, dtype=model.items.values.dtype)
    best = np.full((len(rows), n), np.nan, dtype=np.float32)
    best_of, size = best_items(model, masks, allowed=allowed)
    known = np.flatnonzero(rows >= 0)
    if cold == "nan":
        known = known[~cold_users(model, rows[known])]
    unknown = np.flatnonzero(rows < 0) if cold == "popularity" else known[:0]
    for start in range(0, len(known), size):
        place = known[start : start + size]
        _put(model, (ids, best), place, best_of(rows[place], n))
    for start in range(0, len(unknown), size):
        place = unknown[start : start + size]
        strangers = np.array([users[i] for i in place], dtype=object)
        _put(model, (ids, best), place, popular_items(model, strangers, n, masks=masks, allowed=allowed))
    return ids, best


def _put(
    model: Scorer,
    lists: tuple[NDArray[Any], NDArray[np.float32]],
    place: NDArray[np.int64],
    found: tuple[NDArray[np.int64], NDArray[np.float32]],
) -> None:
    columns, scores = found
    lists[0][place, : columns.shape[1]] = model.items.take(columns)
    lists[1][place, : columns.shape[1]] = scores


def _allowed(model: Scorer, items: Sequence[Any] | None, exclude: Sequence[Any] | None) -> NDArray[np.bool_]:
    allowed = np.full(len(model.items), items is None)
    if items is not None:
        allowed[model.items.require(items, "item")] = True
    if exclude is not None:
        forbidden = model.items.positions(exclude)
        allowed[forbidden[forbidden >= 0]] = False
    return allowed
