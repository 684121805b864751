"""Gather-sum: the one sparse product that closed-form ALS needs."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference
from taylorank.kernels.aligned import in_order
from taylorank.kernels.checked import checked_factors, checked_indices, checked_out
from taylorank.kernels.dispatch import is_tensor, tensor_kernels


def gather_sum(
    rows: CSR,
    factors: NDArray[Any],
    *,
    weights: ArrayLike | Literal["stored"] | None = "stored",
    out: NDArray[Any] | None = None,
    num_threads: int | None = None,
) -> NDArray[Any]:
    """Return P with P[x, :] = Σ_{y ∈ row x} w_xy Q[y, :].

    Shapes: `factors` is Q (rows.n_columns, K), float32 or float64; the result (rows.n_rows, K) has its type.
    `weights` are those stored in `rows` unless given: one number per entry, in the order of `rows.indices`,
    or None for all 1. `out`, if given, receives the result; after an error its content is undefined.

    Native kernels give the same bits for any number of threads and at any SIMD level. Tensors, with `DeviceRows`, go to
    `kernels.cuda`.

    >>> rows = CSR(np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32), None, 3)
    >>> gather_sum(rows, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    array([[6., 8.],
           [3., 4.]])
    """
    if is_tensor(factors):
        return cast("NDArray[Any]", tensor_kernels().gather_sum(rows, factors, weights=weights, out=out))
    factors = checked_factors(factors, rows.n_columns)
    values = _checked_weights(weights, rows, dtype=factors.dtype)
    indptr, indices = checked_indices(rows)
    target = checked_out(out, (max(rows.n_rows, 0), factors.shape[1]), factors)
    threads = backend.thread_count(num_threads)
    if backend.native is None:
        plain = CSR(indptr, indices, None, rows.n_columns)
        target[...] = reference.gather_sum(plain, factors, weights=values)
        return target
    try:
        backend.native.gather_sum(indptr, indices, factors, values, target, level=backend.simd_level(), threads=threads)
    except ValueError as error:
        raise ParameterError(str(error), reference.REMEDY) from error
    return target


def _checked_weights(weights: ArrayLike | None, rows: CSR, *, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    if isinstance(weights, str) and weights == "stored":
        weights = rows.weights
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.dtype.kind not in "fiub":
        raise ParameterError(f"weights are {array.dtype}", "pass real numbers")
    if array.shape != (rows.nnz,):
        raise ParameterError(
            f"weights have shape {array.shape} but there are {rows.nnz} entries", "pass one weight per entry"
        )
    return in_order(array, dtype=dtype)
