"""Squared error with a weight of its own for every observed pair, over a background of rank one.

With o_xy = P_x · Q_y all objectives of this form are

    L = Σ_all a_x b_y (s o_xy² + 2 h o_xy) + Σ_observed (e_xy o_xy² − 2 t_xy o_xy) + constant
        + Σ_x λ_x ‖P_x‖² + Σ_y λ_y ‖Q_y‖²

| objective | written as | a_x b_y | s | h | e_xy | t_xy | λ_x |
|---|---|---|---|---|---|---|---|
| WRMF (Hu et al. 2008) | Σ (1 + α r)(o − 1)² on observed, Σ o² elsewhere | 1 | 1 | 0 | α r | 1 + α r | λ |
| iALS (Rendle et al. 2022) | Σ_observed r (o − 1)² + w₀ Σ_all o² | w₀ | 1 | 0 | r | r | λ (n_x + w₀ N)^ν |

and sampled RG² (`objectives.sampled`) and the released code of the RG papers (`objectives.released`). n_x is the number
of interactions of x; items likewise with n_y and M. Weights vary by cell, so every row has a K × K system of its own:

    (s a_x Qᵀ diag(b) Q + Σ_y e_xy Q_yQ_yᵀ + λ_x I) P_x = Σ_y t_xy Q_y − h a_x Qᵀb        (`solvers.row_als`)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import is_finite
from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import RowSystem, gram, nonzero_scores
from taylorank.kernels.arrays import as_double, device_rows, inner, like

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ItemSums:
    """What the systems of all users share: Qᵀ diag(b) Q and Qᵀb. It outlives the users of one objective."""

    gram: NDArray[np.float64]  # (K, K)
    direction: Floats  # (K,)

    @classmethod
    def of(cls, item_factors: Floats, weights: NDArray[np.float64]) -> ItemSums:
        """Sum over the rows of Q with weights b."""
        return cls(weighted_gram(item_factors, weights), like(item_factors, weights) @ item_factors)


@dataclass(frozen=True, eq=False)
class Weighted:
    """L above; `extra` and `targets` belong to the entries of `by_user`, or are one number for all."""

    solvers: ClassVar[tuple[str, ...]] = ("row_als",)  # weights by cell: a matrix for every row

    by_user: CSR
    user_background: NDArray[np.float64]  # a, (M,)
    item_background: NDArray[np.float64]  # b, (N,)
    extra: Floats | float  # e, (nnz,)
    targets: Floats | float  # t, (nnz,)
    user_penalty: NDArray[np.float64]  # λ_x, (M,)
    item_penalties: NDArray[np.float64] | Callable[[], NDArray[np.float64]]  # λ_y, (N,), or what computes them
    constant: float  # the loss of zero factors
    curvature: float = 1.0  # s
    slope: float = 0.0  # h

    def on(self, device: str | None) -> Weighted:
        """Return the same objective with its pairs as tensors on a device of torch; None: as it is."""
        if device is None:
            return self
        rows = device_rows(without_weights(self.by_user), device)
        extra, targets = (to_device(values, rows) for values in (self.extra, self.targets))
        return replace(self, by_user=rows, extra=extra, targets=targets)

    @cached_property
    def item_penalty(self) -> NDArray[np.float64]:
        """λ_y, (N,); the systems of users do without, so that folding in one user does not cost O(N)."""
        return self.item_penalties() if callable(self.item_penalties) else self.item_penalties

    @cached_property
    def transposed(self) -> Weighted:
        """The same objective with users and items exchanged."""
        rows = without_weights(self.by_user).transpose()
        extra, targets = (_by_column(self.by_user, values) for values in (self.extra, self.targets))
        return Weighted(
            rows,
            self.item_background,
            self.user_background,
            extra,
            targets,
            self.item_penalty,
            self.user_penalty,
            self.constant,
            self.curvature,
            self.slope,
        )

    def prepare(self) -> None:
        """Make the transpose, which both sides need."""
        _ = self.transposed

    def item_sums(self, item_factors: Floats) -> ItemSums:
        """Return the sums over all items that the systems of the users need."""
        return ItemSums.of(item_factors, self.item_background)

    def user_system(self, item_factors: Floats, sums: ItemSums | None = None) -> RowSystem:
        """Return the systems of all P_x, given Q; `sums` over Q, where they are known already."""
        sums = sums or self.item_sums(item_factors)
        direction = sums.direction if self.slope else None
        return RowSystem(
            self.by_user,
            sums.gram,
            self.curvature * self.user_background,
            self.user_penalty,
            weights=self.extra,
            targets=self.targets,
            offsets=None if direction is None else -self.slope * self.user_background,
            direction=direction,
        )

    def item_system(self, user_factors: Floats, start: Floats | None = None) -> RowSystem:
        """Return the systems of all Q_y, given P; they do not depend on where Q starts."""
        return self.transposed.user_system(user_factors)

    def loss(self, user_factors: Floats, item_factors: Floats) -> float:
        """Return L exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        P, Q = as_double(user_factors), as_double(item_factors)
        o = nonzero_scores(self.by_user, P, item_factors=Q)
        a, b = like(P, self.user_background), like(Q, self.item_background)
        squares = weighted_gram(P, self.user_background), weighted_gram(Q, self.item_background)
        everywhere = self.curvature * inner(*squares)
        everywhere += 2 * self.slope * float((a @ P) @ (b @ Q))
        observed = float((self.extra * o**2).sum() - 2 * (self.targets * o).sum())
        penalty = like(P, self.user_penalty) @ (P**2).sum(1) + like(Q, self.item_penalty) @ (Q**2).sum(1)
        return self.constant + everywhere + observed + float(penalty)


def without_weights(rows: CSR) -> CSR:
    """Return the pairs alone."""
    return replace(rows, weights=None)


def to_device(values: Floats | float, rows: Any) -> Any:
    """Return values per entry where the rows are; one number for all as it is."""
    return values if np.ndim(values) == 0 else like(rows.indices, values, dtype="float32")


def _by_column(rows: CSR, values: Floats | float) -> Floats | float:
    if isinstance(values, (int, float)) or values.ndim == 0:
        return values
    transposed = replace(rows, weights=values).transpose().weights
    assert transposed is not None
    return transposed


def weighted_gram(factors: Floats, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fᵀ diag(w) F, summed in float64."""
    if len(weights) and np.all(weights == weights[0]):
        return float(weights[0]) * gram(factors)
    return gram(factors * like(factors, np.sqrt(weights))[:, None])


def wrmf_objective(data: Interactions, *, alpha: float, regularization: float) -> Weighted:
    """Return Σ w (o − p)² + λ (‖P‖² + ‖Q‖²) with w = 1 + α r on observed pairs."""
    check_weighted(data, alpha=alpha, regularization=regularization)
    strengths = strengths_of(data)
    return Weighted(
        data.by_user,
        np.ones(data.n_users),
        np.broadcast_to(np.float64(1), data.n_items),
        alpha * strengths,
        1 + alpha * strengths,
        np.full(data.n_users, float(regularization)),
        np.broadcast_to(np.float64(regularization), data.n_items),
        data.nnz + alpha * float(data.strengths.sum(dtype=np.float64)),
    )


def ials_objective(data: Interactions, *, unobserved_weight: float, regularization: float, nu: float) -> Weighted:
    """Return Σ_observed r (o − 1)² + w₀ Σ_all o² + frequency-scaled penalties."""
    check_weighted(data, unobserved_weight=unobserved_weight, regularization=regularization, nu=nu)
    strengths = strengths_of(data)
    unobserved_weight = float(unobserved_weight)  # NumPy refuses integers of more than 64 bits
    per_user = data.by_user.row_lengths + unobserved_weight * data.n_items

    def item_penalties() -> NDArray[np.float64]:
        per_item = np.bincount(data.by_user.indices, minlength=data.n_items) + unobserved_weight * data.n_users
        return regularization * _power(per_item, nu)

    return Weighted(
        data.by_user,
        np.full(data.n_users, float(unobserved_weight)),
        np.broadcast_to(np.float64(1), data.n_items),
        strengths,
        strengths,
        regularization * _power(per_user, nu),
        item_penalties,
        float(data.strengths.sum(dtype=np.float64)),
    )


def _power(counts: Floats, exponent: float) -> NDArray[np.float64]:
    """counts^ν; ν = 1, the default, costs nothing."""
    values: NDArray[np.float64] = counts.astype(np.float64) if exponent == 1 else counts.astype(np.float64) ** exponent
    return values


def strengths_of(data: Interactions) -> Floats | float:
    """Return r of every entry, or 1 where all are."""
    return 1.0 if data.is_binary else np.array(data.strengths, dtype=np.float32)


def check_weighted(data: Interactions, **values: float) -> None:
    """Refuse data without interactions and parameters that are not numbers ≥ 0."""
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    for name, value in values.items():
        if not (is_finite(value) and value >= 0):
            raise ParameterError(f"{name}={value} is not a number ≥ 0", "raise it")
