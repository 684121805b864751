"""Models with weights per cell: WRMF, iALS, and the released code of the RG papers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import row_solve
from taylorank.models.explain import row_parts
from taylorank.models.factor import Floats
from taylorank.models.fitting import Watch
from taylorank.models.growing import GrowingModel
from taylorank.models.histories import row_of
from taylorank.objectives import ials_objective, released_objective, wrmf_objective
from taylorank.solvers import SweepState, solve_row_als
from taylorank.solvers.row_als import Method, RowObjective

METHODS = ("auto", "cholesky", "cg", "blocks")


class WeightedModel(GrowingModel):
    """What all share; they differ in their objective.

    `solver` is "cholesky" (exact rows), "cg" (three steps of conjugate gradients a sweep), "blocks" (iALS++: blocks of
    coordinates in turn), or "auto". `iterations` is the most sweeps; `tolerance` > 0 stops when a sweep gains no more
    than that share of what is gained.
    """

    solver: Method

    def _objective(self, data: Interactions) -> RowObjective:
        raise AttributeError(f"{type(self).__name__} has no objective")

    def _check(self, data: Interactions) -> None:
        if self.solver not in METHODS:
            raise ParameterError(f"solver={self.solver!r} is unknown", f"choose from {', '.join(METHODS)}")

    def _solve(self, data: Interactions, watch: Watch, start: Any) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        with_loss = self.tolerance > 0 or watch.callback is not None
        return solve_row_als(
            objective,
            self.factors,
            sweeps=self.iterations,
            tolerance=self.tolerance,
            method=self.solver,
            start=self._pair(objective, start),
            random_state=self.random_state,
            callback=lambda sweep: watch.after_sweep(sweep, self._snapshot, with_loss=with_loss),
            keep=lambda sweep: watch.keep(sweep, with_loss=with_loss),
        )

    def _pair(self, objective: RowObjective, start: Any) -> Any:
        """(P, Q) from Q alone."""
        if start is None or isinstance(start, SweepState):
            return start
        return row_solve(objective.user_system(start), start, method="cholesky"), start

    def _fold(self, data: Interactions) -> Floats:
        """P given Q: the system of every row, solved exactly."""
        return row_solve(self._objective(data).user_system(self.item_factors), self.item_factors, method="cholesky")

    def _sweep(self, data: Interactions, item_factors: Floats, sweeps: int) -> tuple[Floats, Floats]:
        objective = self._objective(data)
        start = self._pair(objective, item_factors)
        return solve_row_als(objective, self.factors, sweeps=sweeps, method=self.solver, start=start)

    def _history_parts(self, row: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """part_j = H⁻¹ (t_j Q_j + share_j h g) of the system of this row, which sum to the P_x of `fold_in`."""
        one = row_of(self.seen, row)
        Q = self.item_factors.astype(np.float64)
        shares = one.strengths.astype(np.float64) / one.strengths.sum(dtype=np.float64)
        return one.by_user.indices, row_parts(self._objective(one).user_system(Q), Q, shares=shares)


class WRMF(WeightedModel):
    """Minimise Σ_xy w_xy (P_x·Q_y − p_xy)² + λ (‖P‖² + ‖Q‖²) with w = 1 + α r, p = 1 on observed pairs, else 1 and 0.

    Hu, Koren and Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> WRMF(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    def __init__(
        self,
        factors: int = 64,
        *,
        alpha: float = 10.0,
        regularization: float = 30.0,
        iterations: int = 16,
        tolerance: float = 0.0,
        solver: Method = "auto",
        random_state: int = 0,
        num_threads: int | None = None,
    ) -> None:
        self.factors = factors
        self.alpha = alpha
        self.regularization = regularization
        self.iterations = iterations
        self.tolerance = tolerance
        self.solver = solver
        self.random_state = random_state
        self.num_threads = num_threads

    def _objective(self, data: Interactions) -> RowObjective:
        return wrmf_objective(data, alpha=self.alpha, regularization=self.regularization)


class IALS(WeightedModel):
    """Minimise Σ_observed r (o_xy − 1)² + w₀ Σ_all o_xy² + Σ_x λ (n_x + w₀N)^ν ‖P_x‖² + Σ_y λ (n_y + w₀M)^ν ‖Q_y‖².

    o_xy = P_x · Q_y; w₀ is `unobserved_weight`, n_x and n_y count interactions.
    Rendle, Krichene, Zhang and Koren, "Revisiting the performance of iALS on item recommendation benchmarks",
    RecSys 2022.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> IALS(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    def __init__(
        self,
        factors: int = 64,
        *,
        unobserved_weight: float = 0.1,
        regularization: float = 0.003,
        nu: float = 1.0,
        iterations: int = 16,
        tolerance: float = 0.0,
        solver: Method = "auto",
        random_state: int = 0,
        num_threads: int | None = None,
    ) -> None:
        self.factors = factors
        self.unobserved_weight = unobserved_weight
        self.regularization = regularization
        self.nu = nu
        self.iterations = iterations
        self.tolerance = tolerance
        self.solver = solver
        self.random_state = random_state
        self.num_threads = num_threads

    def _objective(self, data: Interactions) -> RowObjective:
        return ials_objective(
            data, unobserved_weight=self.unobserved_weight, regularization=self.regularization, nu=self.nu
        )


class ReleasedRG(WeightedModel):
    """The loss of the code that the RG papers' authors released, its sign corrected (see `objectives.released`).

    `alpha` weighs an extra term on observed pairs, `beta` rescales the Gram matrix; `variant` is "rg2" or "rgx". For
    running their grids: `RG2` and `SampledRG2` are what the theory says.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> ReleasedRG(factors=8).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    def __init__(
        self,
        factors: int = 64,
        *,
        alpha: float = 0.1,
        beta: float = 0.0,
        regularization: float = 0.01,
        variant: Literal["rg2", "rgx"] = "rg2",
        iterations: int = 16,
        tolerance: float = 0.0,
        solver: Method = "auto",
        random_state: int = 0,
        num_threads: int | None = None,
    ) -> None:
        self.factors = factors
        self.alpha = alpha
        self.beta = beta
        self.regularization = regularization
        self.variant = variant
        self.iterations = iterations
        self.tolerance = tolerance
        self.solver = solver
        self.random_state = random_state
        self.num_threads = num_threads

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
