"""What is hidden from each user, in the positions of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels.arrays import device_rows
from taylorank.ranking.ranker import Ranker
from taylorank.ranking.rows import select_entries, take_rows, union

MOST_KEPT = 1 << 24  # entries that are remembered


def seen_parts(ranker: Ranker, seen: Interactions | Sequence[Interactions] | None) -> list[Interactions]:
    """Return what to hide: the training data by default, one part, or several."""
    if seen is None:
        return [ranker.seen]
    parts: list[Any] = list(seen) if isinstance(seen, list | tuple) else [seen]
    return [interactions_of(ranker, part, "seen") for part in parts]


def interactions_of(ranker: Ranker, data: Any, name: str) -> Interactions:
    """Return Interactions as they are, and a SciPy matrix with the model's ids of its rows and columns."""
    if isinstance(data, Interactions):
        return data
    if not sparse.issparse(data):
        raise ParameterError(
            f"{name} holds a {type(data).__name__}", "give Interactions (tr.read_interactions makes them), or a SciPy "
            "sparse matrix (users × items)",
        )  # fmt: skip
    if data.shape != (len(ranker.users), len(ranker.items)):
        raise DataError(
            f"{name} is a {data.shape} matrix, the model has {len(ranker.users)} users and {len(ranker.items)} items",
            "give a matrix of the same shape as in fit, or Interactions",
        )
    return Interactions.from_matrix(data, users=ranker.users, items=ranker.items)


class PartRows:
    """The rows of some data for users of a model, over the model's items; items it does not know are left out.

    Where the data has the ids of the model, rows are slices of it. Else positions are looked up once, here: ids
    ascend on both sides, so a row stays in order when its columns are translated.
    """

    def __init__(self, ranker: Ranker, part: Interactions) -> None:
        self.rows, self.users = part.by_user, part.users
        self.n_items = len(ranker.items)
        same_users, same_items = part.users == ranker.users, part.items == ranker.items
        self.row_of_user = None if same_users else part.users.positions(ranker.users.values)
        self.column_of_item = None if same_items else ranker.items.positions(part.items.values).astype(np.int32)

    def of(self, users: NDArray[np.int64]) -> CSR:
        """Return one row per user, each ascending; users who are not in the data have an empty one."""
        return self._translated(take_rows(self.rows, users if self.row_of_user is None else self.row_of_user[users]))

    def of_ids(self, ids: NDArray[Any]) -> CSR:
        """Return one row per id, which the model need not know."""
        return self._translated(take_rows(self.rows, self.users.positions(ids)))

    def _translated(self, rows: CSR) -> CSR:
        if self.column_of_item is None:
            return rows
        columns = self.column_of_item[rows.indices]
        return select_entries(CSR(rows.indptr, columns, rows.weights, self.n_items), columns >= 0)


class Hidden:
    """The items that are left out of the ranking of each user: those in any of `masks`."""

    def __init__(self, ranker: Ranker, masks: Sequence[Interactions]) -> None:
        for mask in masks:
            refuse_other_ids(ranker, mask, "`seen`")
        self.parts = [PartRows(ranker, mask) for mask in masks]
        self._kept: dict[int, tuple[NDArray[np.int64], dict[str, Any]]] = {}  # by identity of the array of users

    def of(self, users: NDArray[np.int64]) -> CSR | None:
        """Return one row per user, ascending and unique; None if there are no masks."""
        rows: CSR | None = self._once(users, "host", lambda: self._rows(users))
        return rows

    def on(self, device: Any, users: NDArray[np.int64]) -> Any:
        """Return the same rows on a device of torch."""
        rows = self.of(users)
        return None if rows is None else self._once(users, str(device), lambda: device_rows(rows, device))

    def keep(self, users: NDArray[np.int64]) -> None:
        """Remember the rows of this array of users from when they are first asked for, unless they are too large."""
        if sum(int(part.rows.nnz) for part in self.parts) <= MOST_KEPT:
            self._kept.setdefault(id(users), (users, {}))

    def _once(self, users: NDArray[np.int64], place: str, make: Callable[[], Any]) -> Any:
        kept = self._kept.get(id(users))
        if kept is None:
            return make()
        if place not in kept[1]:
            kept[1][place] = make()
        return kept[1][place]

    def _rows(self, users: NDArray[np.int64]) -> CSR | None:
        if not self.parts:
            return None
        return reduce(union, (part.of(users) for part in self.parts))

    def of_ids(self, ids: NDArray[Any]) -> CSR | None:
        """Return one row per id, which the model need not know; None if there are no masks."""
        if not self.parts:
            return None
        return reduce(union, (part.of_ids(ids) for part in self.parts))


def dense_block(ranker: Ranker, users: NDArray[np.int64], given: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a copy of a model's scores for a block of users; raise unless they are (B, N) numbers."""
    block = np.array(given, dtype=np.float32)
    if block.shape != (len(users), len(ranker.items)):
        raise DataError(
            f"{ranker.name} gives an array of shape {block.shape} for {len(users)} users",
            f"return ({len(users)}, {len(ranker.items)}): one row per user, one column per item",
        )
    with np.errstate(over="ignore", invalid="ignore"):  # a sum is quicker than a test of each value; ∞ − ∞ is tested
        broken = np.isnan(block.sum(axis=1))
    if broken.any():
        rows = np.flatnonzero(broken)
        rows = rows[np.isnan(block[rows]).any(axis=1)]
        if len(rows):
            raise not_a_number(ranker, int(users[rows[0]]))
    return block


def not_a_number(ranker: Ranker, user: int) -> DataError:
    """Return the error for a user whose scores cannot be ranked."""
    who = ranker.users.take([user]).tolist()[0]
    return DataError(
        f"{ranker.name} gives user {who!r} a score that is not a number",
        "fit it again with more regularization, or check its factors",
    )


def hide(scores: NDArray[Any], rows: CSR | None, *, value: float = -np.inf) -> None:
    """Write `value` over the scores of the entries of `rows`."""
    if rows is not None:
        scores[rows.row_of_entry(), rows.indices] = value


def refuse_other_ids(ranker: Ranker, data: Interactions, what: str) -> None:
    """Raise if the ids are of another type: none would match, and a mask would hide nothing."""
    for side, own, other in (("user", ranker.users, data.users), ("item", ranker.items, data.items)):
        if own.is_text != other.is_text and len(own) and len(other):
            kinds = ["text" if ids.is_text else "integers" for ids in (own, other)]
            raise DataError(
                f"the model's {side} ids are {kinds[0]}, those of {what} {kinds[1]}", "read both in the same way"
            )
