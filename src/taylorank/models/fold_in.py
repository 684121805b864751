"""The vector of a user from a history, for given item factors: exact, and nothing is refitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.data import CSR, Interactions
from taylorank.data.recency import faded
from taylorank.data.units import in_units
from taylorank.kernels import ItemVectors, RowSystem, gather_sum, row_solve
from taylorank.objectives import ItemSums
from taylorank.objectives.rg import context_weights
from taylorank.solvers.plain_als import ridge_rows
from taylorank.solvers.row_als import RowObjective

Floats = NDArray[Any]
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class SharedFoldIn:
    """P_x = a_x (Σ_y r_xy Q_y / I_x − qᵀQ) B with B = (Qᵀ diag(q) Q + λ I)⁻¹: one matrix for all users.

    a_x = c_x / (c_x + κ), c_x = I_x^ρ, and with κ the penalty of x is λ (c_x + κ). Without history P_x = 0.
    """

    items: ItemVectors  # Q, (N, K)
    proposal: NDArray[np.float64]  # q, (N,)
    penalty: float  # λ
    context_exponent: float  # ρ
    score_penalty: float  # κ
    interacts: bool = False  # RG×; matters under a plain penalty alone
    unit: float = 1.0  # in which the strengths of the training data were measured
    half_life: float | None = None  # with which strengths fade, where a history has times

    @property
    def item_factors(self) -> Floats:
        """Q in host memory."""
        return self.items.factors

    @cached_property
    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """qᵀQ and Qᵀ diag(q) Q; computed at the first fold-in."""
        width = self.item_factors.shape[1]
        centre, gram = np.zeros(width), np.zeros((width, width))
        for start in range(0, len(self.item_factors), BLOCK_ROWS):
            Q = self.item_factors[start : start + BLOCK_ROWS].astype(np.float64)
            q = self.proposal[start : start + BLOCK_ROWS]
            centre += q @ Q
            gram += (Q * q[:, None]).T @ Q
        return centre, gram

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        """B."""
        gram = self.sums[1]
        inverse: NDArray[np.float64] = linalg.pinvh(gram + self.penalty * np.eye(len(gram)))
        return inverse

    def solved(self, right: NDArray[np.float64], context: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row of `right` times B of a user whose c_x + κ is in `context`."""
        return right @ self._inverse

    def rows(self, histories: Interactions) -> Floats:
        """Return P of each user, (B, K)."""
        histories = self.measured(histories)
        totals, shrinkage, context = self.weights(histories)
        scale = np.divide(shrinkage, totals, out=np.zeros_like(totals), where=totals > 0)
        rows, Q = used_items(histories.by_user, self.item_factors)
        right = gather_sum(rows, Q.astype(np.float64)) * scale[:, None] - np.outer(shrinkage, self.sums[0])
        P: Floats = self.solved(right, context).astype(self.item_factors.dtype)
        return P

    def contributions(self, history: Interactions, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """a_x (r_j / I_x) (Q_j − qᵀQ) B v, (n,)."""
        history = self.measured(history)
        strengths = history.strengths.astype(np.float64)
        _, shrinkage, context = self.weights(history)
        shares = shrinkage * strengths / strengths.sum()
        Q = self.item_factors[history.by_user.indices].astype(np.float64)
        added: NDArray[np.float64] = shares * ((Q - self.sums[0]) @ self.solved(vector[None], context)[0])
        return added

    def measured(self, histories: Interactions) -> Interactions:
        """Return the histories in units of the training data, faded as that was."""
        histories = in_units(histories, self.unit)
        if self.half_life is None or histories.timestamps is None:
            return histories
        return faded(histories, self.half_life)

    def weights(self, data: Interactions) -> tuple[NDArray[np.float64], ...]:
        """I_x, a_x and c_x + κ; all 0 without history."""
        totals, c = context_weights(data, self.context_exponent)
        context = np.where(c > 0, c + self.score_penalty, 0.0)
        return totals, np.divide(c, context, out=np.zeros_like(c), where=c > 0), context


@dataclass(frozen=True, eq=False)
class PlainFoldIn(SharedFoldIn):
    """The same under ½ (λ/N) (‖P‖² + ‖Q‖²): B_x = (Qᵀ diag(q) Q + λ / (N (c_x + κ)) I)⁻¹, from one eigendecomposition.

    RG× has the Gram matrix less (Qᵀq)(Qᵀq)ᵀ, which is 0 where the proposal is uniform.
    """

    def solved(self, right: NDArray[np.float64], context: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row of `right` times B_x."""
        centre, gram = self.sums
        square = gram - np.outer(centre, centre) if self.interacts else gram
        ridges = self.penalty / (len(self.proposal) * np.where(context > 0, context, 1.0))
        solved: NDArray[np.float64] = ridge_rows(right, square, ridges)
        return solved


class RowFoldIn:
    """P_x = H_x⁻¹ b_x, a system for each row (see `objectives.weighted`); its sums over all items are kept."""

    def __init__(self, items: ItemVectors, objective: Callable[[Interactions], RowObjective]) -> None:
        self.items, self.objective = items, objective
        self._sums: ItemSums | None = None

    @property
    def item_factors(self) -> Floats:
        """Q in host memory."""
        return self.items.factors

    def _system(self, data: Interactions) -> RowSystem:
        objective = self.objective(data)
        if self._sums is None:
            self._sums = objective.item_sums(self.item_factors)
        return objective.user_system(self.item_factors, self._sums)

    def rows(self, histories: Interactions) -> Floats:
        """Return P of each user, (B, K)."""
        if not histories.nnz:
            return np.zeros((histories.n_users, self.item_factors.shape[1]), dtype=self.item_factors.dtype)
        system = self._system(histories)
        rows, Q = used_items(system.rows, self.item_factors)
        return row_solve(replace(system, rows=rows), Q, method="cholesky")

    def contributions(self, history: Interactions, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """(t_j Q_j + share_j h g) · H⁻¹ v, (n,); what belongs to no item is shared by strength."""
        strengths = history.strengths.astype(np.float64)
        return row_contributions(
            self._system(history), self.item_factors, vector=vector, shares=strengths / strengths.sum()
        )


def used_items(rows: CSR, factors: Floats) -> tuple[CSR, Floats]:
    """Return the rows over only the items that occur in them, and the factors of these items."""
    if 2 * rows.nnz > len(factors):
        return rows, factors
    items, positions = np.unique(rows.indices, return_inverse=True)
    return CSR(rows.indptr, positions.astype(np.int32), rows.weights, len(items)), factors[items]


def row_contributions(
    system: RowSystem, factors: Floats, *, vector: NDArray[np.float64], shares: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return (n,) with sum P_x · v for a system of one row: (t_j Q_j + share_j h g) · H⁻¹ v, H being symmetric.

    `shares` (n,), which sum to 1, divide the part h g of the right side that belongs to no entry (default: equally).

    >>> Q = np.array([[1.0], [2.0]])
    >>> rows = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> system = RowSystem(rows, Q.T @ Q, background=0.0, regularization=5.0)
    >>> row_contributions(system, Q, vector=np.array([1.0]))  # 1/(1 + 4 + 5), 2/(1 + 4 + 5)
    array([0.1, 0.2])
    """
    chosen = factors[system.rows.indices].astype(np.float64)  # (n, K)
    w, t = (np.broadcast_to(np.asarray(v, dtype=np.float64), len(chosen)) for v in (system.weights, system.targets))
    a, ridge = (float(np.ravel(value)[0]) for value in (system.background, system.regularization))
    H = a * system.gram + (chosen * w[:, None]).T @ chosen + ridge * np.eye(chosen.shape[1])
    if system.tilt is not None:
        f, m = system.tilt.rows[0], system.tilt.mean
        H -= np.outer(f, m) + np.outer(m, f) + float(np.ravel(system.tilt.scales)[0]) * np.outer(m, m)
    solved = linalg.pinvh(H) @ vector  # without a penalty, and with fewer entries than factors, H has no inverse
    added: NDArray[np.float64] = t * (chosen @ solved)
    if system.offsets is not None and system.direction is not None:
        shares = np.full(len(chosen), 1 / max(len(chosen), 1)) if shares is None else shares
        added = added + shares * float(np.ravel(system.offsets)[0]) * float(system.direction @ solved)
    return added
