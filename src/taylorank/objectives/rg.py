"""RG² and RG×: softmax loss, expanded to second order at zero scores, under a proposal.

With o_xy = P_x · Q_y, I_x = Σ_y r_xy, c_x = I_x^ρ, C = Σ_x c_x, q_y ∝ max(Σ_x r_xy, 1)^γ, and the q-centred targets
s_xy = r_xy / (I_x q_y) − 1:

    RG² :  Σ_x (c_x/2) Σ_y q_y (o_xy − s_xy)²                     + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖²
    RG× :  Σ_x (c_x/2) [ Σ_y q_y (o_xy − s_xy)² − (q · o_x)² ]    + the same

γ = 0 and ρ = 1 are the papers' losses; γ = ρ = 1 is correspondence analysis. At the unconstrained optimum
o = p(y | x) / q_y − 1, so q_y (1 + o_xy) is the probability of y and ranks consistently with DCG.

A penalty ½ κ Σ_x Σ_y q_y o_xy² on the scores themselves (Pu et al. 2025, App. A.6) changes nothing but the contexts:

    ½ Σ_x c_x Σ_y q_y (o − s)² + ½ κ Σ_xy q_y o²  =  ½ Σ_x (c_x + κ) Σ_y q_y (o − a_x s)² + constant

with a_x = c_x / (c_x + κ), so that the targets of light contexts are drawn towards 0, where the proposal ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import gather_sum

Floats = NDArray[Any]
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class RG:
    """What RG² and RG× share: the data scaled to S' = diag(a √c / I) R diag(1/√q) − a √c √qᵀ, a = 1 as a rule.

    In P' = √c P and Q' = √q Q the loss is ½ ‖S' − P'Q'ᵀ‖² + ½ λ (‖P'‖² + C ‖Q'‖²): an ordinary factorisation, whose
    global optimum is a soft-thresholded SVD (`solvers.spectral`) and whose ALS steps share one matrix
    (`solvers.als`).
    """

    solvers: ClassVar[tuple[str, ...]] = ("spectral", "als")

    by_user: CSR  # a_x √c_x r_xy / (I_x √q_y)
    proposal: NDArray[np.float64]  # q, (N,)
    context: NDArray[np.float64]  # c, or c + κ, (M,)
    shrinkage: NDArray[np.float64]  # a, (M,)

    @cached_property
    def by_item(self) -> CSR:
        """The same entries by item."""
        return self.by_user.transpose()

    @property
    def context_total(self) -> float:
        """C = Σ_x c_x."""
        return float(self.context.sum())

    @property
    def centre(self) -> NDArray[np.float64]:
        """a √c, (M,): S' = B − centre √qᵀ."""
        return self.shrinkage * np.sqrt(self.context)

    @cached_property
    def squared_norm(self) -> float:
        """‖S'‖² = ‖B‖² − ‖centre‖², because B √q = centre. Twice the loss at P = Q = 0."""
        assert self.by_user.weights is not None
        squares = sum(
            float(np.square(self.by_user.weights[start : start + CHUNK], dtype=np.float64).sum())
            for start in range(0, self.by_user.nnz, CHUNK)
        )
        return squares - float(self.centre @ self.centre)

    def gain(self, user_factors: Floats, item_factors: Floats) -> float:
        """Return Σ_x c_x Σ_y q_y (a_x s_xy o_xy − ½ o_xy²), the decrease of RG² from zero scores, through Grams."""
        P = np.sqrt(self.context)[:, None] * user_factors.astype(np.float64)
        Q = np.sqrt(self.proposal)[:, None] * item_factors.astype(np.float64)
        linear = np.vdot(P, gather_sum(self.by_user, Q))
        linear -= (self.centre @ P) @ (np.sqrt(self.proposal) @ Q)
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
    score_penalty: float = 0.0,
    dtype: DTypeLike = np.float32,
) -> RG:
    """Scale `data` for RG² or RG× with exponents γ and ρ; κ is `score_penalty` times the mean c of all contexts."""
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    if not (np.isfinite(score_penalty) and score_penalty >= 0):
        raise ParameterError(f"score_penalty={score_penalty} is not a number ≥ 0", "use 0 for none")
    rows = data.by_user
    q = proposal(data, proposal_exponent)
    totals, c = context_weights(data, context_exponent)
    context = np.where(c > 0, c + score_penalty * c.mean(), 0.0)
    shrinkage = np.divide(c, context, out=np.ones_like(c), where=c > 0)
    scale = np.divide(shrinkage * np.sqrt(context), totals, out=np.zeros_like(totals), where=totals > 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        largest = scale.max() * float(data.strengths.max()) / np.sqrt(q.min())
    if not largest <= np.sqrt(np.finfo(np.dtype(dtype)).max):  # its square must be a number, too
        raise ParameterError(
            f"proposal_exponent={proposal_exponent:g} and context_exponent={context_exponent:g} spread the weights "
            "beyond what numbers hold",
            "use exponents nearer to 0",
        )
    weights = np.repeat(scale.astype(dtype), rows.row_lengths)
    if not data.is_binary:
        weights *= data.strengths.astype(dtype, copy=False)
    weights *= (1 / np.sqrt(q)).astype(dtype)[rows.indices]
    return kind(CSR(rows.indptr, rows.indices, weights, rows.n_columns), q, context, shrinkage)


def proposal(data: Interactions, exponent: float) -> NDArray[np.float64]:
    """Return q_y ∝ max(Σ_x r_xy, 1)^γ, which sums to 1."""
    return proposal_of(popularity(data), exponent)


def proposal_of(counts: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return q_y ∝ max(count_y, 1)^γ, which sums to 1."""
    _check_exponent("proposal_exponent", exponent)
    logs = exponent * np.log(np.maximum(counts, 1.0))
    q: NDArray[np.float64] = np.exp(logs - logs.max())
    q /= q.sum()
    return q


def popularity(data: Interactions) -> NDArray[np.float64]:
    """Return max(Σ_x r_xy, 1) of every item."""
    strengths = None if data.is_binary else data.strengths
    totals = np.bincount(data.by_user.indices, strengths, minlength=data.n_items)
    return np.maximum(totals, 1.0)


def context_weights(data: Interactions, exponent: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return I_x and c_x = I_x^ρ, both 0 for an empty context."""
    _check_exponent("context_exponent", exponent)
    rows = data.by_user
    if data.is_binary:
        totals = rows.row_lengths.astype(np.float64)
    else:
        totals = np.bincount(rows.row_of_entry(), data.strengths, minlength=data.n_users).astype(np.float64)
    c = np.where(totals > 0, np.power(np.maximum(totals, np.finfo(float).tiny), exponent), 0.0)
    return totals, c


def _check_exponent(name: str, value: float) -> None:
    if not np.isfinite(value):
        raise ParameterError(f"{name}={value} is not a number", "give a finite number, such as 0.8")
