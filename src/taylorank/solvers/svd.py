"""Truncated SVD of a matrix known by its products, by Chebyshev-filtered subspace iteration.

For the leading singular triplets of S (M × N, taken with N ≤ M) keep an orthonormal block X of a few more vectors than
wanted and repeat:

1. Rayleigh-Ritz: Y = S X, eigenvectors W of YᵀY, X ← X W, Y ← Y W, σ² = eigenvalues;
2. residuals ‖Sᵀu − σ v‖ of all kept triplets; stop when the largest is ≤ tolerance · σ₁;
3. filter: X ← T_d(2 SᵀS / β − I) X with β = the smallest σ² of the block, then orthonormalise.

The Chebyshev polynomial T_d stays within ±1 on [0, β] and grows fastest beyond, so components outside the block are
damped by orders of magnitude for d sparse products; plain subspace iteration pays a dense orthonormalisation for each
single product. Recommender spectra are flat (σ₇₆₈ / σ₁ is about 0.35 on Gowalla), which is where that matters
(Zhou, Saad, Tiago and Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace iteration",
J. Comput. Phys. 219, 2006). Only matrices of the size of the block are factorised, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.kernels import gram
from taylorank.solvers.centred import CentredMatrix

Floats = NDArray[Any]
MAX_DEGREE = 8
MAX_GROWTH = 1e6  # of a filtered component against the smallest; more would drown the small ones in rounding
STRIP = 4096


@dataclass(frozen=True, eq=False)
class Svd:
    """S ≈ left · diag(values) · rightᵀ, values falling; `residuals` are ‖Sᵀu − σv‖ / σ₁ for each triplet."""

    left: Floats  # (M, k)
    values: NDArray[np.float64]  # (k,)
    right: Floats  # (N, k)
    residuals: NDArray[np.float64]  # (k,)
    passes: int  # products with SᵀS, including those of the Rayleigh-Ritz steps
    converged: bool


@dataclass(frozen=True, eq=False)
class SvdState:
    """All that a Rayleigh-Ritz step depends on, so that a fit can be taken up again to the same bits."""

    block: Floats
    passes: int
    best: float  # the smallest residual so far


@dataclass(frozen=True)
class Progress:
    """What a callback receives after each Rayleigh-Ritz step."""

    passes: int
    residual: float  # the largest of the kept triplets, over σ₁
    state: SvdState


def truncated_svd(
    matrix: CentredMatrix,
    count: int,
    *,
    tolerance: float = 1e-2,
    max_passes: int | None = None,
    start: SvdState | None = None,
    random_state: int = 0,
    callback: Callable[[Progress], object] | None = None,
) -> Svd:
    """Return the `count` leading singular triplets of `matrix`, from `start` or a random block.

    Stops when every residual is ≤ `tolerance` · σ₁ (0: as far as the precision of the data goes), or after
    `max_passes` products, which is not the SVD any more but a smoother relative of it.
    """
    if matrix.shape[0] < matrix.shape[1]:
        flipped = truncated_svd(
            matrix.transposed, count, tolerance=tolerance, max_passes=max_passes, start=start,
            random_state=random_state, callback=callback,
        )  # fmt: skip
        return Svd(flipped.right, flipped.values, flipped.left, flipped.residuals, flipped.passes, flipped.converged)
    dtype = matrix.left.dtype
    goal = max(tolerance, 30 * float(np.finfo(dtype).eps))
    state = start or _first_state(matrix, count, random_state)
    while True:
        ritz = rayleigh_ritz(matrix, state.block)
        passes, best = state.passes + 1, state.best
        worst = float(ritz.residuals[:count].max())
        stopped = callback is not None and bool(callback(Progress(passes, worst, state)))
        exhausted = stopped or (max_passes is not None and passes >= max_passes)
        stalled = tolerance < goal and worst > 0.95 * best  # only rounding is left
        if worst <= goal or exhausted or stalled or state.block.shape[1] == matrix.shape[1]:
            return ritz.kept(count, passes, converged=worst <= goal or stalled)
        degree = _degree(ritz.squares)
        if max_passes is not None:
            degree = max(1, min(degree, max_passes - passes))
        state = SvdState(orthonormal(chebyshev(matrix, ritz, degree)), passes + degree - 1, min(best, worst))
        del ritz  # or it would stay until the next one is complete


def _first_state(matrix: CentredMatrix, count: int, random_state: int) -> SvdState:
    """A random block after one product, or the whole space where that is hardly larger."""
    n = matrix.shape[1]
    width = count + max(16, count // 8)
    dtype = matrix.left.dtype
    if 2 * width >= n:
        return SvdState(np.eye(n, dtype=dtype), 0, np.inf)
    noise = np.random.default_rng(random_state).standard_normal((n, width)).astype(dtype)
    return SvdState(orthonormal(matrix.apply_transposed(matrix.apply(noise))), 1, np.inf)


@dataclass(frozen=True, eq=False)
class Ritz:
    """A Rayleigh-Ritz step: X diagonalises SᵀS within its span."""

    right: Floats  # X, (N, b)
    left: Floats  # S X, (M, b)
    image: Floats  # SᵀS X, (N, b)
    squares: NDArray[np.float64]  # σ², (b,), falling

    @property
    def residuals(self) -> NDArray[np.float64]:
        """‖Sᵀu − σv‖ / σ₁ with u = Sv / σ; 0 for σ = 0."""
        error = np.zeros(len(self.squares))
        for start in range(0, len(self.right), STRIP):
            strip = self.image[start : start + STRIP] - self.right[start : start + STRIP] * self.squares
            error += np.square(strip).sum(axis=0)
        values = np.sqrt(self.squares)
        scale = values * values[0]
        out: NDArray[np.float64] = np.divide(np.sqrt(error), scale, out=np.zeros_like(error), where=scale > 0)
        return out

    def kept(self, count: int, passes: int, *, converged: bool) -> Svd:
        """Return the first `count` triplets."""
        values = np.sqrt(self.squares[:count])
        safe = np.where(values > 0, values, 1.0)
        left = self.left[:, :count] / safe.astype(self.left.dtype)
        return Svd(left, values, self.right[:, :count].copy(), self.residuals[:count], passes, converged)


def rayleigh_ritz(matrix: CentredMatrix, block: Floats) -> Ritz:
    """Rotate the orthonormal `block` to the Ritz vectors of SᵀS."""
    image = matrix.apply(block)
    squares, vectors = linalg.eigh(gram(image))
    squares = np.maximum(squares[::-1], 0.0)
    squares[squares < len(squares) * np.finfo(np.float64).eps * squares[0]] = 0.0
    rotation = np.ascontiguousarray(vectors[:, ::-1]).astype(block.dtype)
    for start in range(0, len(image), STRIP):
        image[start : start + STRIP] = image[start : start + STRIP] @ rotation
    return Ritz(block @ rotation, image, matrix.apply_transposed(image), squares)


def _degree(squares: NDArray[np.float64]) -> int:
    """The highest degree whose growth from β to σ₁² stays within MAX_GROWTH."""
    ratio = squares[0] / max(squares[-1], np.finfo(float).tiny)
    growth = np.arccosh(max(2 * ratio - 1, 1 + 1e-12))
    return int(np.clip(np.log(2 * MAX_GROWTH) / growth, 1, MAX_DEGREE))


def chebyshev(matrix: CentredMatrix, ritz: Ritz, degree: int) -> Floats:
    """T_d(2 SᵀS / β − I) X by the three-term recurrence; the first product is the one that Ritz has."""
    bound = max(float(ritz.squares[-1]), float(np.finfo(np.float32).tiny) * float(ritz.squares[0]))
    double = np.asarray(2 / bound, dtype=ritz.right.dtype)
    before = ritz.right
    now: Floats = ritz.image * double
    now -= before
    for _ in range(degree - 1):
        after = matrix.apply_transposed(matrix.apply(now))
        for start in range(0, len(after), STRIP):  # after ← 2 (2 after / β − now) − before, without large temporaries
            part = slice(start, start + STRIP)
            after[part] *= 2 * double
            after[part] -= 2 * now[part]
            after[part] -= before[part]
        before, now = now, after
    return now


def orthonormal(block: Floats) -> Floats:
    """Return an orthonormal basis of the span, by its Gram matrix, twice; dependent directions are kept harmless.

    `block` is used up: its columns are scaled in place.
    """
    for _ in range(2):
        norms = np.sqrt(np.einsum("ij,ij->j", block, block, dtype=np.float64))
        block /= np.where(norms > 0, norms, 1.0).astype(block.dtype)
        squares, vectors = linalg.eigh(gram(block))
        floor = 10 * len(squares) * float(np.finfo(block.dtype).eps) ** 2 * squares[-1]
        block = block @ (vectors / np.sqrt(np.maximum(squares, floor))).astype(block.dtype)
    return block
