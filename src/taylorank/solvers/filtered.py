"""Truncated SVD by Chebyshev-filtered subspace iteration, on the kind of arrays that the matrix has.

For the leading singular triplets of S (M × N, N ≤ M) keep an orthonormal block X of a few more vectors than wanted:

1. filter: X ← T_d(2 SᵀS / β − I) X with β = the smallest σ² of the block, then orthonormalise;
2. Rayleigh-Ritz, when the filters are expected to have done enough: Y = S X, eigenvectors W of YᵀY, X ← X W, σ² =
   eigenvalues; residuals ‖Sᵀu − σ v‖ of all kept triplets; stop when the largest is ≤ tolerance · σ₁.

T_d stays within ±1 on [0, β] and grows fastest beyond, so what lies outside the block is damped by T_d(2 σ_K² / β − 1)
for d products (Zhou, Saad, Tiago and Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
iteration", J. Comput. Phys. 219, 2006). On a GPU a product of all columns takes a millisecond, and the eigenvectors of
one small matrix as long as tens of them, so the Rayleigh-Ritz steps are few and the filters between them are planned by
that rate. Until the first, the lengths ‖S x‖² of the columns stand for the Ritz values: orthonormalising in order
sorts them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import gram
from taylorank.kernels.arrays import (
    like,
    namespace,
    normal,
    squared_lengths,
    tall_product,
    to_numpy,
    triangular_inverse,
)
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.svd import Progress, Svd, SvdState, Wanted, triplets, warn_of_rounding

Array = Any  # NumPy's or a tensor
FIRST_FILTERS = 4  # before the first Rayleigh-Ritz step
MOST_FILTERS = 12  # between two of them
MAX_DEGREE = 8
MIXED_GROWTH = 1e4  # of a filtered component against the smallest; more would drown the small ones in rounding
SORTED_GROWTH = 1e6  # the same where each column is one component, near enough
MAX_STEPS = 40
FIRST_RESIDUAL = 0.3  # about that of random vectors, over σ₁
EARLY_SHARE = 0.95
LEAST_PIVOT = 1e-5  # of columns of length 1; in float32 what is below holds nothing of its own


def basis_size(count: int) -> int:
    """How many columns the block has."""
    return count + max(64, 3 * count // 8)


@dataclass(frozen=True, eq=False)
class Ritz:
    """A Rayleigh-Ritz step: X diagonalises SᵀS within its span."""

    right: Array  # X, (N, b)
    squares: NDArray[np.float64]  # σ², (b,), falling
    residuals: NDArray[np.float64]  # ‖Sᵀu − σv‖ / σ₁, (b,)


def solve(matrix: CentredMatrix, wanted: Wanted) -> Svd:
    """Return the leading triplets of a matrix with more rows than columns."""
    count, goal = wanted.count, wanted.goal(matrix.dtype)
    state = wanted.start or _first_state(matrix, wanted)
    block = like(matrix.right, state.arrays["block"])
    passes, done, best = int(state.numbers["passes"]), int(state.numbers["done"]), state.numbers["best"]
    for _ in range(MAX_STEPS):
        ritz = rayleigh_ritz(matrix, block)
        before, passes = SvdState({"block": block}, {"passes": passes, "done": done, "best": best}), passes + 1
        residuals = ritz.residuals[:count]
        if wanted.stops(Progress(passes, float(residuals.max()), partial(_on_host, before))):
            return triplets(matrix, ritz.right[:, :count], passes=passes + 1, goal=goal)
        worst = float(goal.excess(ritz.squares[:count], residuals).max())
        if done == 0:
            rate = _first_rate(ritz.squares[: count + 1], _bound(ritz.squares), worst * goal.residual, passes)
        else:
            rate = math.log(max(best / worst, 1.0)) / done  # damping of one product, in logarithms
        if worst <= 1 or worst > 0.7 * best:  # there, or only rounding is left
            break
        filters, degree = _plan(ritz.squares, worst, rate)
        if wanted.max_passes is not None:
            filters = min(filters, max(1, (wanted.max_passes - passes) // degree))
        done, block, best = filters * degree, ritz.right, worst
        for left in reversed(range(filters)):
            block = orthonormal(chebyshev(matrix, block, _bound(ritz.squares), degree), 1 if left else 2)
        passes += filters * degree
    found = triplets(matrix, ritz.right[:, :count], passes=passes + 1, goal=goal)
    warn_of_rounding(found, wanted)
    return found


def _on_host(state: SvdState) -> SvdState:
    return SvdState({name: to_numpy(array) for name, array in state.arrays.items()}, state.numbers)


def _first_state(matrix: CentredMatrix, wanted: Wanted) -> SvdState:
    """A random block, multiplied and filtered a few times."""
    noise = normal(matrix.right, (matrix.shape[1], basis_size(wanted.count)), wanted.random_state)
    block, passes = orthonormal(matrix.normal(noise), 1), 1
    for left in reversed(range(FIRST_FILTERS)):
        squares = np.sort(squared_lengths(matrix.apply(block)))[::-1]
        degree = _degree(squares, MIXED_GROWTH)
        block = orthonormal(chebyshev(matrix, block, _bound(squares), degree), 1 if left else 2)
        passes += degree + 1
    return SvdState({"block": block}, {"passes": passes, "done": 0, "best": np.inf})


def _bound(squares: NDArray[np.float64]) -> float:
    """β: the smallest σ² of the block, if it is more than rounding."""
    return max(float(squares[-1]), 1e-6 * float(squares[0]), float(np.finfo(np.float32).tiny))


def _degree(squares: NDArray[np.float64], growth: float) -> int:
    """The highest degree whose growth from β to σ₁² stays within `growth`."""
    ratio = squares[0] / _bound(squares)
    rate = np.arccosh(max(2 * ratio - 1, 1 + 1e-12))
    return int(np.clip(np.log(2 * growth) / rate, 1, MAX_DEGREE))


def _first_rate(squares: NDArray[np.float64], bound: float, residual: float, products: int) -> float:
    """Return the logarithm of the damping by one product to plan with before it has been seen between two steps.

    Half of what it would be if the smallest Ritz values had converged, or somewhat less than what brought the residual
    to where it is; the first products gain most.
    """
    expected = 0.5 * math.acosh(max(2 * squares[-2] / bound - 1, 1 + 1e-12))
    return min(expected, EARLY_SHARE * math.log(max(FIRST_RESIDUAL / residual, 1.0)) / products)


def _plan(squares: NDArray[np.float64], excess: float, rate: float) -> tuple[int, int]:
    """Return how many filters of which degree should divide the worst residual by `excess`."""
    degree = _degree(squares, SORTED_GROWTH)
    needed = (math.log(max(excess, 1.0)) + 0.3) / max(degree * rate, 1e-6)
    return int(np.clip(math.ceil(needed), 1, MOST_FILTERS)), degree


def rayleigh_ritz(matrix: CentredMatrix, block: Array) -> Ritz:
    """Rotate the orthonormal `block` to the Ritz vectors of SᵀS."""
    xp = namespace(block)
    squares, vectors = xp.linalg.eigh(gram(matrix.apply(block)))  # rising, float64
    right = tall_product(block, like(block, xp.flip(vectors, (1,))))
    image = matrix.apply_both(right)
    falling = like(block, xp.flip(squares, (0,)))
    error = np.sqrt(squared_lengths(image - right * falling))
    found = np.maximum(to_numpy(squares)[::-1], 0.0)
    scale = np.sqrt(found) * np.sqrt(found[0])
    return Ritz(right, found, np.divide(error, scale, out=np.zeros_like(error), where=scale > 0))


def chebyshev(matrix: CentredMatrix, block: Array, bound: float, degree: int) -> Array:
    """T_d(2 SᵀS / β − I) X by the three-term recurrence."""
    before, now = block, matrix.apply_both(block)
    now *= 2 / bound
    now -= block
    for _ in range(degree - 1):
        after = matrix.apply_both(now)
        after *= 2 / bound
        after -= now
        after *= 2
        after -= before
        before, now = now, after
    return now


def orthonormal(block: Array, times: int = 2) -> Array:
    """Return an orthonormal basis of the span, leading columns first, by Cholesky factors of the Gram matrix.

    Twice, for the first is as inexact as the columns are dependent; between filters once is enough. Where columns
    depend on each other, by Householder's reflections, which are slower and need no independence. The columns are
    brought to length 1 in the Gram matrix: Xᵀ X = D L Lᵀ D, and X D⁻¹ L⁻ᵀ is orthonormal.
    """
    xp = namespace(block)
    for _ in range(times):
        square = gram(block)
        lengths = xp.diagonal(square) ** 0.5
        scale = 1 / xp.where(lengths > 0, lengths, 1.0)
        try:
            lower = xp.linalg.cholesky(square * scale[:, None] * scale)
        except (np.linalg.LinAlgError, RuntimeError):  # torch's error is a RuntimeError
            return xp.linalg.qr(block * like(block, scale))[0]
        if float(xp.diagonal(lower).min()) < LEAST_PIVOT:
            return xp.linalg.qr(block * like(block, scale))[0]
        block = tall_product(block, like(block, (triangular_inverse(lower) * scale).T))
    return block
