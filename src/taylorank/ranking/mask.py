"""Scores of a block of users without what they have seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.data.csr import sort_pairs
from taylorank.errors import DataError, ParameterError
from taylorank.ranking.scorer import Scorer


def seen_parts(model: Scorer, seen: Interactions | Sequence[Interactions] | None) -> list[Interactions]:
    """Return what to hide: the training data by default, one part, or several."""
    if seen is None:
        return [model.seen]
    parts: list[Any] = list(seen) if isinstance(seen, list | tuple) else [seen]
    for part in parts:
        if not isinstance(part, Interactions):
            raise ParameterError(f"seen holds a {type(part).__name__}", "give Interactions, or a list of them")
    return parts


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
    return _entries(model, rows, mask)


def hidden_rows(
    model: Scorer,
    masks: Sequence[Interactions],
    *,
    users: NDArray[np.int64] | None = None,
    ids: NDArray[Any] | None = None,
) -> CSR | None:
    """Return the masked items of `users` (positions) or of `ids` as rows, ascending and unique; None without masks.

    By id, users may be unknown to the model and yet be in a mask.
    """
    if not masks:
        return None
    if users is not None:
        count, entries = len(users), [hidden_entries(model, users, mask) for mask in masks]
    else:
        assert ids is not None
        count = len(ids)
        for mask in masks:
            _refuse_other_ids(model, mask)
        entries = [_entries(model, mask.users.positions(ids), mask) for mask in masks]
    place = np.concatenate([p for p, _ in entries]).astype(np.int32)
    columns = np.concatenate([c for _, c in entries]).astype(np.int32)
    indptr, ordered, _ = sort_pairs(place, columns, (count, len(model.items)), want_order=False)
    rows = CSR(indptr, ordered, None, len(model.items))
    if len(masks) == 1:
        return rows
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]) | (np.diff(rows.row_of_entry()) != 0)
    lengths = np.bincount(rows.row_of_entry()[first], minlength=count)
    return CSR(np.concatenate(([0], np.cumsum(lengths))), ordered[first], None, len(model.items))


def _entries(model: Scorer, rows: NDArray[np.int64], mask: Interactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
