"""Row-solve in plain NumPy and SciPy: the oracle of the tests, and what runs without the native module.

The same iterations as the native kernels, for many rows at once. Only `row_solve` is meant for use; its arguments
are checked already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from taylorank.errors import ParameterError
from taylorank.kernels.reference import REMEDY, check_rows
from taylorank.kernels.row_system import RowSystem

__all__ = ["REMEDY", "not_positive_definite", "row_solve"]

Array = NDArray[Any]
SMALLEST_PIVOT = 4096 * np.finfo(np.float64).eps  # relative to the diagonal: below, it is rounding error
VALUES_AT_ONCE = 2**22


def row_solve(system: RowSystem, factors: Array, *, method: str, start: Array | None, steps: int, block: int) -> Array:
    """Return P with H_x P_x = b_x, by `method`; rows on which an iteration fails are solved exactly."""
    check_rows(system.rows)
    if method == "cholesky":
        every = np.arange(system.rows.n_rows)
        return _exactly(system, factors, every).astype(factors.dtype)
    first = np.zeros((system.rows.n_rows, factors.shape[1]), dtype=factors.dtype) if start is None else start.copy()
    if method == "cg":
        solution, good = _by_gradients(system, factors, first, steps)
    else:
        solution, good = _by_blocks(system, factors, first, block)
    failed = np.flatnonzero(~(good & np.isfinite(solution).all(axis=1)))
    solution[failed] = _exactly(system, factors, failed)
    return solution


def not_positive_definite(row: int) -> ParameterError:
    """Return the error that names a row whose matrix cannot be factored."""
    return ParameterError(f"row {row} is not positive definite", "raise regularization")


def _exactly(system: RowSystem, factors: Array, chosen: Array) -> Array:
    """Solve the chosen rows in double precision, as many at once as fit into bounded memory."""
    width = factors.shape[1]
    wide = factors.astype(np.float64)
    right = _right_sides(system, wide)
    solution = np.empty((len(chosen), width))
    together = max(1, VALUES_AT_ONCE // width**2)
    for first in range(0, len(chosen), together):
        part = chosen[first : first + together]
        matrices = _matrices(system, wide, part, slice(None))
        solution[first : first + together] = _positive_solve(matrices, right[part], part)
    return solution


def _positive_solve(matrices: Array, right: Array, rows: Array) -> Array:
    nothing = ~(matrices.any(axis=(1, 2)) | right.any(axis=1))
    matrices[nothing] = np.eye(right.shape[1])
    for row, matrix in zip(rows, matrices, strict=True):
        if not _is_positive(matrix):
            raise not_positive_definite(row)
    solution: Array = np.linalg.solve(matrices, right[..., None])[..., 0]
    return solution


def _is_positive(matrix: Array) -> bool:
    try:
        pivots = np.diag(np.linalg.cholesky(matrix)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(np.all(pivots > SMALLEST_PIVOT * np.diag(matrix)))


def _matrices(system: RowSystem, factors: Array, chosen: Array, columns: slice) -> Array:
    """Return the chosen rows' H_x, restricted to some columns: (len(chosen), k, k)."""
    indptr, indices = system.rows.indptr, system.rows.indices
    weights = _per_entry(system.weights, len(indices), factors.dtype)
    gram = system.gram[columns, columns].astype(factors.dtype)
    a, ridge = (np.asarray(v)[chosen, None, None] for v in (system.background, system.regularization))
    matrices: Array = a * gram + ridge * np.eye(len(gram), dtype=factors.dtype)
    for matrix, x in zip(matrices, chosen, strict=True):
        entries = slice(indptr[x], indptr[x + 1])
        gathered = factors[indices[entries], columns]  # (n, k)
        matrix += gathered.T @ (weights[entries, None] * gathered)
    if system.tilt is not None:
        f, m = system.tilt.rows[chosen, columns], system.tilt.mean[columns]
        left = f + np.asarray(system.tilt.scales)[chosen, None] * m
        matrices -= left[:, :, None] * m + m[:, None] * f[:, None, :]
    return matrices


def _per_entry(values: ArrayLike, nnz: int, dtype: np.dtype[Any]) -> Array:
    return np.broadcast_to(np.asarray(values, dtype=dtype), (nnz,))


def _sum_entries(system: RowSystem, values: Array, factors: Array) -> Array:
    """Return Σ_{y ∈ row x} v_xy Q_y for every row."""
    shape = (system.rows.n_rows, system.rows.n_columns)
    product: Array = sparse.csr_array((values, system.rows.indices, system.rows.indptr), shape=shape) @ factors
    return product


def _right_sides(system: RowSystem, factors: Array) -> Array:
    right = _sum_entries(system, _per_entry(system.targets, system.rows.nnz, factors.dtype), factors)
    if system.offsets is not None and system.direction is not None:
        right += np.multiply.outer(np.asarray(system.offsets), system.direction)
    return right


def _scores(system: RowSystem, P: Array, factors: Array) -> Array:
    """Return P_x · Q_y for every entry, a bounded number at a time."""
    owner, indices = system.rows.row_of_entry(), system.rows.indices
    scores = np.empty(len(indices), dtype=factors.dtype)
    together = max(1, VALUES_AT_ONCE // factors.shape[1])
    for first in range(0, len(indices), together):
        part = slice(first, first + together)
        scores[part] = np.einsum("ek,ek->e", P[owner[part]], factors[indices[part]])
    return scores


def _dense_part(system: RowSystem, P: Array) -> Array:
    """Return (a_x G + λ_x I − f_x mᵀ − m f_xᵀ − s_x m mᵀ) P_x for every row."""
    a, ridge = np.asarray(system.background), np.asarray(system.regularization)
    product: Array = a[:, None] * (P @ system.gram) + ridge[:, None] * P
    if system.tilt is not None:
        f, m = system.tilt.rows, system.tilt.mean
        along_m = P @ m
        along_f = np.einsum("xk,xk->x", f, P) + np.asarray(system.tilt.scales) * along_m
        product -= f * along_m[:, None] + np.multiply.outer(along_f, m)
    return product


def _product(system: RowSystem, factors: Array, P: Array) -> Array:
    """Return H_x P_x for every row."""
    weights = _per_entry(system.weights, system.rows.nnz, factors.dtype)
    return _dense_part(system, P) + _sum_entries(system, weights * _scores(system, P, factors), factors)


def _diagonals(system: RowSystem, factors: Array) -> Array:
    weights = _per_entry(system.weights, system.rows.nnz, factors.dtype)
    diagonal: Array = np.multiply.outer(np.asarray(system.background), np.diag(system.gram))
    diagonal += np.asarray(system.regularization)[:, None] + _sum_entries(system, weights, factors**2)
    if system.tilt is not None:
        f, m, s = system.tilt.rows, system.tilt.mean, np.asarray(system.tilt.scales)
        diagonal -= m * (2 * f + np.multiply.outer(s, m))
    return diagonal


def _by_gradients(system: RowSystem, factors: Array, P: Array, steps: int) -> tuple[Array, Array]:
    """Return the rows after `steps` conjugate-gradient steps, and for which of them they are valid."""
    residual = _right_sides(system, factors) - _product(system, factors, P)
    diagonal = _diagonals(system, factors)
    good = np.all((diagonal > 0) | (residual == 0), axis=1)
    inverse = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    direction = inverse * residual
    norm = np.einsum("xk,xk->x", residual, direction)
    goal = norm * (1e-6 if factors.dtype == np.float32 else 1e-15) ** 2
    for _ in range(steps):
        image = _product(system, factors, direction)
        curvature = np.einsum("xk,xk->x", direction, image)
        moving = (norm > goal) & good
        good &= ~moving | (curvature > 0)
        length = np.divide(norm, curvature, out=np.zeros_like(norm), where=moving & good)
        P += length[:, None] * direction
        residual -= length[:, None] * image
        following = np.einsum("xk,xk->x", residual, inverse * residual)
        carry = np.divide(following, norm, out=np.zeros_like(norm), where=moving & good)
        direction = inverse * residual + carry[:, None] * direction
        norm = np.where(moving, following, norm)
    return P, good


def _by_blocks(system: RowSystem, factors: Array, P: Array, block: int) -> tuple[Array, Array]:
    """Return the rows after one sweep over their blocks, and on which of them every block was positive definite."""
    width = factors.shape[1]
    weights = _per_entry(system.weights, system.rows.nnz, factors.dtype)
    good = np.ones(len(P), dtype=np.bool_)
    right = _right_sides(system, factors)
    for first in range(0, width, block):
        columns = slice(first, first + block)
        entries = _sum_entries(system, weights * _scores(system, P, factors), factors[:, columns])
        residual = right[:, columns] - _dense_part(system, P)[:, columns] - entries
        together = max(1, VALUES_AT_ONCE // residual.shape[1] ** 2)
        for start in range(0, len(P), together):
            part = np.arange(start, min(start + together, len(P)))
            matrices = _matrices(system, factors, part, columns).astype(np.float64)
            positive = np.array([_is_positive(matrix) for matrix in matrices])
            matrices[~positive] = np.eye(matrices.shape[1])
            P[part, columns] += np.linalg.solve(matrices, residual[part, :, None])[..., 0].astype(P.dtype)
            good[part] &= positive
    return P, good
