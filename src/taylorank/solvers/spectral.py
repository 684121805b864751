"""The global optimum of RG² for every λ and every K at once: one SVD, soft-thresholded.

    P'Q'ᵀ = U_K (Σ_K − τ)₊ V_Kᵀ,   τ = λ √C,   P = c^-½ U D^½ C^¼,   Q = q^-½ V D^½ C^-¼,   D = (Σ_K − τ)₊

The split of D between the two sides is the one that ALS reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.objectives import RG
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.needs import check_allowed
from taylorank.solvers.svd import Progress, Svd, SvdState, truncated_svd

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SpectralPath:
    """The SVD of S' and the scales that turn a thresholded part of it into factors."""

    svd: Svd
    proposal: NDArray[np.float64]
    context: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """σ₁, which τ is measured against."""
        return float(self.svd.values[0])

    def penalty(self, regularization: float) -> float:
        """λ of the loss for `regularization` = τ / σ₁."""
        return regularization * self.largest / float(np.sqrt(self.context.sum()))

    def factors(self, count: int, regularization: float) -> tuple[Floats, Floats]:
        """Return (P, Q) of rank `count` for τ = `regularization` · σ₁; empty contexts have P_x = 0."""
        if not 1 <= count <= len(self.svd.values):
            raise ParameterError(f"factors={count}", f"choose 1 to {len(self.svd.values)}, what was fitted")
        shrunk = np.maximum(self.svd.values[:count] - regularization * self.largest, 0.0)
        root = np.sqrt(shrunk)
        balance = float(self.context.sum()) ** 0.25
        dtype = self.svd.left.dtype
        weight = np.sqrt(self.context)
        per_user = np.divide(balance, weight, out=np.zeros_like(weight), where=weight > 0)
        per_item = 1 / (balance * np.sqrt(self.proposal))
        P = self.svd.left[:, :count] * root.astype(dtype) * per_user[:, None].astype(dtype)
        Q = self.svd.right[:, :count] * root.astype(dtype) * per_item[:, None].astype(dtype)
        return P, Q


def solve_spectral(
    objective: RG,
    factors: int,
    *,
    tolerance: float = 1e-2,
    max_passes: int | None = None,
    start: SvdState | None = None,
    random_state: int = 0,
    callback: Callable[[Progress], object] | None = None,
) -> SpectralPath:
    """Decompose S' once; `factors(K, regularization)` of the result is the optimum for any K ≤ `factors`."""
    check_allowed(objective, "spectral")
    svd = truncated_svd(
        scaled_matrix(objective),
        factors,
        tolerance=tolerance,
        max_passes=max_passes,
        start=start,
        random_state=random_state,
        callback=callback,
    )
    return SpectralPath(svd, objective.proposal, objective.context)


def scaled_matrix(objective: RG) -> CentredMatrix:
    """S' = B − a √c √qᵀ as a product."""
    assert objective.by_user.weights is not None
    dtype = objective.by_user.weights.dtype
    left, right = objective.centre.astype(dtype), np.sqrt(objective.proposal).astype(dtype)
    return CentredMatrix(objective.by_user, objective.by_item, left, right)
