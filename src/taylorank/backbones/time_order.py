"""The history of each user: items in the order of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.data.shuffle import rank_within_rows, tie_keys
from taylorank.errors import DataError


def sequences(data: Interactions, length: int) -> NDArray[np.int64]:
    """Return the last `length` items of each user, oldest first, (M, length), padded on the left with n_items.

    Items of one moment stand in a random order, the one of `split_last`: an order by number could be learned, and does
    not exist in production.

    >>> data = Interactions.from_arrays(["ann", "ann", "bob"], ["tea", "milk", "tea"], timestamps=[2, 1, 1])
    >>> list(data.item_ids)
    ['milk', 'tea']
    >>> sequences(data, 3)
    array([[2, 0, 1],
           [2, 2, 1]])
    """
    check_whole(length, "length")
    times = times_of(data)
    newest_first = np.lexsort((tie_keys(data.by_user.indices, times), times))[::-1]
    rank = rank_within_rows(data.by_user, newest_first)  # 0 = newest
    kept = np.flatnonzero(rank < length)
    result = np.full((data.n_users, length), data.n_items, dtype=np.int64)
    result[data.by_user.row_of_entry()[kept], length - 1 - rank[kept]] = data.by_user.indices[kept]
    return result


def times_of(data: Interactions) -> NDArray[Any]:
    """Return the timestamps, or say that there are none."""
    if data.timestamps is None:
        raise DataError("sequences need timestamps and the data has none", "read with timestamp=…, or use mf")
    return data.timestamps
