"""The kernels in plain NumPy and SciPy: the oracle of the tests, and what runs without the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data.csr import CSR, INDEX_LIMIT
from taylorank.errors import ParameterError

REMEDY = "build the rows with Interactions or from a SciPy matrix"


def gather_sum(rows: CSR, factors: NDArray[Any], *, weights: NDArray[Any] | None) -> NDArray[Any]:
    """Return P with P[x, :] = Σ_{y ∈ row x} w_xy Q[y, :] (weights None: all 1).

    >>> rows = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> gather_sum(rows, np.array([[1.0], [2.0]]), weights=np.array([1.0, 10.0]))
    array([[21.]])
    """
    check_rows(rows)
    values = np.ones(rows.nnz, dtype=factors.dtype) if weights is None else weights
    index_type = np.int32 if rows.nnz < INDEX_LIMIT else np.int64
    indices, indptr = (array.astype(index_type, copy=False) for array in (rows.indices, rows.indptr))
    matrix = sparse.csr_array((values, indices, indptr), shape=(rows.n_rows, rows.n_columns))
    product: NDArray[Any] = matrix @ factors
    return product


def check_rows(rows: CSR) -> None:
    """Raise unless `indptr` rises from 0 to nnz and each index is a column; SciPy would read past the end."""
    indptr, indices = rows.indptr, rows.indices
    if len(indptr) == 0:
        raise ParameterError("indptr is empty", REMEDY)
    if indptr[0] != 0:
        raise ParameterError(f"indptr starts at {indptr[0]}", REMEDY)
    if (falls := np.flatnonzero(np.diff(indptr) < 0)).size:
        raise ParameterError(f"indptr falls after row {falls[0]}", REMEDY)
    if indptr[-1] != len(indices):
        raise ParameterError(f"indptr ends at {indptr[-1]} but there are {len(indices)} indices", REMEDY)
    if indices.size and (indices.min() < 0 or indices.max() >= rows.n_columns):
        bad = np.flatnonzero((indices < 0) | (indices >= rows.n_columns))[0]
        text = f"index {indices[bad]} at position {bad} is outside the {rows.n_columns} rows of factors"
        raise ParameterError(text, REMEDY)
