"""What RG² and RG× share: one SVD or ALS, ranks and thresholds that follow from the data, the path of one fit."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_number, typed
from taylorank.data import Interactions
from taylorank.data.recency import check_half_life, faded
from taylorank.data.units import in_units
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models.factor import FACTOR_SHAPES, FactorModel, Floats
from taylorank.models.factor_fit import fit_factors, partial_fit_factors, sweep_step
from taylorank.models.fitting import FitMonitor, Step
from taylorank.models.fold_in import PlainFoldIn, SharedFoldIn
from taylorank.models.rg_parameters import (
    check_penalty,
    check_ranking,
    check_share,
    default_rank,
    default_share,
    discounts,
    penalty_of,
)
from taylorank.objectives import RG, rg_objective
from taylorank.objectives.rg import Penalty, context_weights
from taylorank.ranking import Ranker, Vectors
from taylorank.solvers import AlsSweep, Progress, SpectralPath, SvdState, solve_als, solve_spectral
from taylorank.torch_extra import torch_device

SOLVERS = ("spectral", "als")

if TYPE_CHECKING:
    Factors = FactorModel
else:
    Factors = object  # as `MixinBase` of models.recommender


@dataclass(eq=False, repr=False)
class RGFamily(Factors):
    """What RG² and RG× share: all but the objective."""

    factors: int | None = None
    _: KW_ONLY
    regularization: float | None = None
    proposal_exponent: float = 0.7
    context_exponent: float = 1.4
    half_life: float | None = None
    score_penalty: float = 0.0
    penalty: Penalty = "weighted"
    ranking: Literal["probability", "lift"] = "probability"
    popularity_discount: float = 0.0
    solver: Literal["spectral", "als"] = "spectral"
    tolerance: float = 1e-5
    max_passes: int | None = None
    iterations: int = 50
    random_state: int = 0
    num_threads: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    objective: ClassVar[type[RG]]
    bounded_rank: ClassVar[bool] = True  # more factors than the smaller side of the data are refused
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **FACTOR_SHAPES,
        "proposal_": ("items",),
        "penalty_": (),
        "mean_context_": (),
        "strength_unit_": (),
    }
    strength_unit_ = 1.0  # r̃, the median strength of the training data; files of before have none
    fit = fit_factors
    partial_fit = partial_fit_factors

    @property
    def rank(self) -> int:
        """K: `factors`, or what the size of the data has made of None."""
        return int(self.item_factors.shape[1] if self.factors is None else self.factors)

    def rank_for(self, data: Interactions) -> int:
        """Return the rank of a fit to `data`."""
        return default_rank(data) if self.factors is None else int(self.factors)

    @property
    def share(self) -> float:
        """τ/σ₁: `regularization`, or what the data have made of None; λ of a plain penalty."""
        return float(self._learned("share_") if self.regularization is None else self.regularization)

    def settled_for(self, data: Interactions) -> dict[str, Any]:
        """Return the parameters of a fit to `data`, with numbers in the place of None."""
        share = self.regularization
        if share is None:
            share = default_share(copy.copy(self)._objective(data))
        return {**self.get_params(), "factors": self.rank_for(data), "regularization": share}

    def settled_params(self) -> dict[str, Any]:
        """Return the parameters; of a fitted model with its rank and its threshold in the place of None."""
        known = {"factors": self.rank, "regularization": self.share} if "share_" in vars(self) else {}
        return {**self.get_params(), **known}

    @property
    def has_path(self) -> bool:
        """Whether a fit gives every smaller K and every λ (`path`): that of the spectral solver does."""
        return self.solver == "spectral"

    @classmethod
    def paper(cls, factors: int = 64, **others: Any) -> Self:
        """Return the papers' loss: uniform proposal (γ = 0), contexts weighted by their total (ρ = 1)."""
        return cls(factors, **{"proposal_exponent": 0.0, "context_exponent": 1.0, **others})

    @classmethod
    def literal(cls, factors: int = 64, **others: Any) -> Self:
        """Return Eq. 31 as it is printed: the papers' loss under λ (‖P‖² + ‖Q‖²), by ALS; `regularization` is λ."""
        printed = {"penalty": "plain", "solver": "als", "regularization": 0.1, "tolerance": 1e-4}
        return cls.paper(factors, **{**printed, **others})

    def _objective(self, data: Interactions) -> RG:
        """Return the objective of this data in units of r̃; keep the parts of it that ranking needs."""
        self.strength_unit_ = data.typical_strength
        data = in_units(data, self.strength_unit_)
        if self.half_life is not None:
            data = faded(data, self.half_life)
        objective = rg_objective(
            self.objective,
            data,
            proposal_exponent=self.proposal_exponent,
            context_exponent=self.context_exponent,
            score_penalty=self.score_penalty,
            penalty=self.penalty,
        )
        self.proposal_: NDArray[np.float64] = objective.proposal
        self.mean_context_: float = float(context_weights(data, self.context_exponent)[1].mean())
        return objective

    def _solve(self, data: Interactions, monitor: FitMonitor, start: Any) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        if self.solver == "als":
            return self._solve_by_sweeps(objective, self.rank_for(data), monitor, start)
        if "spectral" not in objective.solvers:
            raise ParameterError(
                "the plain penalty has no closed form where users or items differ in weight",
                'use solver="als", or proposal_exponent=0 and context_exponent=0',
            )
        if start is not None and not isinstance(start, SvdState):
            raise ParameterError("the spectral solver takes no start", 'warm starts need solver="als"')

        def after_pass(progress: Progress) -> bool:
            monitor.keep(progress.state)  # before `after`: the state is that before this step
            return monitor.after(Step(progress.passes, facts={"residual": progress.residual}))

        rank = self.rank_for(data)
        path = solve_spectral(
            objective,
            rank,
            tolerance=self.tolerance,
            max_passes=self.max_passes,
            start=start,
            random_state=self.random_state,
            callback=after_pass,
            device=torch_device(self.device),
        )
        self.path_: SpectralPath | None = path
        self._settle(objective, path.largest)
        self.penalty_: float = path.penalty(self.share)
        self.residual_, self.passes_ = float(path.svd.residuals.max()), path.svd.passes
        return path.factors(rank, self.share)

    def _settle(self, objective: RG, largest: float | None = None) -> None:
        """Keep τ/σ₁, which is read off the data if none is given; `largest` is σ₁, if it is known."""
        share = self.regularization
        if share is None:
            share = default_share(objective, largest, device=torch_device(self.device))
        self.share_: float = share

    def _solve_by_sweeps(self, objective: RG, rank: int, monitor: FitMonitor, start: Any) -> tuple[Floats, Floats]:
        self.path_ = None
        if self.max_passes is not None:
            raise ParameterError("max_passes is for the spectral solver", "limit ALS by iterations")
        self._settle(objective)
        self.penalty_ = penalty_of(objective, self.share)
        return solve_als(
            objective,
            rank,
            penalty=self.penalty_,
            sweeps=self.iterations,
            tolerance=self.tolerance,
            start=start,
            random_state=self.random_state,
            callback=lambda sweep: monitor.after(sweep_step(self, sweep, with_loss=True)),
            keep=lambda sweep: monitor.keep(lambda: sweep.state(with_loss=True)),
            device=self._sweeping_device(),
        )

    def _sweeping_device(self) -> str | None:
        return None if self.penalty == "plain" else torch_device(self.device)

    def _sweep(
        self, data: Interactions, item_factors: Floats, sweeps: int, *, callback: Callable[[AlsSweep], object]
    ) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        self.path_ = None
        return solve_als(
            objective,
            item_factors.shape[1],
            penalty=self.penalty_,
            sweeps=sweeps,
            tolerance=0,
            start=item_factors,
            callback=callback,
            device=self._sweeping_device(),
        )

    def _check(self, data: Interactions) -> None:
        most = min(data.n_users, data.n_items)
        if self.factors is not None and self.factors > most:
            raise ParameterError(
                f"factors={self.factors} exceeds the smaller side of the data ({most})", f"use at most {most}"
            )
        if self.half_life is not None:
            check_half_life(self.half_life)
        check_penalty(self.penalty)
        if self.regularization is not None:
            self._check_regularization(self.regularization)
        check_ranking(self.ranking, self.popularity_discount)
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver={self.solver!r} is unknown", f"choose {' or '.join(SOLVERS)}")

    def _check_regularization(self, value: float) -> None:
        """Refuse a share of σ₁ outside [0, 1); the λ of a plain penalty is any number ≥ 0."""
        if self.penalty == "plain":
            check_number(value, "regularization", least=0.0)
        else:
            check_share(value)

    def _build_ranker(self) -> Ranker:
        """By probability w_y (1 + o_xy) with w_y = q_y / popularity_y^δ; by lift o_xy."""
        weights = None
        if self.ranking != "lift":
            discounted = self._learned("proposal_") * discounts(self.item_popularity, self.popularity_discount)
            weights = discounted.astype(np.float32)
        items = ItemVectors(self._where_it_ranks("item_factors_"))
        fold_in = (PlainFoldIn if self.penalty == "plain" else SharedFoldIn)(
            items,
            self._learned("proposal_"),
            penalty=float(self._learned("penalty_")),
            context_exponent=self.context_exponent,
            score_penalty=self.score_penalty * self._learned("mean_context_"),
            interacts=self.objective.interacts,
            unit=float(self.strength_unit_),
            half_life=self.half_life,
        )
        return self._ranker_with(
            vectors=Vectors(
                self._where_it_ranks("user_factors_"),
                items,
                scales=weights,
                offsets=weights,
                probability_rows=partial(_probabilities, self._learned("proposal_"), items),
                fold_in=fold_in,
            )
        )

    def probabilities(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return p(y | x) = q_y (1 + o_xy) for users by position, (len(users), N), however the model ranks.

        Rows sum to 1; a value may be below 0, since nothing bounds o.
        """
        return _probabilities(self._learned("proposal_"), ItemVectors(self.item_factors), self.user_factors[users])

    @typed
    def path(
        self, factors: Sequence[int] | None = None, regularization: Sequence[float | None] = (0.0, 0.1, 0.2, 0.3, 0.4)
    ) -> Iterator[Self]:
        """Yield the fitted model for every K of `factors` and every value of `regularization`, without refitting.

        None among the values stands for the model's own.
        """
        self._check_learned("item_factors_")
        path: SpectralPath | None = self.__dict__.get("path_")
        if path is None and self.solver == "spectral":
            raise ParameterError(
                "this model has no SVD, which the path needs: it was updated, or read from a file without it",
                "fit the model again, and save it with path=True",
            )
        if path is None:
            raise ParameterError("ALS gives one model, not a path", 'fit with solver="spectral"')
        has_other_users = not self._trained_on.is_of(self.seen)  # after fold_in
        for count in (self.rank,) if factors is None else factors:
            for share in (self.share if one is None else one for one in regularization):
                self._check_regularization(share)
                model = copy.copy(self).set_params(factors=int(count), regularization=float(share))
                model.penalty_ = path.penalty(share)
                model.user_factors_, model.item_factors_ = path.factors(int(count), float(share))
                if has_other_users:  # than the SVD
                    model.user_factors_ = np.zeros((len(self.users), int(count)), dtype=model.item_factors.dtype)
                    model = model.fold_in(self.seen)
                yield model


def _probabilities(proposal: NDArray[np.float64], items: ItemVectors, rows: Floats) -> NDArray[np.float32]:
    """q_y (1 + o_xy) for rows of P, (B, N)."""
    p: NDArray[np.float32] = (proposal * (1 + rows @ items.factors.T)).astype(np.float32)
    return p
