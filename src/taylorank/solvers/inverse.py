"""The inverse of a large positive definite matrix, in its own memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from taylorank.errors import ParameterError

PANEL = 256


def invert_in_place(matrix: NDArray[np.float64], *, after_panel: Callable[[int], object] = lambda _: None) -> None:
    """Overwrite the lower triangle of A = Aᵀ > 0 with that of A⁻¹; what is above it is not read, and lost.

    Sweeps one panel of columns k after another: with D = A_kk⁻¹ and C = A_:k,

        A_ij ← A_ij − C_i D C_jᵀ  (i, j ≠ k),    A_ik ← C_i D,    A_kk ← −D,

    which ends at −A⁻¹. N³ operations, as by Cholesky's factors, nearly all of them one symmetric product for each
    panel. LAPACK's own `potrf` is a third faster, but OpenBLAS ends the process in it from about 16,000 columns on two
    threads.

    `matrix` lies in memory by columns (order "F"). `after_panel` hears how many columns are done. A matrix that is not
    positive definite, or whose condition number in the 1-norm is beyond double precision, raises ParameterError.

    >>> matrix = np.array([[2.0, 1.0], [1.0, 2.0]], order="F")
    >>> invert_in_place(matrix)
    >>> (3 * np.tril(matrix)).round(6).tolist()
    [[2.0, 0.0], [-1.0, 2.0]]
    """
    if not matrix.flags.f_contiguous:
        raise ValueError("the matrix must lie in memory by columns")
    size = _norm(matrix)
    for start in range(0, len(matrix), PANEL):
        stop = min(start + PANEL, len(matrix))
        _sweep(matrix, start, stop)
        after_panel(stop)
    if not size * _norm(matrix) < 1 / np.finfo(np.float64).eps:
        raise _singular()
    for start in range(0, len(matrix), PANEL):
        matrix[:, start : start + PANEL] *= -1


def _sweep(matrix: NDArray[np.float64], start: int, stop: int) -> None:
    panel = np.empty((stop - start, len(matrix)), order="F")  # Cᵀ
    panel[:, :start] = matrix[start:stop, :start]
    panel[:, stop:] = matrix[stop:, start:stop].T
    corner = np.tril(matrix[start:stop, start:stop])
    panel[:, start:stop] = corner + np.tril(corner, -1).T
    lower, failed = lapack.dpotrf(corner, lower=1)  # A_kk = L Lᵀ
    if failed:
        raise _singular()
    half = blas.dtrsm(1.0, lower, panel, lower=1, overwrite_b=1)  # L⁻¹ Cᵀ
    blas.dsyrk(-1.0, half, beta=1.0, c=matrix, trans=1, lower=1, overwrite_c=1)
    whole = blas.dtrsm(1.0, lower, half, lower=1, trans_a=1, overwrite_b=1)  # D Cᵀ
    inverse, _ = lapack.dpotri(lower, lower=1)
    matrix[start:stop, :start] = whole[:, :start]
    matrix[stop:, start:stop] = whole[:, stop:].T
    matrix[start:stop, start:stop] = -inverse


def _norm(matrix: NDArray[np.float64]) -> float:
    """‖A‖₁ of the symmetric matrix whose lower triangle is given."""
    sums = np.zeros(len(matrix))
    for start in range(0, len(matrix), PANEL):
        strip = np.abs(matrix[start:, start : start + PANEL])
        strip[: strip.shape[1]] = np.tril(strip[: strip.shape[1]])
        sums[start:] += strip.sum(axis=1)
        sums[start : start + strip.shape[1]] += strip.sum(axis=0) - strip.diagonal()
    return float(sums.max(initial=0.0))


def _singular() -> ParameterError:
    return ParameterError("the matrix is too close to a singular one to be inverted", "add more to its diagonal")
