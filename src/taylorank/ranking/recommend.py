"""Recommendations with original ids, for any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.ranking.best import best_items
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
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return ids and scores of the n best items of each user, (len(users), n); see the models' `recommend`."""
    if n < 1:
        raise ParameterError(f"n={n} is not a length", "ask for at least one item")
    if isinstance(users, str) or not hasattr(users, "__len__"):
        raise ParameterError(f"users={users!r} is not a list", "write recommend([user])")
    rows = model.users.require(users, "user")
    allowed = _allowed(model, items, exclude)
    masks = seen_parts(model, seen)
    ids = np.full((len(rows), n), "" if model.items.is_text else -1, dtype=model.items.values.dtype)
    best = np.full((len(rows), n), np.nan, dtype=np.float32)
    best_of, size = best_items(model, masks, allowed=allowed)
    for start in range(0, len(rows), size):
        columns, found = best_of(rows[start : start + size], n)
        place = slice(start, start + len(columns)), slice(0, columns.shape[1])
        ids[place] = model.items.take(columns)
        best[place] = found
    return ids, best


def _allowed(model: Scorer, items: Sequence[Any] | None, exclude: Sequence[Any] | None) -> NDArray[np.bool_]:
    allowed = np.full(len(model.items), items is None)
    if items is not None:
        allowed[model.items.require(items, "item")] = True
    if exclude is not None:
        forbidden = model.items.positions(exclude)
        allowed[forbidden[forbidden >= 0]] = False
    return allowed
