"""The global optimum of RG² for every λ and every K at once: one SVD, soft-thresholded.

    P'Q'ᵀ = U_K (Σ_K − τ)₊ V_Kᵀ,   τ = λ √C,   P = c^-½ U D^½ C^¼,   Q = q^-½ V D^½ C^-¼,   D = (Σ_K − τ)₊

The split of D between the two sides is the one that ALS reaches. Under the plain penalty ½ (λ/N) (‖P‖² + ‖Q‖²), which
has this solution where c and q are constant, τ = λ / (N √(cq)), P = (cq)^-¼ U D^½ and Q = (cq)^-¼ V D^½.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels.arrays import like, scaled_rows, to_device
from taylorank.objectives import RG
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.filtered import basis_size
from taylorank.solvers.needs import check_allowed
from taylorank.solvers.svd import Progress, Svd, SvdState, truncated_svd

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SpectralPath:
    """The SVD of S' and the scales that turn a thresholded part of it into factors."""

    svd: Svd
    proposal: NDArray[np.float64]
    context: NDArray[np.float64]
    plain_weight: float | None = None  # cq, where the penalty is plain

    @property
    def largest(self) -> float:
        """σ₁, which τ is measured against."""
        return float(self.svd.values[0])

    def penalty(self, regularization: float) -> float:
        """λ of the loss for `regularization` = τ / σ₁; a plain penalty has it as it is."""
        if self.plain_weight is not None:
            return regularization
        return regularization * self.largest / float(np.sqrt(self.context.sum()))

    def threshold(self, regularization: float) -> float:
        """τ = `regularization` · σ₁; for a plain penalty, whose λ it is, λ / (N √(cq))."""
        if self.plain_weight is not None:
            return regularization / (len(self.proposal) * float(np.sqrt(self.plain_weight)))
        return regularization * self.largest

    def factors(self, count: int, regularization: float) -> tuple[Floats, Floats]:
        """Return (P, Q) of rank `count` for this τ; empty contexts have P_x = 0."""
        if not 1 <= count <= len(self.svd.values):
            raise ParameterError(f"factors={count}", f"choose 1 to {len(self.svd.values)}, what was fitted")
        root = np.sqrt(np.maximum(self.svd.values[:count] - self.threshold(regularization), 0.0))
        left, right = self.svd.left, self.svd.right
        per_user, per_item = self._scales
        P = left[:, :count] * like(left, root) * per_user[:, None]
        Q = right[:, :count] * like(right, root) * per_item[:, None]
        return P, Q

    @cached_property
    def _scales(self) -> tuple[Floats, Floats]:
        """c^-½ C^¼, 0 for an empty context, and q^-½ C^-¼, where the singular vectors are."""
        balance, weight = self._balance(), np.sqrt(self.context)
        per_user = np.divide(balance, weight, out=np.zeros_like(weight), where=weight > 0)
        return like(self.svd.left, per_user), like(self.svd.right, 1 / (balance * np.sqrt(self.proposal)))

    def _balance(self) -> float:
        """C^¼, or for a plain penalty (c/q)^¼: what √c P and √q Q differ by."""
        if self.plain_weight is None:
            return float(self.context.sum() ** 0.25)
        return float((self.context.max() / self.proposal[0]) ** 0.25)


def solve_spectral(
    objective: RG,
    factors: int,
    *,
    tolerance: float = 1e-5,
    max_passes: int | None = None,
    start: SvdState | None = None,
    random_state: int = 0,
    callback: Callable[[Progress], object] | None = None,
    device: str | None = None,
) -> SpectralPath:
    """Decompose S' once; `factors(K, regularization)` of the result is the optimum for any K ≤ `factors`.

    `device` is a device of torch to compute on, and where the result stays; None: NumPy.
    """
    check_allowed(objective, "spectral")
    svd = truncated_svd(
        scaled_matrix(objective, device=device, factors=factors),
        factors,
        tolerance=tolerance,
        max_passes=max_passes,
        start=start,
        random_state=random_state,
        callback=callback,
    )
    plain_weight = objective.constant_weight if objective.penalised == "plain" else None
    return SpectralPath(svd, objective.proposal, objective.context, plain_weight)


def scaled_matrix(objective: RG, *, device: str | None = None, factors: int = 1) -> CentredMatrix:
    """S' = B − a √c √qᵀ as a product, of NumPy's arrays or of tensors on a device.

    `factors` is the rank that a solver wants: a device that cannot hold the data beside its work has B stream through.
    """
    left, right = objective.centre, np.sqrt(objective.proposal)
    if device is None:
        dtype = objective.row_scale.dtype
        return CentredMatrix(objective.by_user, objective.by_item, left.astype(dtype), right.astype(dtype))
    by_row, by_column = (to_device(part, device) for part in (objective.row_scale, objective.column_scale))
    room = working_bytes(objective.rows.n_rows, objective.rows.n_columns, factors)
    rows, columns = scaled_rows(objective.rows, by_row, by_column, room=room)
    return CentredMatrix(rows, columns, like(by_row, left), like(by_row, right))


def working_bytes(n_rows: int, n_columns: int, factors: int) -> int:
    """Return about how many bytes the solvers hold on a device at rank `factors`, in float32.

    A block of a few more columns than K: up to two of the longer side, six of the shorter one, and Gram matrices.
    """
    width = basis_size(factors)
    longer, shorter = max(n_rows, n_columns), min(n_rows, n_columns)
    return 4 * width * (2 * longer + 6 * shorter) + 32 * width**2


def unscaled(objective: RG, P: Floats, Q: Floats, in_place: bool) -> tuple[Floats, Floats]:
    """Return (P, Q) from P' = √c P and Q' = √q Q; an empty context has P' = 0."""
    weight = np.sqrt(objective.context)
    scale = like(P, np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0))[:, None]
    if in_place:
        P *= scale
    users = P if in_place else P * scale
    return users, Q / like(Q, np.sqrt(objective.proposal))[:, None]
