"""Models with weights per cell: WRMF, iALS, and the released code of the RG papers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors, row_solve
from taylorank.models.factor import FactorModel, Floats
from taylorank.models.factor_fit import fit_factors, partial_fit_factors, sweep_step
from taylorank.models.fitting import FitMonitor
from taylorank.models.fold_in import RowFoldIn
from taylorank.models.recommender import Recommender
from taylorank.objectives import ials_objective, released_objective, wrmf_objective
from taylorank.ranking import Ranker, Vectors
from taylorank.solvers import AlsSweep, SweepState, solve_row_als
from taylorank.solvers.row_als import Method, RowObjective
from taylorank.torch_extra import torch_device

OF_THE_USERS = ("train_", "user_factors_", "history_", "_record")  # which a fold-in does without
METHODS = ("auto", "cholesky", "cg", "blocks")

if TYPE_CHECKING:
    Factors = FactorModel
else:
    Factors = object  # as `MixinBase` of models.recommender


class WeightedRows(Factors):
    """Factors by row-wise ALS; models differ in their objective.

    `solver` is "cholesky" (exact rows), "cg" (three steps of conjugate gradients a sweep), "blocks" (iALS++: one block
    of coordinates after the other), or "auto". `iterations` is the maximum number of sweeps; `tolerance` > 0
    stops when a sweep lowers the loss L by no more than tolerance · (L(0) − L), L(0) being that of zero factors.
    """

    factors: int
    iterations: int
    tolerance: float
    solver: Method
    random_state: int
    device: str
    fit = fit_factors
    partial_fit = partial_fit_factors

    def _objective(self, data: Interactions) -> RowObjective:
        raise AttributeError(f"{type(self).__name__} has no objective")

    def _check(self, data: Interactions) -> None:
        if self.solver not in METHODS:
            raise ParameterError(f"solver={self.solver!r} is unknown", f"choose from {', '.join(METHODS)}")

    def _solve(self, data: Interactions, monitor: FitMonitor, start: Any) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        with_loss = self.tolerance > 0 or monitor.callback is not None
        return solve_row_als(
            objective,
            self.factors,
            sweeps=self.iterations,
            tolerance=self.tolerance,
            method=self.solver,
            start=_pair(objective, start),
            random_state=self.random_state,
            callback=lambda sweep: monitor.after(sweep_step(self, sweep, with_loss=with_loss)),
            keep=lambda sweep: monitor.keep(lambda: sweep.state(with_loss=with_loss)),
            device=torch_device(self.device),
        )

    def _sweep(
        self, data: Interactions, item_factors: Floats, sweeps: int, *, callback: Callable[[AlsSweep], object]
    ) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        start = _pair(objective, item_factors)
        return solve_row_als(
            objective,
            self.factors,
            sweeps=sweeps,
            method=self.solver,
            start=start,
            callback=callback,
            device=torch_device(self.device),
        )

    def _fold_in(self, items: ItemVectors) -> RowFoldIn:
        """The fold-in of this fit: a copy of the model that no later fit and no parameter set later reaches."""
        other = copy.copy(self)
        for name in OF_THE_USERS:
            other.__dict__.pop(name, None)
        return RowFoldIn(items, other._objective)

    def _build_ranker(self) -> Ranker:
        items = ItemVectors(self._where_it_ranks("item_factors_"))
        return self._ranker_with(
            vectors=Vectors(self._where_it_ranks("user_factors_"), items, fold_in=self._fold_in(items))
        )


def _pair(objective: RowObjective, start: Any) -> Any:
    """(P, Q) from Q alone."""
    if start is None or isinstance(start, SweepState):
        return start
    return row_solve(objective.user_system(start), start, method="cholesky"), start


@dataclass(eq=False, repr=False)
class WRMF(WeightedRows, FactorModel, Recommender):
    """Minimise Σ_xy w_xy (P_x·Q_y − p_xy)² + λ (‖P‖² + ‖Q‖²) with w = 1 + α r, p = 1 on observed pairs, else 1 and 0.

    Hu, Koren and Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> WRMF(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    factors: int = 64
    _: KW_ONLY
    alpha: float = 10.0
    regularization: float = 30.0
    iterations: int = 16
    tolerance: float = 0.0
    solver: Method = "auto"
    random_state: int = 0
    num_threads: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def _objective(self, data: Interactions) -> RowObjective:
        return wrmf_objective(data, alpha=self.alpha, regularization=self.regularization)


@dataclass(eq=False, repr=False)
class IALS(WeightedRows, FactorModel, Recommender):
    """Minimise Σ_observed r (o_xy − 1)² + w₀ Σ_all o_xy² + Σ_x λ (n_x + w₀N)^ν ‖P_x‖² + Σ_y λ (n_y + w₀M)^ν ‖Q_y‖².

    o_xy = P_x · Q_y; w₀ is `unobserved_weight`, n_x and n_y count interactions.
    Rendle, Krichene, Zhang and Koren, "Revisiting the performance of iALS on item recommendation benchmarks",
    RecSys 2022.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> IALS(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    factors: int = 64
    _: KW_ONLY
    unobserved_weight: float = 0.1
    regularization: float = 0.003
    nu: float = 1.0
    iterations: int = 16
    tolerance: float = 0.0
    solver: Method = "auto"
    random_state: int = 0
    num_threads: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def _objective(self, data: Interactions) -> RowObjective:
        return ials_objective(
            data, unobserved_weight=self.unobserved_weight, regularization=self.regularization, nu=self.nu
        )


@dataclass(eq=False, repr=False)
class ReleasedRG(WeightedRows, FactorModel, Recommender):
    """The loss of the code that the RG papers' authors released, its sign corrected (see `objectives.released`).

    `alpha` weighs an extra term on observed pairs, `beta` rescales the Gram matrix; `variant` is "rg2" or "rgx". For
    running their grids; `RG2` and `SampledRG2` are the losses of the papers' theory.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> ReleasedRG(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    factors: int = 64
    _: KW_ONLY
    alpha: float = 0.1
    beta: float = 0.0
    regularization: float = 0.01
    variant: Literal["rg2", "rgx"] = "rg2"
    iterations: int = 16
    tolerance: float = 0.0
    solver: Method = "auto"
    random_state: int = 0
    num_threads: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def _check(self, data: Interactions) -> None:
        super()._check(data)
        if self.variant not in ("rg2", "rgx"):
            raise ParameterError(f"variant={self.variant!r} is unknown", 'choose "rg2" or "rgx"')

    def _objective(self, data: Interactions) -> RowObjective:
        return released_objective(
            data,
            alpha=self.alpha,
            beta=self.beta,
            regularization=self.regularization,
            own_penalty=1.0 if self.variant == "rg2" else 0.0,
        )
