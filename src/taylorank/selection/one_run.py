"""One model on one seed of a comparison: tune, fit, test, and measure how it converges."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.errors import ParameterError, in_one_line
from taylorank.metrics import parse_metric, wanted_metrics
from taylorank.ranking import Rankable, evaluate
from taylorank.ranking.protocols import EvaluationProtocol, Prepared, folded_in
from taylorank.report.record import plain, shown_parts
from taylorank.selection.attempt import fit_steps
from taylorank.selection.contenders import Contender
from taylorank.selection.measures import convergence, recall_by_popularity
from taylorank.selection.per_user import UserValues
from taylorank.selection.spaces import cut_model
from taylorank.selection.tuning import DEFAULT_TRIALS, tune
from taylorank.system import peak_memory

CUTOFFS = (1, 2, 5, 10, 20, 50, 100)
POPULARITY_CUTOFF = 10

Run = dict[str, Any]
Stage = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """The same for every model on every seed: what is measured, and the budget of tuning."""

    metrics: tuple[str, ...]
    primary: str
    curve: tuple[int, ...]
    trials: int | None
    seconds: float | None

    @property
    def tunes(self) -> bool:
        """Whether there is any budget for tuning."""
        return self.trials != 0 and self.seconds != 0


def make_plan(
    evaluation: EvaluationProtocol,
    *,
    metrics: str | Sequence[str] | None,
    k: int | Sequence[int],
    trials: int | None,
    seconds: float | None,
    n_items: int,
) -> Plan:
    """Check and return the plan; the primary metric is the protocol's if it is among `metrics`, else the first."""
    if trials is not None:
        check_whole(trials, "trials", least=0, remedy="give a whole number ≥ 0; 0 means no tuning")
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds={seconds!r} allows nothing", "give more than 0")
    wanted = [str(one) for one in wanted_metrics(evaluation.metrics if metrics is None else metrics, k)]
    if metrics is None:
        wanted = list(evaluation.metrics)  # in the protocol's order
    primary = evaluation.chooses if evaluation.chooses in wanted else wanted[0]
    curve = tuple(c for c in CUTOFFS if c <= n_items) if parse_metric(primary).cutoff is not None else ()
    budget = DEFAULT_TRIALS if trials is None and seconds is None else trials
    return Plan((primary, *(metric for metric in wanted if metric != primary)), primary, curve, budget, seconds)


def run_one(
    contender: Contender,
    parts: Prepared,
    plan: Plan,
    *,
    random_state: int,
    journal: Path | None,
    with_convergence: bool,
    stage: Stage,
) -> tuple[Run, UserValues | None]:
    """Return the run as in the record and each user's values; an exception of the model becomes the run's error."""
    run: Run = {"model": contender.name, "seed": random_state, "error": None, "params": {}, "tuning": None}
    values = None
    try:
        if plan.tunes and contender.space:
            run["tuning"] = _tuned(contender, parts, plan, random_state=random_state, journal=journal, stage=stage)
            run["params"] = run["tuning"]["best"]
        model = cut_model(contender.fresh(random_state=random_state, **run["params"]), parts.full_train)
        stage("fitting")
        run |= _fitted(model, parts.full_train, (run["tuning"] or {}).get("steps"))
        stage("testing")
        measured, values = tested(model, parts, plan)
        run |= measured
        if with_convergence:
            stage("measuring convergence")
            fresh = cut_model(contender.fresh(random_state=random_state, **run["params"]), parts.train)
            run["convergence"] = _convergence(fresh, parts, plan)
    except Exception as error:  # a model of any origin may fail in any way; the others go on
        run["error"], values = in_one_line(error), None
    return plain(run), values


def _tuned(
    contender: Contender, parts: Prepared, plan: Plan, *, random_state: int, journal: Path | None, stage: Stage
) -> dict[str, Any]:
    count = 0

    def counted(trial: Any) -> None:
        nonlocal count
        count += 1
        stage(f"tuning, {count} tried")

    stage("tuning")
    found = tune(
        contender.fresh(random_state=random_state),
        parts.train,
        parts.valid,
        metric=plan.primary,
        space=contender.space,
        trials=plan.trials,
        seconds=plan.seconds,
        random_state=random_state,
        file=journal,
        seen=parts.seen_valid,
        fold_in=parts.fold_valid,
        callback=counted,
    )
    if found.status == "interrupted":  # tuning returns on Ctrl-C; a comparison must stop
        raise KeyboardInterrupt
    tuning = found.to_dict()
    return {**tuning, "trials": [shown_parts(trial) for trial in tuning["trials"]]}


def _fitted(model: Any, train: Interactions, steps: int | None) -> dict[str, Any]:
    with peak_memory() as peak:
        start = time.perf_counter()
        fit_steps(model, train, steps)
        seconds = time.perf_counter() - start
    return {"fit_seconds": seconds, "peak_memory_bytes": peak.bytes}


def tested(model: Any, parts: Prepared, plan: Plan) -> tuple[Run, UserValues]:
    """Rank for the test users once; return means with quality by cutoff and by popularity, and each user's values."""
    name = parse_metric(plan.primary).name
    curve = {k: f"{name}@{k}" for k in plan.curve}
    start = time.perf_counter()
    scorer = folded_in(model, parts.fold_test)
    found = evaluate(
        scorer,
        parts.test,
        seen=parts.seen_test,
        metrics=(*plan.metrics, *curve.values()),
        per_user=True,
        counts=parts.full_train,
    )
    seconds = time.perf_counter() - start
    assert found.user_ids is not None  # by per_user=True
    run = {
        "evaluate_seconds": seconds,
        "users": found.users.evaluated,
        "metrics": {metric: found[metric] for metric in plan.metrics},
        "by_cutoff": [[k, found[metric]] for k, metric in curve.items()],
        "by_popularity": recall_by_popularity(
            scorer, parts.test, train=parts.full_train, seen=parts.seen_test, k=POPULARITY_CUTOFF
        ),
    }
    values = {m: found.per_user[m].astype("float32") for m in plan.metrics if m in found.per_user}
    return run, UserValues(parts.test.users.positions(found.user_ids), values)


def _convergence(model: Any, parts: Prepared, plan: Plan) -> list[dict[str, float]]:
    def value_of(fitted: Rankable) -> float:
        return float(parts.evaluate(fitted, "valid", metrics=plan.primary)[plan.primary])

    return convergence(model, parts.train, value_of)
