"""Sums of a softmax over all columns, and of the columns under it, without the matrix of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import backend, softmax_reference
from taylorank.kernels.aligned import aligned_empty
from taylorank.kernels.checked import checked_array, checked_factors

SINGLE = np.dtype(np.float32)


def softmax_sums(
    rows: NDArray[Any],
    columns: NDArray[Any],
    *,
    row_offsets: NDArray[Any] | None = None,
    column_offsets: NDArray[Any] | None = None,
    scale: float = 1.0,
    num_threads: int | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return Σ_j e_ij, (n,), and Σ_j e_ij b_j, (n, K), with e_ij = exp(scale · a_i·b_j + α_i + β_j).

    Shapes: `rows` is a (n, K), `columns` is b (m, K), the offsets are α (n,) and β (m,), 0 by default. All in single
    precision. e is 0 for exponents below −86 and e^88 above 88, so give offsets that keep the largest near 0.

    Scores exist for a few rows and columns at a time, so e is never held. Two products, 4 n m K operations: the
    normaliser of a softmax over all columns with the gradient of its logarithm by a, which is scale · Σ e b / Σ e; with
    rows and columns exchanged and α, β shifted by the logarithm of the normalisers, that by b. Every row goes through
    the columns in order: the same bits for any number of threads and whatever the other rows are.

    >>> a, b = np.zeros((1, 1), dtype=np.float32), np.array([[1.0], [2.0]], dtype=np.float32)
    >>> softmax_sums(a, b)
    (array([2.], dtype=float32), array([[3.]], dtype=float32))
    """
    a, b = (
        np.ascontiguousarray(checked_factors(values, None, name=name), dtype=np.float32)
        for values, name in ((rows, "rows"), (columns, "columns"))
    )
    if a.shape[1] != b.shape[1]:
        raise ParameterError(f"rows have {a.shape[1]} coordinates but columns {b.shape[1]}", "make them equal")
    alpha, beta = (
        np.zeros(len(of), dtype=np.float32)
        if offsets is None
        else checked_array(offsets, (len(of),), name=name, dtype=SINGLE)
        for offsets, of, name in ((row_offsets, a, "row_offsets"), (column_offsets, b, "column_offsets"))
    )
    threads = backend.thread_count(num_threads)
    if backend.native is None:
        return softmax_reference.softmax_sums(a, b, row_offsets=alpha, column_offsets=beta, scale=scale)
    totals, sums = aligned_empty((len(a),), np.float32), aligned_empty(a.shape, np.float32)
    backend.native.softmax_sums(
        a, alpha, b, beta, float(scale), totals, sums, level=backend.simd_level(), threads=threads
    )
    return totals, sums
