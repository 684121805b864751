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
from taylorank.kernels.arrays import like, namespace, normal, squared_lengths, to_numpy, triangular_inverse
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.svd import Progress, Svd, SvdState, Wanted, triplets, warn_of_rounding

Array = Any  # NumPy's or a tensor
FIRST_FILTERS = 3  # before the first Rayleigh-Ritz step
MOST_FILTERS = 12  # between two of them
MAX_DEGREE = 8
MIXED_GROWTH = 1e4  # of a filtered component against the smallest; more would drown the small ones in rounding
SORTED_GROWTH = 1e6  # the same where each column is one component, near enough
MAX_STEPS = 40
LEAST_PIVOT = 1e-5  # of columns of length 1; in float32 what is below holds nothing of its own


def basis_size(count: int) -> int:
    """How many columns the block has."""
    return count + max(32, count // 4)


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
        rate = None if done == 0 or worst >= best else math.log(best / worst) / done  # damping of one product
        if worst <= 1 or worst > 0.7 * best:  # there, or only rounding is left
            break
        filters, degree = _plan(ritz.squares, count, worst, rate)
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
    block, passes = orthonormal(product(matrix, noise), 1), 1
    for left in reversed(range(FIRST_FILTERS)):
        squares = np.sort(squared_lengths(matrix.apply(block)))[::-1]
        degree = _degree(squares, MIXED_GROWTH)
        block = orthonormal(chebyshev(matrix, block, _bound(squares), degree), 1 if left else 2)
        passes += degree + 1
    return SvdState({"block": block}, {"passes": passes, "done": 0, "best": np.inf})


def product(matrix: CentredMatrix, block: Array) -> Array:
    """SᵀS X."""
    return matrix.apply_transposed(matrix.apply(block))


def _bound(squares: NDArray[np.float64]) -> float:
    """β: the smallest σ² of the block, if it is more than rounding."""
    return max(float(squares[-1]), 1e-6 * float(squares[0]), float(np.finfo(np.float32).tiny))


def _degree(squares: NDArray[np.float64], growth: float) -> int:
    """The highest degree whose growth from β to σ₁² stays within `growth`."""
    ratio = squares[0] / _bound(squares)
    rate = np.arccosh(max(2 * ratio - 1, 1 + 1e-12))
    return int(np.clip(np.log(2 * growth) / rate, 1, MAX_DEGREE))


def _plan(squares: NDArray[np.float64], count: int, excess: float, rate: float | None) -> tuple[int, int]:
    """Return how many filters of which degree should divide the worst residual by `excess`.

    `rate` is the logarithm of the damping by one product, as seen; before that is known, half of what it would be if
    the smallest Ritz value had converged.
    """
    degree = _degree(squares, SORTED_GROWTH)
    if rate is None:
        rate = 0.5 * math.acosh(max(2 * squares[count - 1] / _bound(squares) - 1, 1 + 1e-12))
    needed = (math.log(max(excess, 1.0)) + 0.3) / max(degree * rate, 1e-6)
    return int(np.clip(math.ceil(needed), 1, MOST_FILTERS)), degree


def rayleigh_ritz(matrix: CentredMatrix, block: Array) -> Ritz:
    """Rotate the orthonormal `block` to the Ritz vectors of SᵀS."""
    xp = namespace(block)
    squares, vectors = xp.linalg.eigh(gram(matrix.apply(block)))  # rising, float64
    right = block @ like(block, xp.flip(vectors, (1,)))
    image = product(matrix, right)
    falling = like(block, xp.flip(squares, (0,)))
    error = np.sqrt(squared_lengths(image - right * falling))
    found = np.maximum(to_numpy(squares)[::-1], 0.0)
    scale = np.sqrt(found) * np.sqrt(found[0])
    return Ritz(right, found, np.divide(error, scale, out=np.zeros_like(error), where=scale > 0))


def chebyshev(matrix: CentredMatrix, block: Array, bound: float, degree: int) -> Array:
    """T_d(2 SᵀS / β − I) X by the three-term recurrence."""
    before, now = block, product(matrix, block)
    now *= 2 / bound
    now -= block
    for _ in range(degree - 1):
        after = product(matrix, now)
        after *= 4 / bound
        after -= 2 * now
        after -= before
        before, now = now, after
    return now


def orthonormal(block: Array, times: int = 2) -> Array:
    """Return an orthonormal basis of the span, leading columns first, by Cholesky factors of the Gram matrix.

    Twice, for the first is as inexact as the columns are dependent; between filters once is enough. Where columns
    depend on each other, by Householder's reflections, which are slower and need no independence.
    """
    xp = namespace(block)
    for _ in range(times):
        norms = np.sqrt(squared_lengths(block))
        block = block / like(block, np.where(norms > 0, norms, 1.0))
        try:
            lower = xp.linalg.cholesky(gram(block))
        except (np.linalg.LinAlgError, RuntimeError):  # torch's error is a RuntimeError
            return xp.linalg.qr(block)[0]
        if float(xp.diagonal(lower).min()) < LEAST_PIVOT:
            return xp.linalg.qr(block)[0]
        block = block @ like(block, triangular_inverse(lower).T)
    return block
