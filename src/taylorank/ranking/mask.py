"""What is hidden from each user, in the positions of a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError
from taylorank.ranking.scorer import Scorer


def seen_parts(model: Scorer, seen: Interactions | Sequence[Interactions] | None) -> list[Interactions]:
    """Return what to hide: the training data by default, one part, or several."""
    if seen is None:
        return [model.seen]
    return [seen] if isinstance(seen, Interactions) else list(seen)


class PartRows:
    """The rows of some data for users of a model, over the model's items; items it does not know are left out.

    Where the data has the ids of the model, rows are slices of it. Else positions are looked up once, here: ids
    ascend on both sides, so a row stays in order when its columns are renamed.
    """

    def __init__(self, model: Scorer, part: Interactions) -> None:
        self.rows = part.by_user
        self.n_items = len(model.items)
        same_users, same_items = part.users == model.users, part.items == model.items
        self.row_of_user = None if same_users else part.users.positions(model.users.values)
        self.column_of_item = None if same_items else model.items.positions(part.items.values).astype(np.int32)

    def of(self, users: NDArray[np.int64]) -> CSR:
        """Return one row per user, each ascending; users whom the data lacks have an empty one."""
        rows = take_rows(self.rows, users if self.row_of_user is None else self.row_of_user[users])
        if self.column_of_item is None:
            return rows
        columns = self.column_of_item[rows.indices]
        return select_entries(CSR(rows.indptr, columns, rows.weights, self.n_items), columns >= 0)


class Hidden:
    """The items that are left out of the ranking of each user: those in any of `masks`."""

    def __init__(self, model: Scorer, masks: Sequence[Interactions]) -> None:
        for mask in masks:
            _refuse_other_ids(model, mask)
        self.parts = [PartRows(model, mask) for mask in masks]

    def of(self, users: NDArray[np.int64]) -> CSR | None:
        """Return one row per user, ascending and unique; None if there are no masks."""
        if not self.parts:
            return None
        return reduce(_union, (part.of(users) for part in self.parts))


def mask_seen(model: Scorer, users: NDArray[np.int64], hidden: Hidden) -> NDArray[np.float32]:
    """Return the model's scores of the block, (B, N), with −inf where an item is hidden."""
    scores = dense_block(model, users, model.scores(users))
    hide(scores, hidden.of(users))
    return scores


def dense_block(model: Scorer, users: NDArray[np.int64], given: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a copy of what a model gives for a block of users; raise unless it is (B, N) numbers."""
    block = np.array(given, dtype=np.float32)
    if block.shape != (len(users), len(model.items)):
        raise DataError(
            f"{type(model).__name__} gives an array of shape {block.shape} for {len(users)} users",
            f"return ({len(users)}, {len(model.items)}): one row per user, one column per item",
        )
    with np.errstate(over="ignore", invalid="ignore"):  # a sum is quicker than a test of each value; ∞ − ∞ is tested
        broken = np.isnan(block.sum(axis=1))
    if broken.any():
        rows = np.flatnonzero(broken)
        rows = rows[np.isnan(block[rows]).any(axis=1)]
        if len(rows):
            raise not_a_number(model, int(users[rows[0]]))
    return block


def not_a_number(model: Scorer, user: int) -> DataError:
    """Return the error for a user whose scores cannot be ranked."""
    who = model.users.take([user]).tolist()[0]
    return DataError(
        f"{type(model).__name__} gives user {who!r} a score that is not a number",
        "fit it again with more regularization, or look where its numbers come from",
    )


def hide(scores: NDArray[Any], rows: CSR | None, *, value: float = -np.inf) -> None:
    """Write `value` over the scores of the entries of `rows`."""
    if rows is not None:
        scores[rows.row_of_entry(), rows.indices] = value


def take_rows(data: CSR, rows: NDArray[np.int64]) -> CSR:
    """Return these rows of `data` in this order, as views where they follow each other; row -1 is empty."""
    if len(rows) and rows[0] >= 0 and rows[-1] - rows[0] == len(rows) - 1 and np.all(np.diff(rows) == 1):
        indptr = data.indptr[rows[0] : rows[-1] + 2]
        part = slice(indptr[0], indptr[-1])
        return CSR(indptr - indptr[0], data.indices[part], _weights(data, part), data.n_columns)
    known = np.maximum(rows, 0)
    starts = data.indptr[known]
    lengths = np.where(rows >= 0, data.indptr[known + 1] - starts, 0)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    return CSR(indptr, data.indices[entries], _weights(data, entries), data.n_columns)


def select_entries(rows: CSR, keep: NDArray[np.bool_]) -> CSR:
    """Return the entries where `keep` is true, in the same rows."""
    if keep.all():
        return rows
    lengths = np.bincount(rows.row_of_entry()[keep], minlength=rows.n_rows)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return CSR(indptr, rows.indices[keep], _weights(rows, keep), rows.n_columns)


def _weights(rows: CSR, part: slice | NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.float32] | None:
    return None if rows.weights is None else rows.weights[part]


def _union(a: CSR, b: CSR) -> CSR:
    """Merge rows in linear time (SciPy's sum of two ordered matrices); what is in both is there once."""
    if not a.nnz or not b.nnz:
        return a if a.nnz else b
    first, second = (_as_pattern(rows) for rows in (a, b))
    total = first + second
    return CSR(total.indptr.astype(np.int64), total.indices.astype(np.int32, copy=False), None, a.n_columns)


def _as_pattern(rows: CSR) -> sparse.csr_array:
    ones = np.ones(rows.nnz, dtype=bool)
    matrix = sparse.csr_array((ones, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))
    matrix.has_canonical_format = True
    return matrix


def _refuse_other_ids(model: Scorer, mask: Interactions) -> None:
    """A mask whose ids are of another type would match nothing, and so hide nothing."""
    for side, own, other in (("user", model.users, mask.users), ("item", model.items, mask.items)):
        if own.is_text != other.is_text and len(own) and len(other):
            kinds = ["text" if ids.is_text else "integers" for ids in (own, other)]
            raise DataError(
                f"the model's {side} ids are {kinds[0]}, those of `seen` {kinds[1]}", "read both in the same way"
            )
