"""Loss and validation metric against seconds, for every optimiser of the convergence study.

A curve is a list of points {"step", "seconds", "loss", "metric"}. Seconds are the optimiser's own, without evaluation.
RG² losses are all L of `objectives.rg`, the same number for the same factors whoever found them; other losses are the
training loss that the optimiser reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.models import RG2, WRMF
from taylorank.models.factor_fit import with_factors
from taylorank.objectives import RG, RG2Objective, Weighted, rg_objective
from taylorank.ranking import evaluate
from taylorank.solvers import AlsSweep, solve_als, solve_row_als
from taylorank.training import Neural

Curve = list[dict[str, Any]]
FOREVER = 10**9  # patience: curves are wanted whole
SWEEPS = 6  # of ALS for an epoch of others: a sweep is short, and the linear end comes late
PASSES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, eq=False)
class Study:
    """One problem: data, sizes and the RG² objective in float64."""

    train: Interactions
    valid: Interactions
    factors: int
    regularization: float
    epochs: int
    metric: str
    seed: int
    device: str = "auto"
    params: dict[str, dict[str, Any]] = field(default_factory=dict)  # of a contender, by its name

    def closed(self, **more: Any) -> RG2:
        """Return RG² as the study has it, unfitted."""
        exponents = {"proposal_exponent": 0.6, "context_exponent": 1.2}  # those of the loss
        given = {
            **exponents,
            "regularization": self.regularization,
            "random_state": self.seed,
            **self.params.get("rg2", {}),
        }
        return RG2(self.factors, **given, **more)

    def objective(self) -> RG2Objective:
        """Return the objective that all RG² curves are measured by."""
        model = self.closed()
        found = rg_objective(
            RG2Objective,
            self.train,
            proposal_exponent=model.proposal_exponent,
            context_exponent=model.context_exponent,
            dtype=np.float64,
        )
        assert isinstance(found, RG2Objective)
        return found

    def neural(self, name: str, loss: str, **more: Any) -> Neural:
        """Return a network over plain factors, unfitted."""
        given = {"factors": self.factors, "epochs": self.epochs, "random_state": self.seed, "device": self.device}
        return Neural(loss, **{"regularization": 0.0, **given, **more, **self.params.get(name, {})})


@dataclass(frozen=True, eq=False)
class Measure:
    """L and the metric of RG² factors, for any of its optimisers."""

    study: Study
    objective: RG2Objective
    penalty: float
    model: RG2  # fitted, whose factors are exchanged

    def point(self, step: int, seconds: float, P: Any, Q: Any) -> dict[str, Any]:
        """Measure factors."""
        model = with_factors(self.model, (P, Q))
        return {
            "step": step,
            "seconds": seconds,
            "loss": self.objective.loss(P, Q, regularization=self.penalty),
            "metric": evaluate(model, self.study.valid, metrics=self.study.metric)[self.study.metric],
        }


def spectral(measure: Measure) -> Curve:
    """Fits of their own for every number of passes: on the way the SVD has no factors to show."""
    curve: Curve = []
    for passes in PASSES:
        fits = [timed(measure.study.closed(tolerance=0, max_passes=passes).fit, measure.study.train) for _ in range(3)]
        model, seconds = min(fits, key=lambda fit: fit[1])
        curve.append(measure.point(passes, seconds, model.user_factors, model.item_factors))
        if len(curve) > 1 and curve[-2]["loss"] - curve[-1]["loss"] < 1e-12 * abs(curve[-1]["loss"]):
            break
    return curve


def shared_als(measure: Measure, start: Any = None) -> Curve:
    """ALS with one K × K matrix per half-step, in float64: RG2 has float32, which is faster and ends at 1e-5."""
    curve: Curve = []
    clock = _Clock()

    def after(sweep: AlsSweep) -> None:
        with clock.stopped() as seconds:
            curve.append(measure.point(sweep.sweep, seconds, *sweep.factors))

    solve_als(
        measure.objective,
        measure.study.factors,
        penalty=measure.penalty,
        sweeps=SWEEPS * measure.study.epochs,
        tolerance=0,
        start=None if start is None else start.item_factors,
        random_state=measure.study.seed,
        callback=after,
    )
    return curve


def row_als(measure: Measure) -> Curve:
    """ALS with a system per row, as objectives with weights per cell need it."""
    curve: Curve = []
    clock = _Clock()

    def after(sweep: AlsSweep) -> None:
        with clock.stopped() as seconds:
            curve.append(measure.point(sweep.sweep, seconds, *sweep.factors))

    solve_row_als(
        as_weighted(measure.objective, measure.penalty),
        measure.study.factors,
        sweeps=SWEEPS * measure.study.epochs,
        method="cholesky",
        random_state=measure.study.seed,
        callback=after,
    )
    return curve


def as_weighted(objective: RG, penalty: float) -> Weighted:
    """RG² as an objective with weights per cell: e = 0, s = h = ½, t = ½ c r / I."""
    rows = objective.by_user
    assert rows.weights is not None
    scale = np.sqrt(objective.context)[rows.row_of_entry()] * np.sqrt(objective.proposal)[rows.indices]
    return Weighted(
        rows,
        objective.context,
        objective.proposal,
        0.0,
        0.5 * rows.weights * scale,
        0.5 * penalty * objective.context,
        0.5 * penalty * objective.context_total * objective.proposal,
        0.5 * objective.squared_norm,
        curvature=0.5,
        slope=0.5,
    )


def newton(measure: Measure) -> Curve:
    """Newton-CG, in float64: in float32 its last steps are lost in rounding. Its loss is L over C less the constant."""
    study, closed = measure.study, measure.model
    model = study.neural(
        "newton",
        "rg2",
        optimizer="newton",
        precision="float64",
        regularization=measure.penalty,
        context_exponent=closed.context_exponent,
        options={"proposal_exponent": closed.proposal_exponent},
    )
    model.fit(study.train, study.valid, metric=study.metric, patience=FOREVER)
    total, zero = measure.objective.context_total, 0.5 * measure.objective.squared_norm
    return [{**record, "loss": total * record["loss"] + zero} for record in model.history_]


def neural(study: Study, name: str, loss: str, *, start: Any = None, head_start: float = 0.0, **more: Any) -> Curve:
    """Any loss by Adam; a warm start counts from the beginning of what it came from."""
    model = study.neural(name, loss, **more)
    model.fit(study.train, study.valid, metric=study.metric, patience=FOREVER, start=start)
    return [{**record, "seconds": record["seconds"] + head_start} for record in model.history_]


def wrmf(study: Study) -> Curve:
    """WRMF by row ALS."""
    given = {"iterations": study.epochs, "random_state": study.seed, **study.params.get("wrmf", {})}
    curve: Curve = []
    WRMF(study.factors, **given).fit(
        study.train,
        study.valid,
        callback=lambda p: curve.append({"step": p.step, "seconds": p.seconds, "loss": p.loss, "metric": p.metric}),
        metric=study.metric,
        patience=FOREVER,
    )
    return curve


class _Clock:
    """Seconds since it was made, less those in `stopped` blocks."""

    def __init__(self) -> None:
        self.began, self.lost = time.perf_counter(), 0.0

    def stopped(self) -> _Stopped:
        """Return a block whose time does not count; it is given the seconds so far."""
        return _Stopped(self)


class _Stopped:
    def __init__(self, clock: _Clock) -> None:
        self.clock = clock

    def __enter__(self) -> float:
        self.began = time.perf_counter()
        return self.began - self.clock.began - self.clock.lost

    def __exit__(self, *_: object) -> None:
        self.clock.lost += time.perf_counter() - self.began


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Return what the work returns, and its seconds."""
    began = time.perf_counter()
    return work(*given), time.perf_counter() - began


def thin(curve: Curve) -> Iterator[dict[str, Any]]:
    """Yield the points with numbers that JSON knows, rounded to what a figure shows."""
    for point in curve:
        yield {name: _plain(name, value) for name, value in point.items()}


def _plain(name: str, value: Any) -> Any:
    if value is None or value != value:
        return None
    return int(value) if name == "step" else float(f"{float(value):.12g}")
