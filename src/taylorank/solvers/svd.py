"""Truncated SVD of a matrix known by its products: what is asked for, what comes back, and which method finds it.

- a side that is hardly larger than `count`: all eigenvectors of SᵀS (`whole_svd`);
- on a CPU: block Lanczos with thick restarts (`solvers.lanczos`), by far the fewest products;
- on a GPU: Chebyshev-filtered subspace iteration (`solvers.filtered`), with more products, which are cheap there, and
  far fewer eigendecompositions, which are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.errors import TrainingWarning, warn_caller
from taylorank.kernels.arrays import as_double, like, namespace, squared_lengths, to_numpy
from taylorank.kernels.dispatch import is_tensor
from taylorank.solvers.centred import CentredMatrix

Floats = NDArray[Any]
STRIP = 4096
COLUMNS = 256  # of SᵀS made at a time


@dataclass(frozen=True, eq=False)
class Svd:
    """S ≈ left · diag(values) · rightᵀ, values falling; `residuals` are ‖Sᵀu − σv‖ / σ₁ for each triplet."""

    left: Floats  # (M, k)
    values: NDArray[np.float64]  # (k,)
    right: Floats  # (N, k)
    residuals: NDArray[np.float64]  # (k,)
    passes: int  # products with SᵀS, in blocks of k columns
    converged: bool

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "left": to_numpy(self.left), "right": to_numpy(self.right)}


@dataclass(frozen=True, eq=False)
class SvdState:
    """All that the next step depends on, so that a fit can be taken up again to the same bits."""

    arrays: dict[str, Floats]
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """What a callback receives after each step: a full basis, or a Rayleigh-Ritz step."""

    passes: int
    residual: float  # the largest of the kept triplets, over σ₁
    state: Callable[[], SvdState | None]  # that before this step


@dataclass(frozen=True)
class Goal:
    """What residuals have to reach: `residual` · σ₁, or what rounding of SᵀS leaves, `precision` · σ₁² / σ."""

    residual: float
    precision: float

    def excess(self, squares: NDArray[np.float64], residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return residuals over their goals; 0 where σ² itself is nothing but rounding."""
        values = np.sqrt(squares)
        largest = float(values.max(initial=0.0))
        attainable = np.divide(largest, values, out=np.zeros_like(values), where=values > 0) * self.precision
        is_rounding = squares <= self.precision * largest**2
        return np.where(is_rounding, 0.0, residuals / np.maximum(self.residual, attainable))


@dataclass(frozen=True)
class Wanted:
    """When to stop, and whom to tell."""

    count: int
    tolerance: float
    max_passes: int | None
    start: SvdState | None
    random_state: int
    callback: Callable[[Progress], object] | None

    def goal(self, dtype: Any) -> Goal:
        """Return what residuals have to reach in this precision."""
        precision = 10 * float(np.finfo(dtype).eps)
        return Goal(max(self.tolerance, 3 * precision), precision)

    def stops(self, progress: Progress) -> bool:
        """Tell the callback; return whether it asks to stop, or all passes are used up."""
        asked = self.callback is not None and bool(self.callback(progress))
        return asked or (self.max_passes is not None and progress.passes >= self.max_passes)


def truncated_svd(
    matrix: CentredMatrix,
    count: int,
    *,
    tolerance: float = 1e-5,
    max_passes: int | None = None,
    start: SvdState | None = None,
    random_state: int = 0,
    callback: Callable[[Progress], object] | None = None,
) -> Svd:
    """Return the `count` leading singular triplets of `matrix`, from `start` or a random block.

    Stops when every residual is ≤ `tolerance` · σ₁ (0: as far as the precision of the data goes), or after
    `max_passes` products of `count` columns, which is then not the SVD.
    """
    wanted = Wanted(count, tolerance, max_passes, start, random_state, callback)
    if matrix.shape[0] >= matrix.shape[1]:
        return _tall_svd(matrix, wanted)
    found = _tall_svd(matrix.transposed, wanted)
    return replace(found, left=found.right, right=found.left)


def _tall_svd(matrix: CentredMatrix, wanted: Wanted) -> Svd:
    from taylorank.solvers import filtered, lanczos

    method = filtered if matrix.is_on_device else lanczos
    if 2 * method.basis_size(wanted.count) >= matrix.shape[1]:
        return whole_svd(matrix, wanted)
    solve: Callable[[CentredMatrix, Wanted], Svd] = method.solve
    return solve(matrix, wanted)


def whole_svd(matrix: CentredMatrix, wanted: Wanted) -> Svd:
    """Return the leading triplets from all eigenvectors of SᵀS, whose order N is hardly larger than `count`."""
    vectors = whole_vectors(matrix.shape[1], wanted.count, lambda X: matrix.normal(like(matrix.right, X)))
    found = triplets(matrix, like(matrix.right, vectors), passes=1, goal=wanted.goal(matrix.dtype))
    wanted.stops(Progress(1, float(found.residuals.max()), lambda: None))
    return found


def whole_vectors(n: int, count: int, normal: Callable[[Floats], Floats]) -> Floats:
    """Return the leading eigenvectors of SᵀS (n, count) from the whole of it, multiplied by unit vectors."""
    parts = []
    for start in range(0, n, COLUMNS):
        unit = np.zeros((n, min(COLUMNS, n - start)))
        np.fill_diagonal(unit[start:], 1.0)
        parts.append(as_double(normal(unit)))
    square: Any = namespace(parts[0]).concatenate(parts, 1)
    square = (square + square.T) / 2
    if is_tensor(square):
        leading: Floats = namespace(square).linalg.eigh(square)[1][:, -count:].flip(1)
        return leading
    return np.ascontiguousarray(linalg.eigh(square, subset_by_index=[n - count, n - 1])[1][:, ::-1])


def triplets(matrix: CentredMatrix, right: Floats, *, passes: int, goal: Goal) -> Svd:
    """Return the SVD with these right vectors: u and σ from S v, and the residuals from the vectors themselves.

    It has converged if they reach the goal, or nearly so: rounding may lift them above the estimates of a method.
    """
    left = matrix.apply(right)
    values = np.sqrt(squared_lengths(left))
    order = np.argsort(-values, kind="stable")
    if (order != np.arange(len(order))).any():  # equal values, told apart by rounding
        left, values, right = left[:, order], values[order], right[:, order]
    left = left / like(left, np.where(values > 0, values, 1.0))
    image, sigma = matrix.apply_transposed(left), like(right, values)
    error = np.zeros(len(values))
    strip = len(right) if matrix.is_on_device else STRIP  # on a CPU temporaries stay in its cache
    for start in range(0, len(right), strip):
        part = slice(start, start + strip)
        error += squared_lengths(image[part] - right[part] * sigma)
    residuals = np.sqrt(error) / (values[0] if values[0] > 0 else 1.0)
    return Svd(left, values, right, residuals, passes, bool(goal.excess(values**2, residuals).max() <= 1.5))


def warn_of_rounding(found: Svd, wanted: Wanted) -> None:
    """Warn where residuals have stopped falling above what was asked for."""
    if not found.converged and wanted.tolerance > 0:
        warn_caller(
            f"the SVD ends with residuals of {found.residuals.max():.1e} σ₁ where {wanted.tolerance:g} were asked for, "
            f"after {found.passes} passes: rounding leaves no more; tolerance=0 accepts what it leaves",
            TrainingWarning,
        )
