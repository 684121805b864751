"""The inverse of a large positive definite matrix, in the memory of its lower triangle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from taylorank.errors import ParameterError

Strip = NDArray[np.float64]


class SingularError(ParameterError):
    """A matrix is singular, or too close to it for double precision."""


def invert_in_place(strips: list[Strip], *, after_strip: Callable[[int], object] = lambda _: None) -> None:
    """Overwrite A = Aᵀ > 0 with A⁻¹, both given by strips of columns: A[j0:, j0:j1], A[j1:, j1:j2], …

    A strip lies in memory by columns (order "F"); what it has above the diagonal is not read. Strips k are swept one
    after another: with D = A_kk⁻¹ and C = A_:k,

        A_ij ← A_ij − C_i D C_jᵀ  (i, j ≠ k),    A_ik ← C_i D,    A_kk ← −D,

    which ends at −A⁻¹: N³ operations in all, as by Cholesky's factors, nearly all of them in matrix products, and
    4 N² bytes. (LAPACK's `potrf` on the whole matrix takes twice the memory, and OpenBLAS crashes in it, as in `syrk`,
    from about 16,000 columns on two threads.)

    `after_strip` is called with the number of columns done. A matrix that is not positive definite, or whose condition
    number in the 1-norm is beyond double precision, raises SingularError.

    >>> strips = [np.array([[2.0], [1.0]], order="F"), np.array([[2.0]])]
    >>> invert_in_place(strips)
    >>> [(3 * strip).round(6).tolist() for strip in strips]
    [[[2.0], [-1.0]], [[2.0]]]
    """
    _check(strips)
    size = _norm(strips)
    done = 0
    for number, strip in enumerate(strips):
        _sweep(strips, number, done)
        done += strip.shape[1]
        after_strip(done)
    if not size * _norm(strips) < 1 / np.finfo(np.float64).eps:
        raise _singular()
    for strip in strips:
        np.negative(strip, out=strip)


def _check(strips: list[Strip]) -> None:
    """Refuse what BLAS would copy, and so not change, and what is no lower triangle."""
    for strip in strips:
        if strip.dtype != np.float64 or not (strip.flags.f_contiguous and strip.flags.behaved):
            raise ValueError("strips must be writeable doubles that lie in memory by columns")
    widths = [strip.shape[1] for strip in strips]
    if not widths or 0 in widths or [len(strip) for strip in strips] != np.cumsum(widths[::-1])[::-1].tolist():
        raise ValueError("strips must begin at the diagonal, and together be a lower triangle")


def _sweep(strips: list[Strip], number: int, start: int) -> None:
    swept = strips[number]
    width = swept.shape[1]
    panel = np.empty((width, len(strips[0])), order="F")  # Cᵀ
    places = _places(strips)
    for strip, begin in zip(strips[:number], places, strict=False):
        panel[:, begin : begin + strip.shape[1]] = strip[start - begin : start - begin + width]
    panel[:, start:] = swept.T
    corner = np.tril(swept[:width])
    panel[:, start : start + width] = corner + np.tril(corner, -1).T
    lower, failed = lapack.dpotrf(corner, lower=1)  # A_kk = L Lᵀ
    if failed:
        raise _singular()
    half = blas.dtrsm(1.0, lower, panel, lower=1, overwrite_b=1)  # L⁻¹ Cᵀ
    for strip, begin in zip(strips, places, strict=True):
        columns = half[:, begin : begin + strip.shape[1]]
        blas.dgemm(-1.0, half[:, begin:], columns, beta=1.0, c=strip, trans_a=1, overwrite_c=1)
    whole = blas.dtrsm(1.0, lower, half, lower=1, trans_a=1, overwrite_b=1)  # D Cᵀ
    for strip, begin in zip(strips[:number], places, strict=False):
        strip[start - begin : start - begin + width] = whole[:, begin : begin + strip.shape[1]]
    swept[:] = whole[:, start:].T
    inverse, _ = lapack.dpotri(lower, lower=1)
    swept[:width] = -inverse


def _places(strips: list[Strip]) -> list[int]:
    """The first column of each strip."""
    return [len(strips[0]) - len(strip) for strip in strips]


def _norm(strips: list[Strip]) -> float:
    """‖A‖₁ of the whole matrix."""
    sums = np.zeros(len(strips[0]))
    for strip, begin in zip(strips, _places(strips), strict=True):
        width = strip.shape[1]
        sizes = np.abs(strip)
        sizes[:width] = np.tril(sizes[:width])
        sums[begin:] += sizes.sum(axis=1)
        sizes[np.diag_indices(width)] = 0
        sums[begin : begin + width] += sizes.sum(axis=0)
    return float(sums.max())


def _singular() -> SingularError:
    return SingularError("the matrix is too close to a singular one to be inverted", "add more to its diagonal")
