"""Recommendations with original ids, for any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.ranking.mask import blocks, mask_seen, seen_parts
from taylorank.ranking.scorer import Scorer
from taylorank.ranking.top_k import top_k


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
    for start, block in blocks(rows, len(model.items)):
        scores = mask_seen(model, block, masks)
        scores[:, ~allowed] = -np.inf
        columns = top_k(scores, n)
        found = np.take_along_axis(scores, columns, axis=1)
        place = slice(start, start + len(block)), slice(0, columns.shape[1])
        ids[place] = model.items.take(columns)
        best[place] = np.where(columns >= 0, found, np.nan)
    return ids, best


def _allowed(model: Scorer, items: Sequence[Any] | None, exclude: Sequence[Any] | None) -> NDArray[np.bool_]:
    allowed = np.full(len(model.items), items is None)
    if items is not None:
        allowed[model.items.require(items, "item")] = True
    if exclude is not None:
        forbidden = model.items.positions(exclude)
        allowed[forbidden[forbidden >= 0]] = False
    return allowed
