"""The items relevant to each test user, as positions in a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, DataWarning, warn_caller
from taylorank.kernels.arrays import contains_on
from taylorank.metrics import Gain, Judged, gain_of
from taylorank.ranking.masks import refuse_other_ids
from taylorank.ranking.ranker import Ranker
from taylorank.ranking.rows import select_entries, take_rows

TABLE_CELLS = 1 << 22  # bytes of a table of (users, items) that stays in a cache
SHORT_ROWS = 16  # entries of a row, on average, that are compared one by one
ENTRIES = 1 << 14  # compared at a time
LEAST_ROWS = 64  # of such a table: with fewer, binary search is faster


@dataclass(frozen=True)
class Relevance:
    """The users to evaluate, with one row of relevant items each.

    `users` are positions in the model, `rows` hold the relevant items that the model knows, with their gains as
    weights if they are graded; `counts` are how many items are relevant, unknown ones included.
    """

    users: NDArray[np.int64]
    rows: CSR
    counts: NDArray[np.int64]
    ideal: CSR | None  # all gains of each user, falling; its columns are not used
    without_items: int
    unknown_users: int

    @property
    def unknown_items(self) -> int:
        """How many test interactions are with items that the model does not know: all are misses."""
        return int(self.counts.sum()) - self.rows.nnz

    def judge(self, block: slice, ranked: NDArray[np.int64], k: int, *, device: Any = None) -> Judged:
        """Return which items of the lists of a block of users, (B, ≤ k) positions, are relevant, with their gains.

        They are looked up on `device`, if one is given.
        """
        rows = take_rows(self.rows, np.arange(block.start, block.stop))
        hits = np.zeros((len(ranked), k), dtype=bool, order="F")  # metrics go down the ranks, all users at once
        hits[:, : ranked.shape[1]] = contains(rows, ranked) if device is None else contains_on(device, rows, ranked)
        if self.ideal is None:
            return Judged(hits, self.counts[block])
        gains = np.zeros(hits.shape, order="F")
        place, rank = np.nonzero(hits)
        gains[place, rank] = _weights_of(rows, place, ranked[place, rank])
        ideal = _padded(take_rows(self.ideal, np.arange(block.start, block.stop)), k)
        return Judged(hits, self.counts[block], gains=gains, ideal=ideal)


def relevance(ranker: Ranker, test: Interactions, gain: Gain = "binary") -> Relevance:
    """Return the users of `test` with items whom the model knows."""
    rows = np.flatnonzero(test.by_user.row_lengths > 0)
    if not len(rows):
        raise DataError("the test data has no interactions", "split with a larger share for test")
    refuse_other_ids(ranker, test, "the test data")
    users = rows if ranker.users == test.users else ranker.users.positions(test.user_ids[rows])
    known = users >= 0
    if not known.any():
        raise DataError("the model knows none of the test users", "check that both use the same ids")
    taken = take_rows(test.by_user, rows[known])
    graded = gain != "binary"
    if graded:
        strengths = np.ones(taken.nnz) if taken.weights is None else taken.weights
        taken = CSR(taken.indptr, taken.indices, gain_of(strengths, gain), taken.n_columns)
    return Relevance(
        users[known],
        _in_positions_of(ranker, test, taken),
        taken.row_lengths,
        _sorted_gains(taken) if graded else None,
        without_items=test.n_users - len(rows),
        unknown_users=int((~known).sum()),
    )


def warn_of_unknown(truth: Relevance) -> None:
    """Warn of test users whom the model does not know, and if it knows none of the test items."""
    lost = truth.unknown_users
    if lost:
        everyone = lost + len(truth.users)
        warn_caller(f"{lost:,} of {everyone:,} test users are unknown to the model and left out", DataWarning)
    if not truth.rows.nnz:
        warn_caller("the model knows none of the test items: every one is a miss", DataWarning)


def contains(rows: CSR, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether row x holds each of the columns wanted[x], (B, k); column -1 is in no row."""
    if rows.nnz <= SHORT_ROWS * len(wanted):
        return _by_comparison(rows, wanted)
    height = TABLE_CELLS // max(rows.n_columns, 1)
    return _by_table(rows, wanted, height) if height >= LEAST_ROWS else _by_search(rows, wanted)


def _by_comparison(rows: CSR, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Compare every entry with the columns wanted of its row."""
    found = np.zeros(wanted.shape, dtype=bool)
    owners, columns = rows.row_of_entry(), wanted.astype(np.int32)
    for start in range(0, rows.nnz, ENTRIES):
        owner = owners[start : start + ENTRIES]
        hits = np.flatnonzero(columns[owner] == rows.indices[start : start + ENTRIES, None])
        entry, rank = np.divmod(hits, wanted.shape[1])
        found[owner[entry], rank] = True
    return found


def _by_table(rows: CSR, wanted: NDArray[np.int64], height: int) -> NDArray[np.bool_]:
    """Mark the entries of a few rows in a table, look the columns up, and clear the marks."""
    width = rows.n_columns + 1  # the last column is that of -1 and is never marked
    table = np.zeros(min(height, len(wanted)) * width, dtype=bool)
    found = np.empty(wanted.shape[::-1], dtype=bool)  # (k, B)
    offsets = np.arange(min(height, len(wanted))) * width
    for start in range(0, len(wanted), height):
        stop = min(start + height, len(wanted))
        indptr = rows.indptr[start : stop + 1]
        entries = np.repeat(offsets[: stop - start], np.diff(indptr)) + rows.indices[indptr[0] : indptr[-1]]
        table[entries] = True
        columns = wanted[start:stop].T
        cells = np.where(columns >= 0, columns, width - 1) + offsets[: stop - start]
        np.take(table, cells, out=found[:, start:stop])
        table[entries] = False
    return found.T


def _by_search(rows: CSR, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find (row, column) among all entries by binary search."""
    if not rows.nnz:
        return np.zeros(wanted.shape, dtype=bool)
    entries = rows.row_of_entry().astype(np.int64) * rows.n_columns + rows.indices
    keys = np.arange(len(wanted))[:, None] * rows.n_columns + wanted
    place = np.minimum(np.searchsorted(entries, keys), len(entries) - 1)
    found: NDArray[np.bool_] = (entries[place] == keys) & (wanted >= 0)
    return found


def _weights_of(rows: CSR, place: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights of entries that are there."""
    assert rows.weights is not None
    entries = rows.row_of_entry().astype(np.int64) * rows.n_columns + rows.indices
    found: NDArray[np.float64] = rows.weights[np.searchsorted(entries, place * rows.n_columns + columns)]
    return found


def _in_positions_of(ranker: Ranker, test: Interactions, rows: CSR) -> CSR:
    if test.items == ranker.items:
        return rows
    columns = ranker.items.positions(test.item_ids).astype(np.int32)[rows.indices]
    return select_entries(CSR(rows.indptr, columns, rows.weights, len(ranker.items)), columns >= 0)


def _sorted_gains(rows: CSR) -> CSR:
    """The same rows with their weights from the largest to the smallest."""
    assert rows.weights is not None
    order = np.lexsort((-rows.weights, rows.row_of_entry()))
    return CSR(rows.indptr, rows.indices, rows.weights[order], rows.n_columns)


def _padded(rows: CSR, k: int) -> NDArray[np.float64]:
    """The first k weights of each row, (B, k), with 0 beyond its end."""
    assert rows.weights is not None
    rank = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], rows.row_lengths)
    kept = rank < k
    first = np.zeros((rows.n_rows, k), order="F")
    first[rows.row_of_entry()[kept], rank[kept]] = rows.weights[kept]
    return first
