"""RG² and RG×, fitted exactly."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.data import Interactions, read_interactions
from taylorank.errors import ParameterError
from taylorank.kernels import gather_sum
from taylorank.kernels.threads import on_own_threads
from taylorank.models.factor import FactorModel, Floats
from taylorank.models.histories import over_items, training_data
from taylorank.models.parameters import check_parameters
from taylorank.objectives import RG, RG2Objective, RGXObjective, rg_objective
from taylorank.solvers import SpectralPath, solve_als, solve_spectral


class RG2(FactorModel):
    """Minimise Σ_x (c_x/2) Σ_y q_y (P_x·Q_y − s_xy)² + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖².

    s_xy = r_xy / (I_x q_y) − 1, q_y ∝ popularity^γ, c_x = I_x^ρ (see `objectives.rg`): softmax loss under the
    proposal q, expanded to second order.

    Parameters
    ----------
    factors
        K, the rank.
    regularization
        τ / σ₁ in [0, 1): the share of the largest singular value that the threshold takes from all of them. The
        same number means the same on every data set.
    proposal_exponent, context_exponent
        γ and ρ. The defaults, with that of `regularization`, were chosen on validation data of five sets
        (docs/benchmarks.md); `RG2.paper()` has the papers' γ = 0, ρ = 1.
    ranking
        "probability" ranks by q_y (1 + o_xy), which is consistent with DCG; "lift" by o_xy, which favours the niche.
    solver
        "spectral": the global optimum by one SVD, which also gives every smaller K and every λ (`path`). "als": the
        same optimum in the limit, sweep by sweep.
    tolerance, max_passes
        Spectral: stop when every residual is ≤ tolerance · σ₁ (0: machine precision). `max_passes` stops early, which
        is another, smoother model and not the optimum. ALS: stop when a sweep gains ≤ tolerance of what is gained.
    iterations
        ALS: the most sweeps.
    random_state
        Seed of the start.
    num_threads
        Threads of fitting and of recommending (None: all that the process may use); the result is the same.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> model = RG2(factors=8).fit(train)
    >>> model.recommend([0], n=3)[0].shape
    (1, 3)
    """

    objective: ClassVar[type[RG]] = RG2Objective
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **FactorModel.learned_shapes,
        "proposal_": ("items",),
        "penalty_": (),
    }

    def __init__(
        self,
        factors: int = 128,
        *,
        regularization: float = 0.2,
        proposal_exponent: float = 0.6,
        context_exponent: float = 1.2,
        ranking: Literal["probability", "lift"] = "probability",
        solver: Literal["spectral", "als"] = "spectral",
        tolerance: float = 1e-2,
        max_passes: int | None = None,
        iterations: int = 50,
        random_state: int = 0,
        num_threads: int | None = None,
    ) -> None:
        self.factors = factors
        self.regularization = regularization
        self.proposal_exponent = proposal_exponent
        self.context_exponent = context_exponent
        self.ranking = ranking
        self.solver = solver
        self.tolerance = tolerance
        self.max_passes = max_passes
        self.iterations = iterations
        self.random_state = random_state
        self.num_threads = num_threads

    @classmethod
    def paper(cls, factors: int = 64, **others: Any) -> Self:
        """Return the papers' loss: uniform proposal (γ = 0), contexts weighted by their total (ρ = 1)."""
        return cls(factors, **{"proposal_exponent": 0.0, "context_exponent": 1.0, **others})

    @on_own_threads
    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` is called with the progress of the solver: residual and passes, or loss and factors of a sweep.
        """
        data = training_data(train)
        self._check(data)
        objective = rg_objective(
            self.objective,
            data,
            proposal_exponent=self.proposal_exponent,
            context_exponent=self.context_exponent,
        )
        self.proposal_: NDArray[np.float64] = objective.proposal
        self.train_ = data
        path = solve_spectral(
            objective,
            self.factors if self.solver == "spectral" else 1,
            tolerance=self.tolerance if self.solver == "spectral" else 1e-3,
            max_passes=self.max_passes if self.solver == "spectral" else None,
            random_state=self.random_state,
            callback=callback if self.solver == "spectral" else None,
        )
        self.penalty_: float = path.penalty(self.regularization)
        if self.solver == "spectral":
            self.path_: SpectralPath | None = path
            self.user_factors_, self.item_factors_ = path.factors(self.factors, self.regularization)
            return self
        self.path_ = None
        self.user_factors_, self.item_factors_ = solve_als(
            objective,
            self.factors,
            penalty=self.penalty_,
            sweeps=self.iterations,
            tolerance=self.tolerance,
            random_state=self.random_state,
            callback=callback,
        )
        return self

    def _check(self, data: Interactions) -> None:
        check_parameters(self)
        most = min(data.n_users, data.n_items)
        if self.factors > most:
            raise ParameterError(
                f"factors={self.factors} exceeds the smaller side of the data ({most})", f"use at most {most}"
            )
        if not 0 <= self.regularization < 1:
            raise ParameterError(
                f"regularization={self.regularization} is outside [0, 1)", "it is a share of σ₁: try 0.1 to 0.4"
            )
        if self.ranking not in ("probability", "lift"):
            raise ParameterError(f"ranking={self.ranking!r} is unknown", 'choose "probability" or "lift"')
        if self.solver not in ("spectral", "als"):
            raise ParameterError(f"solver={self.solver!r} is unknown", 'choose "spectral" or "als"')

    def export_factors(self) -> tuple[Floats, Floats]:
        """Return (users, items) whose inner product ranks: for probability [P_x, 1] and [q_y Q_y, q_y]."""
        if self.ranking == "lift":
            return self.user_factors, self.item_factors
        P, Q = self.user_factors, self.item_factors
        q = self._learned("proposal_").astype(P.dtype)
        ones = np.ones((len(P), 1), dtype=P.dtype)
        return np.hstack((P, ones)), np.hstack((Q * q[:, None], q[:, None]))

    def path(
        self, factors: Sequence[int] | None = None, regularization: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4)
    ) -> Iterator[Self]:
        """Yield the fitted model for every K of `factors` and every τ / σ₁ of `regularization`, without refitting."""
        self._learned("item_factors_")
        path: SpectralPath | None = self.__dict__.get("path_")
        if path is None and self.solver == "spectral":
            raise ParameterError("a file does not hold the SVD that the path comes from", "fit the model again")
        if path is None:
            raise ParameterError("ALS gives one model, not a path", 'fit with solver="spectral"')
        for count in (self.factors,) if factors is None else factors:
            for share in regularization:
                model = copy.copy(self).set_params(factors=int(count), regularization=float(share))
                model.penalty_ = path.penalty(share)
                model.user_factors_, model.item_factors_ = path.factors(int(count), float(share))
                yield model

    @on_own_threads
    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, given what they met: one matrix product, exact, no refitting.

        P_x = (Σ_y r_xy Q_y / I_x − qᵀQ) (Qᵀ diag(q) Q + λ I)⁻¹. `histories` is `Interactions`, or anything that
        `read_interactions` reads; items that the model does not know are ignored.
        """
        data = over_items(read_interactions(histories), self.items)
        Q = self.item_factors.astype(np.float64)
        totals = np.bincount(data.by_user.row_of_entry(), data.strengths, minlength=data.n_users)
        mean = gather_sum(data.by_user, Q) / np.where(totals > 0, totals, 1.0)[:, None]
        centre, B = self._fold_system(Q)
        P = (mean - centre) @ B
        P[totals == 0] = 0.0  # nothing is known
        model = self._for_others(data)
        model.user_factors_ = P.astype(self.item_factors.dtype)
        return model

    def _fold_system(self, Q: Floats) -> tuple[Floats, Floats]:
        """Return qᵀQ and B = (Qᵀ diag(q) Q + λ I)⁻¹, which P_x of any history needs."""
        q: Floats = self._learned("proposal_")
        system = (Q * q[:, None]).T @ Q + float(self.penalty_) * np.eye(Q.shape[1])
        return q @ Q, linalg.pinvh(system)

    def _history_parts(self, row: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """part_j = (r_j / I_x) (Q_j − qᵀQ) B, which sum to the P_x of `fold_in`."""
        positions, strengths = self._history(row)
        Q = self.item_factors.astype(np.float64)
        centre, B = self._fold_system(Q)
        return positions, (strengths / strengths.sum())[:, None] * ((Q[positions] - centre) @ B)

    def _ranked_by(self, column: int) -> tuple[NDArray[np.float64], float]:
        """q_y Q_y and q_y for ranking by probability, Q_y and 0 by lift."""
        q = 1.0 if self.ranking == "lift" else float(self._learned("proposal_")[column])
        return q * self.item_factors[column].astype(np.float64), 0.0 if self.ranking == "lift" else q


class RGX(RG2):
    """RG×: RG² with the interaction −½ (q · o_x)² of the scores of one context kept.

    In matrix factorisation both have the same solution (q · o vanishes there); they differ for other encoders.
    """

    objective: ClassVar[type[RG]] = RGXObjective
