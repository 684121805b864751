"""Lists of recommendations as a table: one row for each user and rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.frames import frame_of

Lists = tuple[NDArray[Any], NDArray[np.float32]]


def list_columns(keys: Sequence[Any] | NDArray[Any], lists: Lists, *, key: str = "user") -> dict[str, NDArray[Any]]:
    """Return the columns `key`, rank, item and score, without the padding of short lists.

    >>> lists = np.array([[7, 8], [9, -1]]), np.array([[0.5, 0.25], [0.75, np.nan]], dtype=np.float32)
    >>> {name: column.tolist() for name, column in list_columns([1, 2], lists).items()}
    {'user': [1, 1, 2], 'rank': [1, 2, 1], 'item': [7, 8, 9], 'score': [0.5, 0.25, 0.75]}
    """
    ids, scores = lists
    kept = ~np.isnan(scores)
    given = keys if isinstance(keys, np.ndarray) else np.array(list(keys), dtype=object)
    if given.dtype == object and all(isinstance(one, int | np.integer) for one in given.tolist()):
        given = given.astype(np.int64)
    return {
        key: np.repeat(given, kept.sum(axis=1)),
        "rank": np.broadcast_to(np.arange(1, ids.shape[1] + 1, dtype=np.int32), ids.shape)[kept],
        "item": ids[kept],
        "score": scores[kept],
    }


def list_table(users: Sequence[Any] | NDArray[Any], lists: Lists, library: Any) -> Any:
    """Return user, rank, item and score as a table of `library` (True: the one in use)."""
    return frame_of(list_columns(users, lists), library)


def neighbour_table(ids: Sequence[Any] | NDArray[Any], lists: Lists, library: Any, *, key: str = "item") -> Any:
    """Return `key`, rank, similar and similarity as a table of `library` (True: the one in use)."""
    columns = list_columns(ids, lists, key=f"{key} asked for")
    names = (key, "rank", "similar", "similarity")
    return frame_of(dict(zip(names, columns.values(), strict=True)), library)
