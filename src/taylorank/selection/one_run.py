"""One model on one seed of a comparison: tune, fit, test, and watch it converge."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taylorank.data import Interactions
from taylorank.errors import TaylorankError
from taylorank.ranking import Rankable, evaluate
from taylorank.ranking.protocols import Prepared
from taylorank.selection.contenders import Contender
from taylorank.selection.follow import follow
from taylorank.selection.judge import folded_in
from taylorank.selection.memory import peak_memory
from taylorank.selection.plan import Plan
from taylorank.selection.popularity import recall_by_popularity
from taylorank.selection.summary import packed_users
from taylorank.selection.tune import tune

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
        run["error"] = _reason(error)
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
    name = plan.primary.partition("@")[0]
    curve = {k: f"{name}@{k}" for k in plan.curve}
    start = time.perf_counter()
    scorer = _scorer(model, parts.fold_test)
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
        scorer = _scorer(fitted, parts.fold_valid)
        return float(evaluate(scorer, parts.valid, seen=parts.seen_valid, metrics=plan.primary)[plan.primary])

    return follow(model, parts.train, value_of)


def _scorer(model: Any, shown: Interactions | None) -> Rankable:
    """The model, which has been shown what is known of held-out users, if any."""
    scorer: Rankable = model if shown is None else folded_in(model, shown)
    return scorer


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, TaylorankError) else f"{type(error).__name__}: {text}".rstrip(": ")
