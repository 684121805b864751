"""One model on one seed of a comparison: tune, fit, test, and watch it converge."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taylorank.data import Interactions
from taylorank.errors import in_one_line
from taylorank.metrics import parse_metric
from taylorank.ranking import Rankable, evaluate
from taylorank.ranking.protocols import Prepared, folded_in
from taylorank.selection.contenders import Contender
from taylorank.selection.measures import convergence, recall_by_popularity
from taylorank.selection.plan import Plan
from taylorank.selection.summary import packed_users
from taylorank.selection.tuning import tune
from taylorank.system import peak_memory

Tell = Callable[[str], None]


def run_one(
    contender: Contender,
    parts: Prepared,
    plan: Plan,
    *,
    seed: int,
    journal: Path | None,
    follows: bool,
    tell: Tell,
) -> dict[str, Any]:
    """Return the run as the record holds it; what goes wrong in the model becomes its error."""
    run: dict[str, Any] = {"model": contender.name, "seed": seed, "error": None, "params": {}, "tuning": None}
    try:
        if plan.tunes and contender.space:
            run["tuning"] = _tuned(contender, parts, plan, seed=seed, journal=journal, tell=tell)
            run["params"] = run["tuning"]["best"]
        model = contender.fresh(random_state=seed, **run["params"])
        tell("fitting")
        run |= _fitted(model, parts.full_train)
        tell("testing")
        run |= tested(model, parts, plan)
        if follows:
            tell("following")
            run["convergence"] = _followed(contender.fresh(random_state=seed, **run["params"]), parts, plan)
    except Exception as error:  # a model of any origin may fail in any way; the others go on
        run["error"] = in_one_line(error)
    return run


def _tuned(
    contender: Contender, parts: Prepared, plan: Plan, *, seed: int, journal: Path | None, tell: Tell
) -> dict[str, Any]:
    count = 0

    def told(trial: Any) -> None:
        nonlocal count
        count += 1
        tell(f"tuning, {count} tried")

    tell("tuning")
    found = tune(
        contender.fresh(random_state=seed),
        parts.train,
        parts.valid,
        metric=plan.primary,
        space=contender.space,
        trials=plan.trials,
        seconds=plan.seconds,
        seed=seed,
        file=journal,
        seen=parts.seen_valid,
        fold_in=parts.fold_valid,
        callback=told,
    )
    if found.status == "interrupted":  # tuning ends gently on Ctrl-C; a comparison must stop
        raise KeyboardInterrupt
    return found.to_dict()


def _fitted(model: Any, train: Interactions) -> dict[str, Any]:
    with peak_memory() as peak:
        start = time.perf_counter()
        model.fit(train)
        seconds = time.perf_counter() - start
    return {"fit_seconds": seconds, "peak_memory_bytes": peak.bytes}


def tested(model: Any, parts: Prepared, plan: Plan) -> dict[str, Any]:
    """Rank the test users once; keep means, values per user, and quality by cutoff and by popularity."""
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
    assert found.user_ids is not None  # asked for by per_user
    users = parts.test.users.positions(found.user_ids)
    groups = recall_by_popularity(
        scorer, parts.test, train=parts.full_train, seen=parts.seen_test, k=plan.popularity_cutoff
    )
    return {
        "evaluate_seconds": seconds,
        "users": found.users.evaluated,
        "metrics": {metric: found[metric] for metric in plan.metrics},
        "by_cutoff": [[k, found[metric]] for k, metric in curve.items()],
        "by_popularity": groups,
        "per_user": packed_users(users, {m: found.per_user[m] for m in plan.metrics if m in found.per_user}),
    }


def _followed(model: Any, parts: Prepared, plan: Plan) -> list[dict[str, float]]:
    def value_of(fitted: Rankable) -> float:
        return float(parts.evaluate(fitted, "valid", metrics=plan.primary)[plan.primary])

    return convergence(model, parts.train, value_of)
