"""WRMF and iALS: weighted least squares over all pairs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, read_interactions
from taylorank.errors import ParameterError
from taylorank.kernels import RowSystem
from taylorank.kernels.threads import on_own_threads
from taylorank.models.explain import row_parts
from taylorank.models.factor import FactorModel
from taylorank.models.histories import over_items, row_of, training_data
from taylorank.models.parameters import check_parameters
from taylorank.objectives.weighted import Weighted, ials_objective, wrmf_objective
from taylorank.solvers.row_als import Method, solve_row_als, solve_side


class WeightedModel(FactorModel):
    """What WRMF and IALS share; they differ in their objective."""

    factors: int
    iterations: int
    tolerance: float
    solver: Method
    random_state: int
    num_threads: int | None

    def _objective(self, data: Interactions) -> Weighted:
        raise ParameterError(f"{type(self).__name__} has no objective", "use WRMF or IALS")

    @on_own_threads
    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` is called after each sweep with loss, seconds and factors; it stops the fit by returning True.
        """
        data = training_data(train)
        check_parameters(self)
        self.train_ = data
        self.user_factors_, self.item_factors_ = solve_row_als(
            self._objective(data),
            self.factors,
            sweeps=self.iterations,
            tolerance=self.tolerance,
            method=self.solver,
            random_state=self.random_state,
            callback=callback,
        )
        return self

    @on_own_threads
    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, given what they met: their systems are solved, items stay."""
        data = over_items(read_interactions(histories), self.items)
        model = self._for_others(data)
        model.user_factors_ = solve_side(self._objective(data), self.item_factors, method="cholesky")
        return model

    def _history_parts(self, row: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """part_j = t_j A⁻¹ Q_j with A = b QᵀQ + Σ_j e_j Q_jQ_jᵀ + λ_x I, which sum to the P_x of `fold_in`."""
        one = row_of(self.seen, row)
        objective, Q = self._objective(one), self.item_factors.astype(np.float64)
        system = RowSystem(
            one.by_user,
            Q.T @ Q,
            objective.background,
            objective.user_penalty,
            weights=objective.extra,
            targets=objective.targets,
        )
        return one.by_user.indices, row_parts(system, Q)


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

    def _objective(self, data: Interactions) -> Weighted:
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

    def _objective(self, data: Interactions) -> Weighted:
        return ials_objective(
            data, unobserved_weight=self.unobserved_weight, regularization=self.regularization, nu=self.nu
        )
