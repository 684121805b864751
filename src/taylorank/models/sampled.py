"""Sampled RG² and RG×: the loss with n draws from the proposal, in expectation, so nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import is_finite
from taylorank.data import Interactions
from taylorank.data.units import in_units
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models.factor import FACTOR_SHAPES, FactorModel, Floats
from taylorank.models.fitting import FitMonitor
from taylorank.models.recommender import Recommender
from taylorank.models.rg_parameters import check_penalty, check_ranking, discounts, penalty_of
from taylorank.models.weighted import WeightedRows
from taylorank.objectives import (
    RG2Objective,
    printed_objective,
    proposal,
    rg_objective,
    sampled_rg2_objective,
    sampled_rgx_objective,
)
from taylorank.objectives.rg import Penalty
from taylorank.ranking import Ranker, Vectors
from taylorank.solvers import AlsSweep
from taylorank.solvers.row_als import Method, RowObjective

Formula = Callable[[NDArray[np.float32], NDArray[np.float32], float], NDArray[np.float32]]
WEIGHTS = ("expected", "printed")
STEEPEST = 1e-3  # the least 1 − o/n; beyond it the probability goes on rising linearly

if TYPE_CHECKING:
    Rows = WeightedRows
else:
    Rows = object


@dataclass(eq=False, repr=False)
class SampledFamily(Rows):
    """What sampled RG² and RG× share: all but the objective and the probability of a score."""

    factors: int = 64
    _: KW_ONLY
    negatives: float = 100.0
    regularization: float = 0.1
    proposal_exponent: float = 0.0
    context_exponent: float = 1.0
    ranking: Literal["probability", "lift"] = "probability"
    popularity_discount: float = 0.0
    weights: Literal["expected", "printed"] = "expected"
    penalty: Penalty = "weighted"
    iterations: int = 16
    tolerance: float = 0.0
    solver: Method = "auto"
    random_state: int = 0
    num_threads: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    make_objective: ClassVar[Callable[..., RowObjective]]
    probabilities_of: ClassVar[Formula]
    interacts: ClassVar[bool]
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **FACTOR_SHAPES,
        "proposal_": ("items",),
        "penalty_": (),
        "strength_unit_": (),
    }
    strength_unit_ = 1.0  # r̃, the median strength of the training data; files of before have none

    @classmethod
    def literal(cls, factors: int = 64, **others: Any) -> Self:
        """Return Eq. 18-19 and 31 as they are printed: weights, targets and λ (‖P‖² + ‖Q‖²); `regularization` is λ."""
        return cls(factors, **{"weights": "printed", "penalty": "plain", **others})

    def _check(self, data: Interactions) -> None:
        super()._check(data)
        check_ranking(self.ranking, self.popularity_discount)
        check_penalty(self.penalty)
        if self.weights not in WEIGHTS:
            raise ParameterError(f"weights={self.weights!r} is unknown", f"choose {' or '.join(WEIGHTS)}")
        if not (is_finite(self.regularization) and self.regularization >= 0):
            raise ParameterError(f"regularization={self.regularization} is not a number ≥ 0", "try 0.05 to 0.5")

    def _solve(self, data: Interactions, monitor: FitMonitor, start: Any) -> tuple[Floats, Floats]:
        self.strength_unit_ = data.typical_strength
        full = rg_objective(
            RG2Objective,
            in_units(data, self.strength_unit_),
            proposal_exponent=self.proposal_exponent,
            context_exponent=self.context_exponent,
            penalty=self.penalty,
        )
        self.penalty_: float = penalty_of(full, self.regularization)
        self.proposal_: NDArray[np.float64] = full.proposal
        del full
        return super()._solve(data, monitor, start)

    def _sweep(
        self, data: Interactions, item_factors: Floats, sweeps: int, *, callback: Callable[[AlsSweep], object]
    ) -> tuple[Floats, Floats]:
        self.strength_unit_ = data.typical_strength
        self.proposal_ = proposal(data, self.proposal_exponent)
        return super()._sweep(data, item_factors, sweeps, callback=callback)

    def _objective(self, data: Interactions) -> RowObjective:
        make = type(self).make_objective
        if self.weights == "printed":
            make = partial(printed_objective, interacts=self.interacts)
        return make(
            in_units(data, float(self.strength_unit_)),
            negatives=self.negatives,
            penalty=self._learned("penalty_"),
            proposal=self._learned("proposal_"),
            context_exponent=self.context_exponent,
            penalised=self.penalty,
        )

    def _build_ranker(self) -> Ranker:
        """By o for the lift, and for the probability if the proposal is uniform; else by the probability itself."""
        formula = lift_probabilities if self.weights == "printed" else type(self).probabilities_of
        items = ItemVectors(self._where_it_ranks("item_factors_"))
        stated = Stated(items, self._learned("proposal_"), self.negatives, formula)
        factors = discounts(self.item_popularity, self.popularity_discount).astype(np.float32)
        ranks_by_o = self.ranking == "lift" or self.proposal_exponent == self.popularity_discount == 0
        return self._ranker_with(
            vectors=Vectors(
                self._where_it_ranks("user_factors_"),
                items,
                score_rows=None if ranks_by_o else stated.discounted(factors),
                probability_rows=stated,
                fold_in=self._fold_in(items),
            )
        )

    def probabilities(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return p(y | x) for users by position, (len(users), N), however the model ranks."""
        stated = self.ranker.probabilities_of(users)
        return np.asarray(stated, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Stated:
    """From rows of P to the probabilities that their scores stand for, (B, N), at what was learned in one fit."""

    items: ItemVectors
    proposal: NDArray[np.float64]
    negatives: float
    formula: Formula
    factors: NDArray[np.float32] | None = None  # that multiply each item's

    def discounted(self, factors: NDArray[np.float32]) -> Stated:
        """Return the same times `factors`."""
        return replace(self, factors=factors)

    def __call__(self, rows: Floats) -> NDArray[np.float32]:
        """Return the probabilities of all items for rows of P."""
        o = (rows @ self.items.factors.T).astype(np.float32, copy=False)
        p = self.formula(o, self.proposal.astype(np.float32), self.negatives)
        return p if self.factors is None else p * self.factors


def lift_probabilities(o: NDArray[np.float32], q: NDArray[np.float32], n: float) -> NDArray[np.float32]:
    """q (1 + o)."""
    p: NDArray[np.float32] = q * (1 + o)
    return p


def sampled_rg2_probabilities(o: NDArray[np.float32], q: NDArray[np.float32], n: float) -> NDArray[np.float32]:
    """q (1 + o) / (1 − o/n)."""
    p: NDArray[np.float32] = q * (1 + o)
    p /= np.maximum(1 - o / np.float32(n), np.float32(STEEPEST))
    return p


def sampled_rgx_probabilities(o: NDArray[np.float32], q: NDArray[np.float32], n: float) -> NDArray[np.float32]:
    """q (1 + β o' − α s) / (1 − α o'), o' = o − q·o, with the s that makes each row sum to 1."""
    alpha = np.float32(1 / (n + 1))
    o = o - (o @ q)[:, None]
    weight = q / np.maximum(1 - alpha * o, np.float32(STEEPEST))
    p: NDArray[np.float32] = weight * (1 + (1 - alpha) * o)
    p -= weight * ((p.sum(axis=1) - 1) / weight.sum(axis=1))[:, None]  # α s
    return p


class SampledRG2(SampledFamily, WeightedRows, FactorModel, Recommender):
    """Minimise Σ_x u_x [½ Σ_y (r + n I q) o² − n Σ_y (r − I q) o] / (n + 1) + ½ λ Σ c ‖P_x‖² + ½ λ Σ d ‖Q_y‖².

    The expectation of RG² with n negatives drawn from q in place of all of them; u_x = c_x / I_x, d_y is the weight of
    column y (see `objectives.sampled`). n → ∞ is RG²; few negatives emphasise the observed pairs. Weights vary by cell,
    so it is solved row by row, not by one SVD.

    Parameters
    ----------
    factors
        K, the rank.
    negatives
        n > 0, also a fraction.
    regularization
        λ √C / σ₁ ≥ 0: the λ that RG² has for the same number, where 1 would remove everything. With penalty="plain":
        λ ≥ 0 itself.
    proposal_exponent, context_exponent
        γ of q_y ∝ popularity^γ and ρ of c_x = I_x^ρ.
    ranking
        "probability" ranks by p = q_y (1 + o) / (1 − o/n), which is consistent with DCG; "lift" by o. With printed
        weights p = q_y (1 + o).
    popularity_discount
        δ: rank by p / popularity^δ instead of p.
    weights
        "expected": those of the loss above. "printed": those that Pu et al. 2025 print in Eq. 18-19: a positive
        weighs N / (n + 1) times a negative, with targets N/I_x − 1 (see `objectives.printed`).
    penalty
        "weighted": each factor by the weight of its row, as above. "plain": λ (‖P‖² + ‖Q‖²) of their Eq. 31 (divided by
        2N where the weights are the expected ones). `SampledRG2.literal()` has both as printed.
    iterations, tolerance, solver, random_state
        As in `IALS`.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> SampledRG2(factors=8, negatives=50).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    make_objective: ClassVar[Callable[..., RowObjective]] = staticmethod(sampled_rg2_objective)
    probabilities_of: ClassVar[Formula] = staticmethod(sampled_rg2_probabilities)
    interacts = False


class SampledRGX(SampledFamily, WeightedRows, FactorModel, Recommender):
    """Sampled RG×: sampled RG² with the square of the mean score of positive and negatives kept.

    See `objectives.sampled` for the loss (`objectives.printed` for the printed one); unlike RG× without sampling it
    has a solution of its own. Parameters as in `SampledRG2`.
    """

    make_objective: ClassVar[Callable[..., RowObjective]] = staticmethod(sampled_rgx_objective)
    probabilities_of: ClassVar[Formula] = staticmethod(sampled_rgx_probabilities)
    interacts = True
