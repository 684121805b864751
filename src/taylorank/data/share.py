"""One id space for parts that were read apart, such as a published train and test file."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from taylorank.data.assemble import from_codes
from taylorank.data.csr import CSR, freeze, sort_pairs
from taylorank.data.ids import Ids
from taylorank.data.interactions import Duplicates, Interactions


def share_ids(*parts: Interactions) -> tuple[Interactions, ...]:
    """Return the same interactions over the union of all users and all items.

    >>> a, b = share_ids(Interactions.from_arrays([1], [7]), Interactions.from_arrays([2], [5]))
    >>> a.item_ids.tolist(), a.matrix.shape == b.matrix.shape
    ([5, 7], True)
    """
    users = reduce(Ids.union, (part.users for part in parts))
    items = reduce(Ids.union, (part.items for part in parts))
    return tuple(_reindexed(part, users, items) for part in parts)


def merge(*parts: Interactions, duplicates: Duplicates = "last") -> Interactions:
    """Return all interactions in one, over the union of the ids; of repeated pairs the last part's is kept by default.

    >>> both = merge(Interactions.from_arrays([1, 1], [7, 8]), Interactions.from_arrays([2, 1], [7, 8]))
    >>> both.nnz, both.user_ids.tolist()
    (3, [1, 2])
    """
    shared = share_ids(*parts)
    timed = all(part.timestamps is not None for part in shared)
    return from_codes(
        (shared[0].users, np.concatenate([part.by_user.row_of_entry() for part in shared])),
        (shared[0].items, np.concatenate([part.by_user.indices for part in shared])),
        None if all(part.is_binary for part in shared) else np.concatenate([part.strengths for part in shared]),
        np.concatenate([part.timestamps for part in shared if part.timestamps is not None]) if timed else None,
        duplicates=duplicates,
        action=f"merged {len(parts)} parts",
    )


def _reindexed(part: Interactions, users: Ids, items: Ids) -> Interactions:
    if part.users == users and part.items == items:
        return replace(part, users=users, items=items)
    old = part.by_user
    row = users.positions(part.user_ids).astype(np.int32)[old.row_of_entry()]
    column = items.positions(part.item_ids).astype(np.int32)[old.indices]
    indptr, indices, order = sort_pairs(row, column, (len(users), len(items)))
    weights = None if old.weights is None else freeze(old.weights[order])
    times = None if part.timestamps is None else freeze(part.timestamps[order])
    rows = CSR(freeze(indptr), freeze(indices), weights, len(items))
    return replace(part, by_user=rows, users=users, items=items, timestamps=times)
