"""One id space for parts that were read apart, such as a published train and test file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from taylorank.data.assemble import from_codes
from taylorank.data.csr import CSR, freeze, sort_pairs
from taylorank.data.ids import Ids
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.errors import DataError


def share_ids(*parts: Interactions) -> tuple[Interactions, ...]:
    """Return the same interactions over the union of all users and all items.

    >>> a, b = share_ids(Interactions.from_arrays([1], [7]), Interactions.from_arrays([2], [5]))
    >>> a.item_ids.tolist(), a.matrix.shape == b.matrix.shape
    ([5, 7], True)
    """
    users = reduce(Ids.union, (part.users for part in parts))
    items = reduce(Ids.union, (part.items for part in parts))
    return tuple(_reindexed(part, users, items) for part in parts)


def merge(*parts: Interactions | Iterable[Interactions], duplicates: Duplicates = "last") -> Interactions:
    """Return all interactions in one, over the union of the ids; of repeated pairs the last part's is kept by default.

    The parts are given one by one, or as one list.

    >>> both = merge(Interactions.from_arrays([1, 1], [7, 8]), Interactions.from_arrays([2, 1], [7, 8]))
    >>> both.nnz, both.user_ids.tolist()
    (3, [1, 2])
    """
    shared = share_ids(*_listed(parts))
    timed = all(part.timestamps is not None for part in shared)
    return from_codes(
        (shared[0].users, np.concatenate([part.by_user.row_of_entry() for part in shared])),
        (shared[0].items, np.concatenate([part.by_user.indices for part in shared])),
        None if all(part.is_binary for part in shared) else np.concatenate([part.strengths for part in shared]),
        np.concatenate([part.timestamps for part in shared if part.timestamps is not None]) if timed else None,
        duplicates=duplicates,
        action=f"merged {len(shared)} parts",
    )


def _listed(given: tuple[Interactions | Iterable[Interactions], ...]) -> list[Interactions]:
    """Return the parts of merge(a, b) and of merge([a, b])."""
    first: Any = given[0] if len(given) == 1 else given
    parts = [first] if isinstance(first, Interactions) else list(first) if isinstance(first, Iterable) else [first]
    strange = next((part for part in parts if not isinstance(part, Interactions)), None)
    if strange is not None or not parts:
        cause = f"merge got {type(strange).__name__}" if parts else "there is nothing to merge"
        raise DataError(cause, "give Interactions, as merge(a, b) or merge([a, b])")
    return parts


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
