"""Rows of sparse data: select rows, select entries, merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR


def are_consecutive(rows: NDArray[np.int64]) -> bool:
    """Whether these row numbers follow each other, so that a slice has them all."""
    if not len(rows) or rows[0] < 0 or rows[-1] - rows[0] != len(rows) - 1:
        return False
    return bool(np.all(np.diff(rows) == 1))


def take_rows(data: CSR, rows: NDArray[np.int64]) -> CSR:
    """Return these rows of `data` in this order, as views where they follow each other; row -1 is empty."""
    if are_consecutive(rows):
        indptr = data.indptr[rows[0] : rows[-1] + 2]
        part = slice(indptr[0], indptr[-1])
        return CSR(indptr - indptr[0], data.indices[part], _weights(data, part), data.n_columns)
    known = np.maximum(rows, 0)
    starts = data.indptr[known]
    lengths = np.where(rows >= 0, data.indptr[known + 1] - starts, 0)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    return CSR(indptr, data.indices[entries], _weights(data, entries), data.n_columns)


def select_entries(rows: CSR, keep: NDArray[np.bool_]) -> CSR:
    """Return the entries where `keep` is true, in the same rows."""
    if keep.all():
        return rows
    lengths = np.bincount(rows.row_of_entry()[keep], minlength=rows.n_rows)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return CSR(indptr, rows.indices[keep], _weights(rows, keep), rows.n_columns)


def union(a: CSR, b: CSR) -> CSR:
    """Merge rows in linear time (SciPy's sum of two ordered matrices); what is in both is there once."""
    if not a.nnz or not b.nnz:
        return a if a.nnz else b
    first, second = (_as_pattern(rows) for rows in (a, b))
    total = first + second
    return CSR(total.indptr.astype(np.int64), total.indices.astype(np.int32, copy=False), None, a.n_columns)


def common(a: CSR, b: CSR) -> int:
    """Return how many entries are in both."""
    if not a.nnz or not b.nnz:
        return 0
    return int(_as_pattern(a).multiply(_as_pattern(b)).nnz)


def _weights(rows: CSR, part: slice | NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.float32] | None:
    return None if rows.weights is None else rows.weights[part]


def _as_pattern(rows: CSR) -> sparse.csr_array:
    ones = np.ones(rows.nnz, dtype=bool)
    matrix = sparse.csr_array((ones, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))
    matrix.has_canonical_format = True
    return matrix
