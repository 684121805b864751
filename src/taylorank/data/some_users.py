"""Some users of the data, by their row numbers: what indexing a matrix by rows does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR, freeze
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError


def users_at(data: Interactions, rows: Any) -> Interactions:
    """Return the users at `rows` (a number, a slice, numbers or a mask), in the order of their ids, over all items."""
    chosen = _positions(rows, data.n_users)
    keep = np.zeros(data.n_users, dtype=bool)
    keep[chosen] = True
    part = data.select(keep[data.by_user.row_of_entry()], "")
    lengths = np.diff(part.by_user.indptr)[chosen]
    indptr = freeze(np.concatenate(([0], np.cumsum(lengths))))
    by_user = CSR(indptr, part.by_user.indices, part.by_user.weights, data.n_items)
    small = replace(part, by_user=by_user, users=Ids(data.user_ids[chosen]), steps=data.steps, truth=None)
    return small.with_step(f"{len(chosen):,} of {data.n_users:,} users")


def _positions(rows: Any, count: int) -> NDArray[np.int64]:
    """Return row numbers, ascending; refuse what indexes no rows, and a row that is asked for twice."""
    if isinstance(rows, tuple):  # data[rows, ...], as scikit-learn writes
        rows = rows[0] if len(rows) == 2 and (rows[1] is Ellipsis or rows[1] == slice(None)) else "more than rows"
    every = np.arange(count)
    try:
        found = np.atleast_1d(every[rows if isinstance(rows, slice) else np.asarray(rows)])
    except IndexError as error:
        if isinstance(rows, int | np.integer) or getattr(np.asarray(rows), "dtype", np.dtype("O")).kind in "iub":
            raise IndexError(f"there are {count:,} users: {error}") from None
        raise DataError("data are indexed by rows: users", "write data[:100], data[[3, 5]] or data[mask]") from None
    ordered = np.unique(found)
    if len(ordered) != len(found):
        raise DataError("a user is asked for twice", "give each row once")
    return ordered
