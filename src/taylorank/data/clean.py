"""k-core: the largest part of the data in which every user and item has enough interactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.data.csr import CSR, freeze
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError, ParameterError, shown


def core(
    data: Interactions, k: int | None = None, *, users: int | None = None, items: int | None = None
) -> Interactions:
    """Keep the largest sub-matrix in which each user has ≥ `users` and each item ≥ `items` interactions.

    `k` sets both. The result is unique: the order of removal does not matter. What is removed is removed from the
    id spaces, too, and so are users and items without any interaction.
    """
    least_users, least_items = _thresholds(k, users, items)
    keep_users, keep_items = core_masks(data, least_users, least_items)
    name = f"core({k})" if k is not None else f"core(users={least_users}, items={least_items})"
    kept = restrict(data, keep_users, keep_items)
    if not kept.nnz:
        raise DataError(
            f"no rows left: {name} removed all {data.nnz:,} interactions", "ask for fewer interactions each"
        )
    lost = (data.n_users - kept.n_users, data.n_items - kept.n_items, data.nnz - kept.nnz)
    return kept.with_step(f"{name} removed {lost[0]:,} users, {lost[1]:,} items, {lost[2]:,} interactions")


def _thresholds(k: int | None, users: int | None, items: int | None) -> tuple[int, int]:
    if (k is None) == (users is None and items is None):
        raise ParameterError("core needs k, or users and items", "write core(5) or core(users=5, items=10)")
    pair = (k, k) if k is not None else (users or 0, items or 0)
    for value in pair:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ParameterError(f"core({shown(value)}) is not a count", "give a whole number ≥ 0")
        check_whole(value, "core", least=0)
    return max(int(pair[0] or 0), 1), max(int(pair[1] or 0), 1)


def core_masks(data: Interactions, least_users: int, least_items: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which users and items stay. Each entry is visited at most twice, so the work is linear.

    A round removes the users that fell below the threshold in the round before, subtracts their interactions from
    the counts of the items, and then does the same with the items; only rows of removed users and items are read.
    """
    least = (least_users, least_items)
    degree = [data.by_user.row_lengths, np.bincount(data.by_user.indices, minlength=data.n_items)]
    keep = [degree[s] >= least[s] for s in (0, 1)]
    frontier = [np.flatnonzero(~keep[s]) for s in (0, 1)]
    side = 0
    while len(frontier[0]) or len(frontier[1]):
        if not len(frontier[side]):
            side = 1 - side
        other = 1 - side
        rows = data.by_item if side else data.by_user
        touched, times = np.unique(_neighbours(rows, frontier[side]), return_counts=True)
        degree[other][touched] -= times
        fallen = touched[(degree[other][touched] < least[other]) & keep[other][touched]]
        keep[other][fallen] = False
        frontier[side] = frontier[side][:0]
        frontier[other] = np.concatenate((frontier[other], fallen))
        side = other
    return keep[0], keep[1]


def _neighbours(rows: CSR, chosen: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the columns of the chosen rows, one after the other."""
    starts = rows.indptr[chosen]
    lengths = rows.indptr[chosen + 1] - starts
    total = int(lengths.sum())
    offset = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return rows.indices[offset + np.arange(total)]


def restrict(data: Interactions, keep_users: NDArray[np.bool_], keep_items: NDArray[np.bool_]) -> Interactions:
    """Return the interactions of the kept users with the kept items, over those ids alone."""
    rows = data.by_user
    keep = np.repeat(keep_users, rows.row_lengths) & keep_items[rows.indices]
    kept = data.select(keep, "")
    position = np.cumsum(keep_items, dtype=np.int32) - np.int32(1)
    lengths = kept.by_user.row_lengths[keep_users]
    by_user = CSR(
        freeze(np.concatenate(([0], np.cumsum(lengths)))),
        freeze(position[kept.by_user.indices]),
        kept.by_user.weights,
        int(keep_items.sum()),
    )
    users, items = Ids(data.user_ids[keep_users]), Ids(data.item_ids[keep_items])
    return replace(kept, by_user=by_user, users=users, items=items, steps=data.steps)
