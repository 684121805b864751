"""Scores of a block of users without what they have seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import DataError
from taylorank.ranking.scorer import Scorer


def seen_parts(model: Scorer, seen: Interactions | Sequence[Interactions] | None) -> list[Interactions]:
    """Return what to hide: the training data by default, one part, or several."""
    if seen is None:
        return [model.seen]
    return [seen] if isinstance(seen, Interactions) else list(seen)


def mask_seen(model: Scorer, users: NDArray[np.int64], masks: Sequence[Interactions]) -> NDArray[np.float32]:
    """Return the model's scores of the block, (B, N), with −inf where an item is in one of the masks."""
    scores = np.array(model.scores(users), dtype=np.float32)
    if np.isnan(scores).any():
        raise DataError("the model returns NaN scores", "fit it again with more regularization")
    for mask in masks:
        place, columns = hidden_entries(model, users, mask)
        scores[place, columns] = -np.inf
    return scores


def hidden_entries(
    model: Scorer, users: NDArray[np.int64], mask: Interactions
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (place in `users`, item position in the model) of every masked pair."""
    _refuse_other_ids(model, mask)
    rows = users if mask.users == model.users else mask.users.positions(model.users.take(users))
    place, columns = entries_of(mask, rows)
    if mask.items != model.items:
        columns = model.items.positions(mask.items.take(columns))
    return place[columns >= 0], columns[columns >= 0]


def _refuse_other_ids(model: Scorer, mask: Interactions) -> None:
    """A mask whose ids are of another type would match nothing, and so hide nothing."""
    for side, own, other in (("user", model.users, mask.users), ("item", model.items, mask.items)):
        if own.is_text != other.is_text and len(own) and len(other):
            kinds = ["text" if ids.is_text else "integers" for ids in (own, other)]
            raise DataError(
                f"the model's {side} ids are {kinds[0]}, those of `seen` {kinds[1]}", "read both in the same way"
            )


def entries_of(data: Interactions, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (place in `rows`, item position) of every interaction of those rows; row -1 has none."""
    known = np.maximum(rows, 0)
    starts = data.by_user.indptr[known]
    lengths = np.where(rows >= 0, data.by_user.indptr[known + 1] - starts, 0)
    place = np.repeat(np.arange(len(rows)), lengths)
    entry = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(place))
    return place, data.by_user.indices[entry].astype(np.int64)
