"""Products of few sparse rows with each other, for many short lists of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference
from taylorank.kernels.aligned import in_order
from taylorank.kernels.checked import checked_indices, checked_out


def pair_products(
    rows: CSR, items: NDArray[Any], *, out: NDArray[np.float32] | None = None, num_threads: int | None = None
) -> NDArray[np.float32]:
    """Return T with T[x, a, b] = r_i · r_j for i = items[x, a] and j = items[x, b]: squares of R Rᵀ.

    Shapes: `items` (B, k) are rows of R, `rows` (weights None: all 1); the result, or `out`, is (B, k, k), float32.
    A list costs Σ over columns of the squared number of its items there, and no memory of the size of R Rᵀ.

    >>> rows = CSR(np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32), None, 2)
    >>> pair_products(rows, np.array([[0, 1], [1, 1]])).tolist()
    [[[1.0, 1.0], [1.0, 2.0]], [[2.0, 2.0], [2.0, 2.0]]]
    """
    indptr, indices = checked_indices(rows)
    values = np.ones(rows.nnz, dtype=np.float32) if rows.weights is None else in_order(rows.weights, dtype=np.float32)
    lists = in_order(items, dtype=np.int64)
    if lists.ndim != 2:
        raise ParameterError(f"items have shape {lists.shape}", "give one list of rows in each row of a matrix")
    target = checked_out(out, (*lists.shape, lists.shape[1]), values)
    threads = backend.thread_count(num_threads)
    if backend.native is None:
        target[...] = reference.pair_products(CSR(indptr, indices, values, rows.n_columns), lists)
        return target
    try:
        backend.native.pair_products(indptr, indices, values, rows.n_columns, lists, target, threads)
    except ValueError as error:
        raise ParameterError(str(error), reference.REMEDY) from error
    return target
