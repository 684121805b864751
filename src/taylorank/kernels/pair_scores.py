"""Scores of the stored pairs only: the sampled product of two dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference


def nonzero_scores(
    rows: CSR,
    user_factors: NDArray[Any],
    *,
    item_factors: NDArray[Any],
    out: NDArray[Any] | None = None,
    num_threads: int | None = None,
) -> NDArray[Any]:
    """Return s with s_j = P_x · Q_y for every entry j = (x, y) of `rows`, in storage order; weights play no part.

    Shapes: `user_factors` is P (rows.n_rows, K), `item_factors` is Q (rows.n_columns, K), both float32 or both
    float64; the result (rows.nnz,) has their type. `out`, if given, receives it; after an error its content is
    undefined. Native kernels give the same bits for any number of threads and at any SIMD level.

    >>> rows = CSR(np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32), None, 3)
    >>> P, Q = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> nonzero_scores(rows, P, item_factors=Q)
    array([1., 3., 4.])
    """
    P = _checked_factors(user_factors, "user_factors", rows.n_rows)
    Q = _checked_factors(item_factors, "item_factors", rows.n_columns)
    if P.dtype != Q.dtype or P.shape[1] != Q.shape[1]:
        raise ParameterError(
            f"users are {P.dtype} with {P.shape[1]} factors but items are {Q.dtype} with {Q.shape[1]}",
            "pass the factors of one model, of one type",
        )
    indptr, indices = _index(rows.indptr, np.int64), _index(rows.indices, np.int32)
    target = _checked_out(out, rows.nnz, P, Q)
    threads = backend.thread_count(num_threads)
    if backend.native is None:
        target[...] = reference.nonzero_scores(CSR(indptr, indices, None, rows.n_columns), P, Q)
        return target
    try:
        backend.native.nonzero_scores(indptr, indices, P, Q, target, level=backend.simd_level(), threads=threads)
    except ValueError as error:
        raise ParameterError(str(error), reference.REMEDY) from error
    return target


def _checked_factors(factors: NDArray[Any], name: str, count: int) -> NDArray[Any]:
    factors = np.asarray(factors)
    if factors.dtype not in (np.float32, np.float64):
        raise ParameterError(f"{name} are {factors.dtype}", "convert them with .astype(np.float32)")
    if factors.ndim != 2 or len(factors) != max(count, 0):
        raise ParameterError(
            f"{name} have shape {factors.shape} but {count} rows are needed", f"pass an array of shape ({count}, K)"
        )
    return np.ascontiguousarray(factors)


def _index(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.ndim != 1 or not np.can_cast(array.dtype, dtype, "safe"):
        raise ParameterError(
            f"an index array of the rows is {array.dtype} with shape {array.shape}",
            f"make it one-dimensional and {np.dtype(dtype)}",
        )
    return np.ascontiguousarray(array, dtype=dtype)


def _checked_out(out: NDArray[Any] | None, size: int, *factors: NDArray[Any]) -> NDArray[Any]:
    dtype = factors[0].dtype
    if out is None:
        return np.empty(size, dtype=dtype)
    if out.shape != (size,) or out.dtype != dtype:
        raise ParameterError(f"out is {out.dtype} {out.shape} but the result is {dtype} ({size},)", "make them equal")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ParameterError("out is read-only or not C-contiguous", "pass np.empty(size, dtype)")
    if any(np.may_share_memory(out, array) for array in factors):
        raise ParameterError("out overlaps the factors", "pass another array")
    return out
