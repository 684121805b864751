"""The linear systems of weighted alternating least squares: one K×K system per row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels.checked import checked_array, checked_indices
from taylorank.kernels.small_products import small_product


@dataclass(frozen=True, eq=False)
class Tilt:
    """The rank-two part − f_x mᵀ − m f_xᵀ − s_x m mᵀ of sampled RG×: F (n_rows, K), m (K,), s (n_rows,)."""

    rows: NDArray[Any]
    mean: NDArray[Any]
    scales: ArrayLike


@dataclass(frozen=True, eq=False)
class RowSystem:
    """H_x = a_x G + Σ_{y ∈ row x} w_xy Q_y Q_yᵀ + λ_x I [− f_x mᵀ − m f_xᵀ − s_x m mᵀ], b_x = Σ t_xy Q_y + h_x g.

    `rows` holds the entries (its own weights are not used), `gram` is G (K, K), symmetric. One value per row, or
    one for all: `background` a, `regularization` λ, `offsets` h. One value per entry in the order of
    `rows.indices`, or one for all: `weights` w, `targets` t. `direction` is g (K,). The values of Q come with the
    call, as they change in every sweep.

    iALS, for example, has G = QᵀQ, a = w₀, w = t = 1; WRMF with strengths r has a = 1, w = α r, t = 1 + α r.
    """

    rows: CSR
    gram: NDArray[Any]
    background: ArrayLike
    regularization: ArrayLike
    weights: ArrayLike = 1.0
    targets: ArrayLike = 1.0
    offsets: ArrayLike | None = None
    direction: NDArray[Any] | None = None
    tilt: Tilt | None = None


def checked_system(system: RowSystem, width: int, dtype: np.dtype[Any]) -> RowSystem:
    """Return the system with every array of the given type, contiguous, finite and of the right shape."""
    indptr, indices = checked_indices(system.rows)
    rows = CSR(indptr, indices, None, system.rows.n_columns)
    n_rows = max(rows.n_rows, 0)
    if (system.offsets is None) != (system.direction is None):
        raise ParameterError("offsets and direction go together", "pass both or neither")
    return replace(
        system,
        rows=rows,
        gram=_checked_gram(system.gram, width, dtype),
        background=_per_row(system.background, n_rows, name="background", dtype=dtype),
        regularization=_per_row(system.regularization, n_rows, name="regularization", dtype=dtype),
        weights=_per_entry(system.weights, rows.nnz, name="weights", dtype=dtype),
        targets=_per_entry(system.targets, rows.nnz, name="targets", dtype=dtype),
        offsets=None if system.offsets is None else _per_row(system.offsets, n_rows, name="offsets", dtype=dtype),
        direction=None
        if system.direction is None
        else checked_array(system.direction, (width,), name="direction", dtype=dtype),
        tilt=None if system.tilt is None else _checked_tilt(system.tilt, n_rows, width, dtype),
    )


def _per_row(values: ArrayLike, n_rows: int, *, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.full(n_rows, array)
    return checked_array(array, (n_rows,), name=name, dtype=dtype)


def _per_entry(values: ArrayLike, nnz: int, *, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.asarray(values)
    return checked_array(array, () if array.ndim == 0 else (nnz,), name=name, dtype=dtype).reshape(array.shape)


def _checked_gram(gram: NDArray[Any], width: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    array = checked_array(gram, (width, width), name="gram", dtype=dtype)
    largest = np.abs(array).max(initial=0)
    if np.abs(array - array.T).max(initial=0) > 1e-3 * largest:
        raise ParameterError("gram is not symmetric", "pass factors.T @ factors, weighted if need be")
    return array


def _checked_tilt(tilt: Tilt, n_rows: int, width: int, dtype: np.dtype[Any]) -> Tilt:
    return Tilt(
        checked_array(tilt.rows, (n_rows, width), name="tilt rows", dtype=dtype),
        checked_array(tilt.mean, (width,), name="tilt mean", dtype=dtype),
        _per_row(tilt.scales, n_rows, name="tilt scales", dtype=dtype),
    )


def rotated(system: RowSystem, basis: NDArray[Any], eigenvalues: NDArray[Any], *, threads: int) -> RowSystem:
    """Return the system of Vᵀ P_x where G = V Λ Vᵀ: the same but for a diagonal G; `basis` is V."""
    tilt, direction = system.tilt, system.direction
    return replace(
        system,
        gram=np.diag(eigenvalues).astype(system.gram.dtype),
        direction=None if direction is None else direction @ basis,
        tilt=None
        if tilt is None
        else Tilt(small_product(tilt.rows, basis, threads=threads), tilt.mean @ basis, tilt.scales),
    )
