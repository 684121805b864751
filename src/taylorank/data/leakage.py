"""Leakage: test pairs that are in the training data, and test events that happened before training events."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taylorank.data.interactions import Interactions
from taylorank.data.share import share_ids
from taylorank.data.split import NAMES
from taylorank.errors import DataError, LeakageWarning, ParameterError


def check_leakage(*parts: Interactions, order: Literal["any", "user", "global"] | None = None) -> list[str]:
    """Warn of leaks between parts given in the order (train[, valid], test); return them in words.

    A leak is a (user, item) pair in two parts. With `order="global"` also an event of a later part that happened
    before the last event of an earlier part (a split by time), with `order="user"` the same within each user
    (leave-one-out). By default both are looked for if all parts have times; `order="any"` looks at pairs alone, for
    splits that are random on purpose.

    >>> train = Interactions.from_arrays([1, 1], [7, 8])
    >>> check_leakage(train, Interactions.from_arrays([2], [7]))
    []
    """
    if order not in (None, "any", "user", "global") or len(parts) < 2:
        raise ParameterError(
            f"order={order!r} over {len(parts)} parts", 'give two or more; order "any", "user" or "global"'
        )
    if order in ("user", "global"):
        _require_times(parts)
    names = NAMES.get(len(parts)) or tuple(f"part {k + 1}" for k in range(len(parts)))
    found = _repeated_pairs(share_ids(*parts), names)
    timed = order is None and _have_times(parts)
    if order == "user" or timed:
        found += _too_early_by_user(share_ids(*parts), names)
    if order == "global" or timed:
        found += _too_early(parts, names)
    for leak in found:
        warnings.warn(leak, LeakageWarning, stacklevel=2)
    return found


def _require_times(parts: Sequence[Interactions]) -> None:
    if not _have_times(parts):
        raise DataError("the parts do not all have times of one kind", 'read them with timestamp=…, or use order="any"')


def _have_times(parts: Sequence[Interactions]) -> bool:
    """Whether all parts have times of one kind: dates, or numbers."""
    kinds = {None if part.timestamps is None else part.timestamps.dtype.kind == "M" for part in parts}
    return None not in kinds and len(kinds) == 1


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


def _pair_numbers(part: Interactions) -> NDArray[np.int64]:
    return part.by_user.row_of_entry().astype(np.int64) * part.n_items + part.by_user.indices


def _too_early(parts: Sequence[Interactions], names: Sequence[str]) -> list[str]:
    leaks = []
    for (a, first), (b, second) in itertools.combinations(zip(names, parts, strict=True), 2):
        if first.timestamps is None or second.timestamps is None or not first.nnz:
            continue
        early = int(np.count_nonzero(second.timestamps < first.timestamps.max()))
        if early:
            leaks.append(f"{early:,} events of {b} happened before the last event of {a}; split with split_time()")
    return leaks


def _too_early_by_user(parts: Sequence[Interactions], names: Sequence[str]) -> list[str]:
    leaks = []
    for (a, first), (b, second) in itertools.combinations(zip(names, parts, strict=True), 2):
        if first.timestamps is None or second.timestamps is None:
            continue
        both = (first.by_user.row_lengths > 0) & (second.by_user.row_lengths > 0)
        last, earliest = _per_user(first, np.maximum), _per_user(second, np.minimum)
        early = int(np.count_nonzero(earliest[both] < last[both]))
        if early:
            leaks.append(f"{early:,} users have an event of {b} before their last of {a}; split with split_last()")
    return leaks


def _per_user(part: Interactions, reduce: np.ufunc) -> NDArray[Any]:
    """Reduce the times of each user; users without interactions have an arbitrary value."""
    assert part.timestamps is not None
    out = np.zeros(part.n_users, dtype=part.timestamps.dtype)
    filled = np.flatnonzero(part.by_user.row_lengths)
    if len(filled):
        out[filled] = reduce.reduceat(part.timestamps, part.by_user.indptr[filled])
    return out
