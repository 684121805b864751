"""Scores of the stored pairs only: the sampled product of two dense matrices."""

from __future__ import annotations

from typing import Any, cast

from numpy.typing import NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference
from taylorank.kernels.checked import checked_factors, checked_indices, checked_out
from taylorank.kernels.dispatch import is_tensor, tensor_kernels


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

    >>> import numpy as np
    >>> rows = CSR(np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32), None, 3)
    >>> P, Q = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> nonzero_scores(rows, P, item_factors=Q)
    array([1., 3., 4.])
    """
    if is_tensor(user_factors):
        scores = tensor_kernels().nonzero_scores(rows, user_factors, items=item_factors, out=out)
        return cast("NDArray[Any]", scores)
    P = checked_factors(user_factors, rows.n_rows, name="user_factors")
    Q = checked_factors(item_factors, rows.n_columns, name="item_factors")
    if P.dtype != Q.dtype or P.shape[1] != Q.shape[1]:
        raise ParameterError(
            f"users are {P.dtype} with {P.shape[1]} factors but items are {Q.dtype} with {Q.shape[1]}",
            "pass the factors of one model, of one type",
        )
    indptr, indices = checked_indices(rows)
    target = checked_out(out, (rows.nnz,), P, Q)
    threads = backend.thread_count(num_threads)
    if backend.native is None:
        target[...] = reference.nonzero_scores(CSR(indptr, indices, None, rows.n_columns), P, Q)
        return target
    try:
        backend.native.nonzero_scores(indptr, indices, P, Q, target, level=backend.simd_level(), threads=threads)
    except ValueError as error:
        raise ParameterError(str(error), reference.REMEDY) from error
    return target
