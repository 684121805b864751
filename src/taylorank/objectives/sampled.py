"""Sampled RG² and RG×: what n negatives drawn from the proposal q make of RG² and RG×, in expectation.

For one positive y of context x and n draws from q, sampled softmax is −o_y + log mean(exp o) over the n + 1 of them.
Its second-order expansion at o = 0 is −o_y + mean(o) + ½ mean(o²) [− ½ mean(o)²]: sampled RG² without the bracket,
sampled RG× with it. The expectation over the draws, summed over the positives with their strengths r_xy and multiplied
by u_x = c_x / I_x, is with α = 1/(n + 1), β = n/(n + 1):

    sampled RG² :  Σ_x u_x [ ½ Σ_y (α r + β I q) o²  − β Σ_y (r − I q) o ]
    sampled RG× :  Σ_x u_x β [ ½ Σ_y (α r + β I q) o² − Σ_y (r − I q) o − α (r·o)(q·o) − ½ (β − α) I (q·o)² ]

plus ½ λ Σ_x c_x ‖P_x‖² + ½ λ Σ_y d_y ‖Q_y‖² with d_y = Σ_x u_x (α r_xy + β I_x q_y), the weight of column y, or with
the plain penalty ½ (λ/N) (‖P‖² + ‖Q‖²). (What the papers print in the place of these weights: `objectives.printed`.)
Both are stated with the constant that makes sampled RG² a sum of squares: weight u (r + n I q) / 2(n + 1) and target
n (r − I q) / (r + n I q), which is −1 where r = 0. n → ∞ recovers RG² and RG×; few draws emphasise the positives.

At the unconstrained optimum the probability p(y | x) = r_xy / I_x is, for sampled RG² and for sampled RG×,

    p = q (1 + o) / (1 − o/n)        and        p = q (1 + β o' − α s) / (1 − α o'),  o' = o − q·o,

with the s = p·o' of context x that makes p sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse.linalg import LinearOperator, gmres

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import RowSystem, Tilt, gather_sum, nonzero_scores, row_solve
from taylorank.kernels.arrays import as_double, device_rows, inner, like, to_numpy
from taylorank.objectives.rg import Penalty, context_weights
from taylorank.objectives.weighted import (
    Floats,
    ItemSums,
    Weighted,
    check_weighted,
    to_device,
    weighted_gram,
    without_weights,
)

UNSEEN_PENALTY = 1.0  # of empty contexts, which have no weight: it makes their factors 0


def sampled_rg2_objective(
    data: Interactions,
    *,
    negatives: float,
    penalty: float,
    proposal: NDArray[np.float64],
    context_exponent: float,
    penalised: Penalty = "weighted",
    dtype: DTypeLike = np.float32,
) -> Weighted:
    """Return sampled RG² with n = `negatives`, λ = `penalty` and q = `proposal`; n may be infinite, which is RG²."""
    parts = _parts(data, negatives, penalty, proposal, context_exponent, penalised, np.dtype(dtype))
    alpha, beta = parts.alpha, parts.beta
    return Weighted(
        data.by_user,
        parts.context,
        parts.proposal,
        0.5 * alpha * parts.strengths,
        0.5 * beta * parts.strengths,
        0.5 * parts.user_penalty,
        0.5 * parts.item_penalty,
        parts.constant,
        curvature=0.5 * beta,
        slope=0.5 * beta,
    )


def sampled_rgx_objective(
    data: Interactions,
    *,
    negatives: float,
    penalty: float,
    proposal: NDArray[np.float64],
    context_exponent: float,
    penalised: Penalty = "weighted",
    dtype: DTypeLike = np.float32,
) -> SampledRGX:
    """Return sampled RG× with n = `negatives`, λ = `penalty` and q = `proposal`."""
    return SampledRGX(_parts(data, negatives, penalty, proposal, context_exponent, penalised, np.dtype(dtype)))


@dataclass(frozen=True, eq=False)
class SampledParts:
    """What both objectives are made of."""

    by_user: CSR
    strengths: Floats  # u_x r_xy, (nnz,)
    proposal: NDArray[np.float64]  # q, (N,)
    context: NDArray[np.float64]  # c, (M,)
    alpha: float  # 1 / (n + 1)
    beta: float  # n / (n + 1)
    user_penalty: NDArray[np.float64]  # λ c_x, or λ / N
    item_penalty: NDArray[np.float64]  # λ d_y, or λ / N
    constant: float


def _parts(
    data: Interactions,
    negatives: float,
    penalty: float,
    proposal: NDArray[np.float64],
    context_exponent: float,
    penalised: Penalty,
    dtype: np.dtype[Any],
) -> SampledParts:
    if not negatives > 0:
        raise ParameterError(f"negatives={negatives} is not a number of draws", "give a number > 0, such as 100")
    check_weighted(data, penalty=penalty)
    rows, r = data.by_user, data.strengths.astype(np.float64)
    q = proposal
    totals, c = context_weights(data, context_exponent)
    scale = np.divide(c, totals, out=np.zeros_like(c), where=totals > 0)  # u
    strengths = np.repeat(scale, rows.row_lengths) * r
    alpha = 1 / (negatives + 1)
    beta = 1 - alpha
    columns = alpha * np.bincount(rows.indices, strengths, minlength=data.n_items) + beta * c.sum() * q
    return SampledParts(
        rows,
        strengths.astype(dtype),
        q,
        c,
        alpha,
        beta,
        np.where(c > 0, penalty * (c if penalised == "weighted" else 1 / len(q)), UNSEEN_PENALTY),
        penalty * (columns if penalised == "weighted" else np.full(len(q), 1 / len(q))),
        _constant(rows, r, np.repeat(totals, rows.row_lengths) * q[rows.indices], scale, c, alpha, beta),
    )


def _constant(
    rows: CSR,
    r: NDArray[np.float64],
    expected: NDArray[np.float64],
    scale: NDArray[np.float64],
    c: NDArray[np.float64],
    alpha: float,
    beta: float,
) -> float:
    """½ Σ u β² (r − I q)² / (α r + β I q) over all pairs; `expected` is I q of the observed ones."""
    observed = beta * beta * (r - expected) ** 2 / (alpha * r + beta * expected) - beta * expected
    return 0.5 * float(np.repeat(scale, rows.row_lengths) @ observed + beta * c.sum())


@dataclass(frozen=True, eq=False)
class SampledRGX:
    """Sampled RG×: rows of P have a rank-two term each; rows of Q are coupled through two vectors."""

    solvers: ClassVar[tuple[str, ...]] = ("row_als",)  # weights by cell: a matrix for every row

    parts: SampledParts

    def on(self, device: str | None) -> SampledRGX:
        """Return the same objective with its pairs as tensors on a device of torch; None: as it is."""
        if device is None:
            return self
        rows = device_rows(without_weights(self.parts.by_user), device)
        return SampledRGX(replace(self.parts, by_user=rows, strengths=to_device(self.parts.strengths, rows)))

    @property
    def by_user(self) -> CSR:
        """The observed pairs."""
        return self.parts.by_user

    @property
    def constant(self) -> float:
        """The loss of zero factors."""
        return self.parts.constant

    @cached_property
    def _by_user(self) -> CSR:
        return replace(self.parts.by_user, weights=self.parts.strengths)

    @cached_property
    def _by_item(self) -> CSR:
        return self._by_user.transpose()

    def prepare(self) -> None:
        """Make the rows of both sides."""
        _ = self._by_item

    def item_sums(self, item_factors: Floats) -> ItemSums:
        """Return the sums over all items that the systems of the users need."""
        return ItemSums.of(item_factors, self.parts.proposal)

    def user_system(self, item_factors: Floats, sums: ItemSums | None = None) -> RowSystem:
        """Return the systems of all P_x, given Q; `sums` over Q, where they are known already.

        With m = Qᵀq, G = Qᵀ diag(q) Q, f_x = u_x Σ_y r_xy Q_y and the whole divided by β:
        H = α u Σ r QQᵀ + β c G − α (f mᵀ + m fᵀ) − (β − α) c m mᵀ + λ c I / β,  right side f − c m.
        """
        p, sums = self.parts, sums or self.item_sums(item_factors)
        mean = sums.direction
        tilt = Tilt(p.alpha * gather_sum(self._by_user, item_factors), mean, (p.beta - p.alpha) * p.context)
        return RowSystem(
            p.by_user,
            sums.gram,
            p.beta * p.context,
            p.user_penalty / p.beta,
            weights=p.alpha * p.strengths,
            targets=p.strengths,
            offsets=-p.context,
            direction=mean,
            tilt=tilt,
        )

    def item_system(self, user_factors: Floats, start: Floats | None = None) -> RowSystem:
        """Return the systems of all Q_y, given P, with m = Qᵀq and z = Σ_x P_x (P_x · f_x) at their solution.

        With B_y = Σ_x u r PPᵀ, G = Pᵀ diag(c) P, g = Pᵀc, b_y = Σ_x u r P and the whole divided by β,
        A_y = α B_y + β q_y G + λ d_y I / β and

            A_y Q_y = b_y − q_y g + α B_y m + q_y (α z + (β − α) G m)

        Given (m, z) the rows are independent; (m, z) itself solves a linear system of size 2K, by GMRES from `start`.
        """
        solve = _ItemStep(self, user_factors)
        return solve.system(*solve.coupling(start))

    def loss(self, user_factors: Floats, item_factors: Floats) -> float:
        """Return the loss exactly, in O(nnz·K + (M + N)·K²) and without M × N memory."""
        p, P, Q = self.parts, as_double(user_factors), as_double(item_factors)
        o = nonzero_scores(p.by_user, P, item_factors=Q)
        strengths, c, q = like(o, p.strengths), like(P, p.context), like(Q, p.proposal)
        mean = P @ (q @ Q)  # q·o
        along = strengths * o  # u r o of each pair
        square = 0.5 * p.beta * inner(weighted_gram(P, p.context), weighted_gram(Q, p.proposal))
        square += 0.5 * p.alpha * float(along @ o)
        linear = float(along.sum() - c @ mean)
        interaction = p.alpha * float(along @ mean[p.by_user.row_of_entry()])
        interaction += 0.5 * (p.beta - p.alpha) * float(c @ mean**2)
        on_users = like(P, np.where(p.context > 0, p.user_penalty, 0.0))
        penalty = on_users @ (P**2).sum(1) + like(Q, p.item_penalty) @ (Q**2).sum(1)
        return p.constant + p.beta * (square - linear - interaction) + 0.5 * float(penalty)


class _ItemStep:
    """The Q-step of sampled RG× for one P."""

    def __init__(self, objective: SampledRGX, user_factors: Floats) -> None:
        self.parts, self.rows, self.P = objective.parts, objective._by_item, user_factors
        self.by_user = objective._by_user
        self.gram = to_numpy(weighted_gram(user_factors, self.parts.context))
        self.mean = to_numpy(like(user_factors, self.parts.context, dtype="float64") @ as_double(user_factors))  # g

    def system(self, m: NDArray[np.float64], z: NDArray[np.float64], *, constant: float = 1.0) -> RowSystem:
        """The systems of all Q_y given m and z; `constant` 0 leaves out what does not depend on them."""
        p, strengths = self.parts, self.rows.weights
        assert strengths is not None
        pull = constant + p.alpha * (self.P @ like(self.P, m))  # α B_y m = Σ u r P (α P·m)
        direction = p.alpha * z + (p.beta - p.alpha) * (self.gram @ m) - constant * self.mean
        return RowSystem(
            without_weights(self.rows),
            like(self.P, self.gram),
            p.beta * p.proposal,
            p.item_penalty / p.beta,
            weights=p.alpha * strengths,
            targets=strengths * pull[self.rows.indices],
            offsets=p.proposal,
            direction=direction,
        )

    def coupling(self, start: Floats | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(m, z) of the solution."""
        width = self.P.shape[1]

        def halves(vector: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return vector[:width], vector[width:]

        def step(vector: NDArray[np.float64], constant: float) -> NDArray[np.float64]:
            system = self.system(*halves(vector), constant=constant)
            return self.coupling_of(row_solve(system, self.P, method="cholesky"))

        zero = np.zeros(2 * width)
        operator = LinearOperator((2 * width, 2 * width), matvec=lambda v: v - step(v, 0.0), dtype=np.float64)
        first = zero if start is None else self.coupling_of(start)
        precision = 10 * float(np.finfo(to_numpy(self.P[:0]).dtype).eps)
        solution, _ = gmres(operator, step(zero, 1.0), x0=first, rtol=precision, restart=2 * width, maxiter=1)
        return halves(solution)

    def coupling_of(self, item_factors: Floats) -> NDArray[np.float64]:
        """Return (m, z) of Q, z = Σ_x P_x (P_x · f_x) with f_x = u_x Σ_y r_xy Q_y."""
        Q, P = as_double(item_factors), as_double(self.P)
        along = (P * gather_sum(self.by_user, Q)).sum(1)
        return np.concatenate((to_numpy(like(Q, self.parts.proposal) @ Q), to_numpy(along @ P)))
