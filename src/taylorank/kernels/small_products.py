"""Many short rows times one small square matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import backend
from taylorank.kernels.aligned import aligned_empty, in_order
from taylorank.kernels.dispatch import is_tensor

PADDED_TO = 16  # columns: native kernels read whole vectors


def small_product(
    rows: NDArray[Any], basis: NDArray[Any], *, out: NDArray[Any] | None = None, threads: int = 1
) -> NDArray[Any]:
    """Return rows @ basis, (n, K) by (K, K), on our threads: those of BLAS would still spin when ours start.

    >>> small_product(np.array([[1.0, 2.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[2., 1.]])
    """
    if is_tensor(rows):
        product: NDArray[Any] = rows @ basis
        return product
    if out is None:
        out = aligned_empty(rows.shape, rows.dtype)
    if backend.native is None:
        return np.matmul(rows, basis, out=out)
    level = backend.simd_level()
    backend.native.small_product(in_order(rows), padded(basis), out, level=level, threads=threads)
    return out


def padded(array: NDArray[Any] | None, *, both: bool = False) -> NDArray[Any] | None:
    """Return `array` with zeros after its last axis (or both axes), up to whole vectors; as it is if it has them."""
    if array is None:
        return None
    extra = -array.shape[-1] % PADDED_TO
    if extra == 0:
        return in_order(array)
    return in_order(np.pad(array, [*[(0, extra if both else 0)] * (array.ndim - 1), (0, extra)]))
