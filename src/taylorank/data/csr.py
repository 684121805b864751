"""Compressed sparse rows: the one sparse format that kernels take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]
Weights = NDArray[Any]  # float32 in data; solvers may hold float64

INDEX_LIMIT = 2**31
Array = TypeVar("Array", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class CSR:
    """Row x holds columns `indices[indptr[x]:indptr[x + 1]]`, ascending, with `weights` (None: all 1).

    >>> rows = CSR(np.array([0, 2, 2]), np.array([0, 3], dtype=np.int32), None, 4)
    >>> rows.n_rows, rows.n_columns, rows.nnz
    (2, 4, 2)
    """

    indptr: Indptr
    indices: Indices
    weights: Weights | None
    n_columns: int

    @property
    def n_rows(self) -> int:
        """How many rows there are, empty ones included."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """How many entries are stored."""
        return len(self.indices)

    @property
    def row_lengths(self) -> NDArray[np.int64]:
        """How many entries each row stores."""
        return np.diff(self.indptr)

    def row_of_entry(self) -> NDArray[np.int32]:
        """Return the row number of every entry, in storage order."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int32), self.row_lengths)

    def to_scipy(self) -> sparse.csr_array:
        """View as a SciPy array; indices and weights are shared, not copied, while nnz < 2³¹."""
        index_type = np.int32 if self.nnz < INDEX_LIMIT else np.int64
        weights = np.ones(self.nnz, dtype=np.float32) if self.weights is None else self.weights
        indices = self.indices.astype(index_type, copy=False)
        matrix = sparse.csr_array(
            (weights, indices, self.indptr.astype(index_type)), shape=(self.n_rows, self.n_columns)
        )
        matrix.has_canonical_format = True
        for array in (matrix.data, matrix.indices, matrix.indptr):
            freeze(array)
        return matrix

    def transpose(self) -> CSR:
        """Return the same entries by column, in linear time and with no memory beside the result."""
        index_type = np.int32 if self.nnz < INDEX_LIMIT else np.int64
        values = np.ones(self.nnz, dtype=np.int8) if self.weights is None else self.weights
        indices, indptr = (array.astype(index_type, copy=False) for array in (self.indices, self.indptr))
        by_column = sparse.csr_array((values, indices, indptr), shape=(self.n_rows, self.n_columns)).tocsc()
        return CSR(
            freeze(by_column.indptr.astype(np.int64)),
            freeze(by_column.indices.astype(np.int32, copy=False)),
            None if self.weights is None else freeze(by_column.data),
            self.n_rows,
        )


def freeze(array: Array) -> Array:
    """Mark `array` read-only and return it."""
    array.flags.writeable = False
    return array


def indptr_of(keep: NDArray[np.bool_], indptr: Indptr) -> Indptr:
    """Return the row pointers of the entries where `keep` is true; needs no memory per entry."""
    lengths = np.zeros(len(indptr) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        lengths[filled] = np.add.reduceat(keep, indptr[filled], dtype=np.int64)
    return np.concatenate(([0], np.cumsum(lengths)))


def sort_pairs(
    rows: NDArray[np.int32], columns: NDArray[np.int32], shape: tuple[int, int], *, want_order: bool = True
) -> tuple[Indptr, Indices, NDArray[np.integer[Any]] | None]:
    """Sort pairs by (row, column, position); repeated pairs are kept.

    Returns indptr, the sorted columns and, if wanted, `order` with sorted columns = columns[order].
    """
    widths = [max(int(n - 1).bit_length(), 0) for n in (*shape, len(rows) if want_order else 1)]
    if sum(widths) <= 64:
        return _sort_packed(rows, columns, shape, widths, want_order)
    return _sort_by_counting(rows, columns, shape)


def _sort_packed(
    rows: NDArray[np.int32], columns: NDArray[np.int32], shape: tuple[int, int], widths: list[int], want_order: bool
) -> tuple[Indptr, Indices, NDArray[np.int64] | None]:
    """Pack row, column and position into one word and sort the words, which vector instructions do fast."""
    _, column_bits, position_bits = (np.uint64(width) for width in widths)
    words = rows.astype(np.uint64)
    words <<= column_bits
    words |= columns.view(np.uint32)
    if want_order:
        words <<= position_bits
        words |= np.arange(len(rows), dtype=np.uint64)
    words.sort()
    order = None
    if want_order:
        order = (words & ((np.uint64(1) << position_bits) - np.uint64(1))).astype(np.int64)
        words >>= position_bits
    lengths = np.bincount(rows, minlength=shape[0])
    words &= (np.uint64(1) << column_bits) - np.uint64(1)
    return np.concatenate(([0], np.cumsum(lengths))), words.astype(np.int32), order


def _sort_by_counting(
    rows: NDArray[np.int32], columns: NDArray[np.int32], shape: tuple[int, int]
) -> tuple[Indptr, Indices, NDArray[np.integer[Any]]]:
    """Two stable counting sorts, first by column, then by row: linear time, any size."""
    position_type = np.int32 if len(rows) < INDEX_LIMIT else np.int64
    pairs = sparse.coo_array((np.arange(len(rows), dtype=position_type), (rows, columns)), shape=shape)
    pairs.has_canonical_format = True  # else SciPy would sum the positions of repeated pairs
    by_row = pairs.tocsc().tocsr()
    return by_row.indptr.astype(np.int64), by_row.indices.astype(np.int32, copy=False), by_row.data
