"""RG² and RG×: softmax loss, expanded to second order at zero scores, under a proposal.

With o_xy = P_x · Q_y, I_x = Σ_y r_xy, c_x = I_x^ρ, C = Σ_x c_x, q_y ∝ max(Σ_x r_xy / r̃, 1)^γ, r̃ being the median
strength (1 for clicks), so that the unit of strength does not matter, and the q-centred targets
s_xy = r_xy / (I_x q_y) − 1:

    RG² :  Σ_x (c_x/2) Σ_y q_y (o_xy − s_xy)²                     + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖²
    RG× :  Σ_x (c_x/2) [ Σ_y q_y (o_xy − s_xy)² − (q · o_x)² ]    + the same

γ = 0 and ρ = 1 are the papers' losses; γ = ρ = 1 is correspondence analysis. At the unconstrained optimum
o = p(y | x) / q_y − 1, so q_y (1 + o_xy) is the probability of y and ranks consistently with DCG.

A penalty ½ κ Σ_x Σ_y q_y o_xy² on the scores themselves (Pu et al., "NDCG-consistent softmax approximation
with accelerated convergence", Appendix A.6) changes nothing but the contexts:

    ½ Σ_x c_x Σ_y q_y (o − s)² + ½ κ Σ_xy q_y o²  =  ½ Σ_x (c_x + κ) Σ_y q_y (o − a_x s)² + constant

with a_x = c_x / (c_x + κ), so that the targets of light contexts are drawn towards 0, where the proposal ranks.

The same paper's Eq. 31 prints another penalty than its Eq. 36-37 solve, one that weighs no row: Σ_xy I_x (o − s)² +
λ (‖P‖² + ‖Q‖²). Divided by 2N, and for any q and c, that is `penalty="plain"`:

    Σ_x (c_x/2) Σ_y q_y (o_xy − s_xy)²  +  ½ μ (‖P‖² + ‖Q‖²),    μ = λ / N

If K is not below the rank of the optimum, it is a convex problem in O = PQᵀ, with the penalty μ ‖O‖_*, and O is its
optimum if and only if it is stationary and ‖diag(c) (S − O) diag(q)‖₂ ≤ μ. Where c and q are constant (ρ = γ = 0) it is
a soft-thresholded SVD with τ = μ / √(cq). Else no SVD of S' solves it: a stationary point has
(S' − P'Q'ᵀ) Q' = μ diag(1/c) P', so if singular vectors of S' spanned the columns of P', diag(1/c) would map that span
to itself, which it does for spans of coordinates alone. Its ALS steps are exact and cost no more (`solvers.plain_als`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taylorank.checks import is_finite
from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import gather_sum

Floats = NDArray[Any]
Penalty = Literal["weighted", "plain"]
PENALTIES: tuple[Penalty, ...] = ("weighted", "plain")
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class RG:
    """What RG² and RG× share: the data scaled to S' = diag(a √c / I) R diag(1/√q) − a √c √qᵀ, a = 1 as a rule.

    In P' = √c P and Q' = √q Q the loss is ½ ‖S' − P'Q'ᵀ‖² + ½ λ (‖P'‖² + C ‖Q'‖²): an ordinary factorisation, whose
    global optimum is a soft-thresholded SVD (`solvers.spectral`) and whose ALS steps share one matrix
    (`solvers.als`).
    """

    interacts: ClassVar[bool]  # whether −½ c_x (q · o_x)² is part of the loss

    rows: CSR  # r_xy
    row_scale: Floats  # a_x √c_x / I_x, (M,), in the precision of the solution
    proposal: NDArray[np.float64]  # q, (N,)
    context: NDArray[np.float64]  # c, or c + κ, (M,)
    shrinkage: NDArray[np.float64]  # a, (M,)
    penalised: Penalty = "weighted"

    @property
    def solvers(self) -> tuple[str, ...]:
        """Weights c_x q_y: all rows share one matrix; one SVD is the optimum unless a plain penalty meets weights."""
        return ("als",) if self.penalised == "plain" and self.constant_weight is None else ("spectral", "als")

    @property
    def constant_weight(self) -> float | None:
        """Return c q if all contexts that are not empty have the same c and all items the same q, else None."""
        c = self.context[self.context > 0]
        is_constant = np.ptp(c) <= 1e-12 * c[0] and np.ptp(self.proposal) <= 1e-12 * self.proposal[0]
        return float(c[0] * self.proposal[0]) if is_constant else None

    @cached_property
    def by_user(self) -> CSR:
        """a_x √c_x r_xy / (I_x √q_y)."""
        weights = np.repeat(self.row_scale, self.rows.row_lengths)
        if self.rows.weights is not None:
            weights *= self.rows.weights.astype(weights.dtype, copy=False)
        weights *= self.column_scale[self.rows.indices]
        return CSR(self.rows.indptr, self.rows.indices, weights, self.rows.n_columns)

    @property
    def column_scale(self) -> Floats:
        """1 / √q, (N,)."""
        return (1 / np.sqrt(self.proposal)).astype(self.row_scale.dtype)

    @cached_property
    def by_item(self) -> CSR:
        """The same entries by item."""
        return self.by_user.transpose()

    def shuffled(self) -> RG:
        """Return this loss of noise: the same entries, their items in a random order.

        Users keep how many entries they have, items how often they are met, and who meets what is chance. The order is
        the same for the same data; an item that a row has twice counts twice.
        """
        items = np.random.default_rng(0).permutation(self.rows.indices)
        return replace(self, rows=CSR(self.rows.indptr, items, self.rows.weights, self.rows.n_columns))

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
        """Return ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖², or the plain ½ (λ/N) (‖P‖² + ‖Q‖²)."""
        if self.penalised == "plain":
            squares = sum(float(np.square(side, dtype=np.float64).sum()) for side in (user_factors, item_factors))
            return 0.5 * regularization / len(self.proposal) * squares
        users = self.context @ np.square(user_factors, dtype=np.float64).sum(axis=1)
        items = self.context_total * (self.proposal @ np.square(item_factors, dtype=np.float64).sum(axis=1))
        return 0.5 * regularization * float(users + items)

    def loss(self, user_factors: Floats, item_factors: Floats, *, regularization: float = 0.0) -> float:
        """Return the loss exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        fit = 0.5 * self.squared_norm - self.gain(user_factors, item_factors)
        if self.interacts:
            mean_scores = user_factors.astype(np.float64) @ (self.proposal @ item_factors.astype(np.float64))  # q · o_x
            fit -= 0.5 * float(self.context @ mean_scores**2)
        return fit + self.penalty(user_factors, item_factors, regularization)


class RG2Objective(RG):
    """RG²: items are compared one by one."""

    interacts = False


class RGXObjective(RG):
    """RG×: keeps the interaction −½ (q · o_x)² between the scores of one context.

    The best factors are those of RG², because S' √q = 0 makes q · o_x vanish there; under the plain penalty only if q
    is uniform.
    """

    interacts = True


def rg_objective(
    kind: type[RG],
    data: Interactions,
    *,
    proposal_exponent: float,
    context_exponent: float,
    score_penalty: float = 0.0,
    penalty: Penalty = "weighted",
    dtype: DTypeLike = np.float32,
) -> RG:
    """Scale `data` for RG² or RG× with exponents γ and ρ; κ is `score_penalty` times the mean c of all contexts."""
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    if not (is_finite(score_penalty) and score_penalty >= 0):
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
    strengths = None if data.is_binary else data.strengths
    observed = CSR(rows.indptr, rows.indices, strengths, rows.n_columns)
    return kind(observed, scale.astype(dtype), q, context, shrinkage, penalty)


def proposal(data: Interactions, exponent: float) -> NDArray[np.float64]:
    """Return q_y ∝ max(Σ_x r_xy / r̃, 1)^γ, r̃ being the median strength; it sums to 1."""
    return proposal_of(data.relative_popularity, exponent)


def proposal_of(counts: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return q_y ∝ max(count_y, 1)^γ, which sums to 1; the counts are of typical interactions."""
    _check_exponent("proposal_exponent", exponent)
    logs = exponent * np.log(np.maximum(counts, 1.0))
    q: NDArray[np.float64] = np.exp(logs - logs.max())
    q /= q.sum()
    return q


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
    if not is_finite(value):
        raise ParameterError(f"{name}={value} is not a number", "give a finite number, such as 0.8")
