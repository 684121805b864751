"""Gram matrix of a tall block, and the inverse of a small one: all the dense work of a shared-Gram sweep.

BLAS would do both, but its threads spin on for tens of milliseconds after every call, on the cores that the
gather-sums before and after need. Ours end with the call.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.errors import ParameterError
from taylorank.kernels import backend
from taylorank.kernels.aligned import in_order
from taylorank.kernels.blas import inner_product
from taylorank.kernels.dispatch import is_tensor, tensor_kernels

WIDEST = 256  # columns; beyond, BLAS is so much faster that its spinning is cheap
STRIP = 1 << 14


def gram(block: NDArray[Any], *, num_threads: int | None = None) -> NDArray[np.float64]:
    """Return XᵀX for X (n, K), float32 or float64, summed over strips in float64.

    The native kernel, which is used up to K = 256, gives the same bits for any number of threads.

    >>> gram(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    array([[10., 14.],
           [14., 20.]])
    """
    if is_tensor(block):
        return cast("NDArray[np.float64]", tensor_kernels().gram(block))
    block = np.asarray(block)
    if block.ndim != 2 or block.dtype not in (np.float32, np.float64):
        raise ParameterError(f"a block is {block.dtype} with shape {block.shape}", "pass an (n, K) array of floats")
    total = np.zeros((block.shape[1], block.shape[1]))
    if backend.native is not None and 0 < block.shape[1] <= WIDEST:
        threads = backend.thread_count(num_threads)
        backend.native.gram(in_order(block), total, level=backend.simd_level(), threads=threads)
        return total
    for start in range(0, len(block), STRIP):
        strip = block[start : start + STRIP]
        total += inner_product(strip, strip)
    return total


def inverse(matrix: NDArray[np.float64], *, num_threads: int | None = None) -> NDArray[np.float64]:
    """Return H⁻¹ for a symmetric positive semidefinite H (K, K); H⁺ where H is singular to working precision.

    >>> inverse(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    if is_tensor(matrix):
        return cast("NDArray[np.float64]", tensor_kernels().inverse(matrix))
    matrix = in_order(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"a matrix has shape {matrix.shape}", "pass a square one")
    if not np.isfinite(matrix).all():
        raise ParameterError("a matrix holds a value that is infinite or not a number", "look where it comes from")
    found = _cholesky(matrix, backend.thread_count(num_threads))
    if found is None:
        # The least-norm solution of a rank-deficient system is the limit of small ridges.
        found = linalg.pinvh(matrix)
    return found


def _cholesky(matrix: NDArray[np.float64], threads: int) -> NDArray[np.float64] | None:
    if backend.native is not None and 0 < len(matrix) <= WIDEST:
        out = np.empty_like(matrix)
        good = backend.native.inverse(matrix, out, level=backend.simd_level(), threads=threads)
        return out if good else None
    try:
        factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    solved: NDArray[np.float64] = linalg.cho_solve(factor, np.eye(len(matrix)), check_finite=False)
    return solved
