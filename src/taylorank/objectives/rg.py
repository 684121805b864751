"""RG² and RG×: softmax loss, expanded to second order at zero scores, under a proposal.

With o_xy = P_x · Q_y, I_x = Σ_y r_xy, c_x = I_x^ρ, C = Σ_x c_x, q_y ∝ max(Σ_x r_xy, 1)^γ, and the q-centred targets
s_xy = r_xy / (I_x q_y) − 1:

    RG² :  Σ_x (c_x/2) Σ_y q_y (o_xy − s_xy)²                     + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖²
    RG× :  Σ_x (c_x/2) [ Σ_y q_y (o_xy − s_xy)² − (q · o_x)² ]    + the same

γ = 0 and ρ = 1 are the papers' losses; γ = ρ = 1 is correspondence analysis. At the unconstrained optimum
o = p(y | x) / q_y − 1, so q_y (1 + o_xy) is the probability of y and ranks consistently with DCG.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import gather_sum

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RG:
    """What RG² and RG× share: the data scaled to S' = diag(√c / I) R diag(1/√q) − √c √qᵀ.

    In P' = √c P and Q' = √q Q the loss is ½ ‖S' − P'Q'ᵀ‖² + ½ λ (‖P'‖² + C ‖Q'‖²): an ordinary factorisation, whose
    global optimum is a soft-thresholded SVD (`solvers.spectral`) and whose ALS steps share one matrix
    (`solvers.als`).
    """

    by_user: CSR  # √c_x r_xy / (I_x √q_y)
    proposal: NDArray[np.float64]  # q, (N,)
    context: NDArray[np.float64]  # c, (M,)

    @cached_property
    def by_item(self) -> CSR:
        """The same entries by item."""
        return self.by_user.transpose()

    @property
    def context_total(self) -> float:
        """C = Σ_x c_x."""
        return float(self.context.sum())

    @cached_property
    def squared_norm(self) -> float:
        """‖S'‖² = ‖B‖² − C for S' = B − √c √qᵀ, because √cᵀ B √q = C. Twice the loss at P = Q = 0."""
        assert self.by_user.weights is not None
        entries = self.by_user.weights.astype(np.float64)
        return float(entries @ entries) - self.context_total

    def gain(self, user_factors: Floats, item_factors: Floats) -> float:
        """Return Σ_x c_x Σ_y q_y (s_xy o_xy − ½ o_xy²), the decrease of RG² from zero scores, through Grams."""
        P = np.sqrt(self.context)[:, None] * user_factors.astype(np.float64)
        Q = np.sqrt(self.proposal)[:, None] * item_factors.astype(np.float64)
        linear = np.vdot(P, gather_sum(self.by_user, Q))
        linear -= (np.sqrt(self.context) @ P) @ (np.sqrt(self.proposal) @ Q)
        return float(linear - 0.5 * np.vdot(P.T @ P, Q.T @ Q))

    def penalty(self, user_factors: Floats, item_factors: Floats, regularization: float) -> float:
        """Return ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖²."""
        users = self.context @ np.square(user_factors, dtype=np.float64).sum(axis=1)
        items = self.context_total * (self.proposal @ np.square(item_factors, dtype=np.float64).sum(axis=1))
        return 0.5 * regularization * float(users + items)


class RG2Objective(RG):
    """RG²: items are compared one by one."""

    def loss(self, user_factors: Floats, item_factors: Floats, *, regularization: float = 0.0) -> float:
        """Return the loss exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        fit = 0.5 * self.squared_norm - self.gain(user_factors, item_factors)
        return fit + self.penalty(user_factors, item_factors, regularization)


class RGXObjective(RG):
    """RG×: keeps the interaction −½ (q · o_x)² between the scores of one context.

    The best factors are those of RG², because S' √q = 0 makes q · o_x vanish there.
    """

    def loss(self, user_factors: Floats, item_factors: Floats, *, regularization: float = 0.0) -> float:
        """Return the loss exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        fit = 0.5 * self.squared_norm - self.gain(user_factors, item_factors)
        mean_scores = user_factors.astype(np.float64) @ (self.proposal @ item_factors.astype(np.float64))  # q · o_x
        interaction = 0.5 * float(self.context @ mean_scores**2)
        return fit - interaction + self.penalty(user_factors, item_factors, regularization)


def rg_objective(
    kind: type[RG],
    data: Interactions,
    *,
    proposal_exponent: float,
    context_exponent: float,
    dtype: DTypeLike = np.float32,
) -> RG:
    """Scale `data` for RG² or RG× with exponents γ and ρ."""
    for name, value in (("proposal_exponent", proposal_exponent), ("context_exponent", context_exponent)):
        if not np.isfinite(value):
            raise ParameterError(f"{name}={value} is not a number", "give a finite number, such as 0.8")
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    rows = data.by_user
    strengths = data.strengths.astype(np.float64)
    totals = np.bincount(rows.row_of_entry(), strengths, minlength=data.n_users)  # I
    q = proposal(data, proposal_exponent)
    c = np.where(totals > 0, np.power(np.maximum(totals, np.finfo(float).tiny), context_exponent), 0.0)
    scale = np.divide(np.sqrt(c), totals, out=np.zeros_like(totals), where=totals > 0)
    weights = strengths * np.repeat(scale, rows.row_lengths) / np.sqrt(q)[rows.indices]
    return kind(CSR(rows.indptr, rows.indices, weights.astype(dtype), rows.n_columns), q, c)


def proposal(data: Interactions, exponent: float) -> NDArray[np.float64]:
    """Return q_y ∝ max(Σ_x r_xy, 1)^γ, which sums to 1."""
    popularity = np.bincount(data.by_user.indices, data.strengths.astype(np.float64), minlength=data.n_items)
    q: NDArray[np.float64] = np.maximum(popularity, 1.0) ** exponent
    q /= q.sum()
    return q
