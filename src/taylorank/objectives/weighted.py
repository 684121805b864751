"""WRMF and iALS: squared error with more weight on what was observed.

Both are, with o_xy = P_x · Q_y,

    L = b Σ_all o_xy² + Σ_observed (e_xy o_xy² − 2 t_xy o_xy + t_xy) + Σ_x λ_x ‖P_x‖² + Σ_y λ_y ‖Q_y‖²

| objective | written as | b | e_xy | t_xy | λ_x |
|---|---|---|---|---|---|
| WRMF (Hu et al. 2008) | Σ (1 + α r)(o − 1)² on observed, Σ o² elsewhere | 1 | α r | 1 + α r | λ |
| iALS (Rendle et al. 2022) | Σ_observed r (o − 1)² + w₀ Σ_all o² | w₀ | r | r | λ (n_x + w₀ N)^ν |

n_x is the number of interactions of x; items likewise with n_y and M. Weights vary by cell, so every row has a K × K
system of its own (`solvers.row_als`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import nonzero_scores

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Weighted:
    """L above; `extra` and `targets` belong to the entries of `by_user`."""

    by_user: CSR
    background: float  # b
    extra: Floats  # e, (nnz,)
    targets: Floats  # t, (nnz,)
    user_penalty: NDArray[np.float64]  # λ_x, (M,)
    item_penalty: NDArray[np.float64]  # λ_y, (N,)

    @cached_property
    def transposed(self) -> Weighted:
        """The same objective with users and items exchanged."""
        extra, targets = (
            CSR(self.by_user.indptr, self.by_user.indices, values, self.by_user.n_columns).transpose()
            for values in (self.extra, self.targets)
        )
        assert extra.weights is not None
        assert targets.weights is not None
        rows = CSR(extra.indptr, extra.indices, None, extra.n_columns)
        return Weighted(rows, self.background, extra.weights, targets.weights, self.item_penalty, self.user_penalty)

    def loss(self, user_factors: Floats, item_factors: Floats) -> float:
        """Return L exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        P, Q = user_factors.astype(np.float64), item_factors.astype(np.float64)
        o = nonzero_scores(self.by_user, P, item_factors=Q)
        everywhere = self.background * float(np.vdot(P.T @ P, Q.T @ Q))
        observed = float(self.extra @ o**2 - 2 * (self.targets @ o) + self.targets.sum(dtype=np.float64))
        penalty = self.user_penalty @ (P**2).sum(axis=1) + self.item_penalty @ (Q**2).sum(axis=1)
        return everywhere + observed + float(penalty)


def wrmf_objective(data: Interactions, *, alpha: float, regularization: float) -> Weighted:
    """Return Σ w (o − p)² + λ (‖P‖² + ‖Q‖²) with w = 1 + α r on observed pairs."""
    _check(data, alpha=alpha, regularization=regularization)
    strengths = data.strengths.astype(np.float32)
    return Weighted(
        data.by_user,
        1.0,
        alpha * strengths,
        1 + alpha * strengths,
        np.full(data.n_users, float(regularization)),
        np.full(data.n_items, float(regularization)),
    )


def ials_objective(data: Interactions, *, unobserved_weight: float, regularization: float, nu: float) -> Weighted:
    """Return Σ_observed r (o − 1)² + w₀ Σ_all o² + frequency-scaled penalties."""
    _check(data, unobserved_weight=unobserved_weight, regularization=regularization, nu=nu)
    strengths = np.array(data.strengths, dtype=np.float32)
    per_user = data.by_user.row_lengths + unobserved_weight * data.n_items
    per_item = np.bincount(data.by_user.indices, minlength=data.n_items) + unobserved_weight * data.n_users
    return Weighted(
        data.by_user,
        float(unobserved_weight),
        strengths,
        strengths,
        regularization * per_user.astype(np.float64) ** nu,
        regularization * per_item.astype(np.float64) ** nu,
    )


def _check(data: Interactions, **values: float) -> None:
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    for name, value in values.items():
        if not (np.isfinite(value) and value >= 0):
            raise ParameterError(f"{name}={value} is not a number ≥ 0", "raise it")
