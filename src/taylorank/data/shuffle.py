"""Random order that is the same on every machine and with every version of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR, sort_pairs
from taylorank.errors import ParameterError, shown


def random_keys(count: int, seed: int) -> NDArray[np.uint64]:
    """Return `count` distinct 64-bit numbers: a counter put through SplitMix64's mixing function.

    The mixing is a bijection, so no two keys are equal and sorting by them never depends on how a sort breaks
    ties (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
    """
    check_seed(seed)
    start = _mix(np.array([seed], dtype=np.uint64))  # neighbouring seeds start far apart
    return _mix(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start)


def tie_keys(columns: NDArray[Any], times: NDArray[Any], seed: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit number for each (item, moment): a random order among what happened at one moment.

    It depends on nothing else, so that parts of a split, and other users with the same history, have the same order.
    """
    check_seed(seed)
    start = _mix(np.array([seed], dtype=np.uint64))
    moments = np.ascontiguousarray(times).astype(np.float64 if times.dtype.kind == "f" else np.int64).view(np.uint64)
    return _mix(_mix(moments + start) + np.asarray(columns).astype(np.uint64))


def check_seed(seed: int) -> None:
    """Refuse anything but a whole number from 0 to 2⁶⁴ - 1."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise ParameterError(f"seed {shown(seed)} is not a whole number from 0 to 2⁶⁴ - 1", "give one, such as 0")


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def rank_within_rows(rows: CSR, order: NDArray[Any]) -> NDArray[np.int64]:
    """Return each entry's rank (0, 1, …) among the entries of its row, when all entries stand in `order`."""
    row_of = rows.row_of_entry()[order]
    nothing = np.zeros(len(order), dtype=np.int32)
    _, _, by_row = sort_pairs(row_of, nothing, (rows.n_rows, 1))
    rank = np.empty(rows.nnz, dtype=np.int64)
    rank[order[by_row]] = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], rows.row_lengths)
    return rank
