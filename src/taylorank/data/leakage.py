"""Does the test data show in the training data?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np

from taylorank.data.interactions import Interactions
from taylorank.data.share import share_ids
from taylorank.data.split import NAMES
from taylorank.errors import LeakageWarning


def check_leakage(*parts: Interactions, order: Literal["any", "user", "global"] = "any") -> list[str]:
    """Warn of leaks between parts given in the order (train[, valid], test); return them in words.

    A leak is a (user, item) pair in two parts. With `order="global"` also an event of a later part that happened
    before the last event of an earlier part (a split by time), with `order="user"` the same within each user
    (leave-one-out).

    >>> train = Interactions.from_arrays([1, 1], [7, 8])
    >>> check_leakage(train, Interactions.from_arrays([2], [7]))
    []
    """
    names = NAMES.get(len(parts)) or tuple(f"part {k + 1}" for k in range(len(parts)))
    found = _repeated_pairs(share_ids(*parts), names)
    if order == "global":
        found += _out_of_time(parts, names)
    if order == "user":
        found += _out_of_time_by_user(share_ids(*parts), names)
    for leak in found:
        warnings.warn(leak, LeakageWarning, stacklevel=2)
    return found


def _repeated_pairs(parts: Sequence[Interactions], names: Sequence[str]) -> list[str]:
    leaks = []
    for (a, first), (b, second) in itertools.combinations(zip(names, parts, strict=True), 2):
        common = _pair_numbers(first)[np.isin(_pair_numbers(first), _pair_numbers(second), assume_unique=True)]
        if len(common):
            user = first.users.take([common[0] // first.n_items]).tolist()[0]
            item = first.items.take([common[0] % first.n_items]).tolist()[0]
            leaks.append(
                f"{len(common):,} (user, item) pairs are in {a} and in {b}, such as ({user!r}, {item!r}); "
                f"remove them from {b}"
            )
    return leaks


def _pair_numbers(part: Interactions) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return part.by_user.row_of_entry().astype(np.int64) * part.n_items + part.by_user.indices


def _out_of_time(parts: Sequence[Interactions], names: Sequence[str]) -> list[str]:
    leaks = []
    for (a, first), (b, second) in itertools.combinations(zip(names, parts, strict=True), 2):
        if first.timestamps is None or second.timestamps is None or not first.nnz or not second.nnz:
            continue
        early = int(np.count_nonzero(second.timestamps < first.timestamps.max()))
        if early:
            leaks.append(f"{early:,} events of {b} happened before the last event of {a}; split with split_time()")
    return leaks


def _out_of_time_by_user(parts: Sequence[Interactions], names: Sequence[str]) -> list[str]:
    leaks = []
    for (a, first), (b, second) in itertools.combinations(zip(names, parts, strict=True), 2):
        if first.timestamps is None or second.timestamps is None:
            continue
        both = np.flatnonzero((first.by_user.row_lengths > 0) & (second.by_user.row_lengths > 0))
        if not len(both):
            continue
        last = np.maximum.reduceat(first.timestamps, first.by_user.indptr[both])
        earliest = np.minimum.reduceat(second.timestamps, second.by_user.indptr[both])
        early = int(np.count_nonzero(earliest < last))
        if early:
            leaks.append(f"{early:,} users have an event of {b} before their last of {a}; split with split_last()")
    return leaks
