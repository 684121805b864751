"""Gowalla and Yelp2018: a search on validation data within ranges fixed on other sets, then one look at test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from research.bench.quality.students.search import Search, Settings
from research.bench.quality.students.stages import Job, Row, last_look, refitted, rg2_of, told
from taylorank.ranking import evaluate

WIDTHS = (64, 128)
NARROW = (32, 16)
SEEDS = (1, 2)  # of students fitted besides that of the search


def public(job: Job, keep: Callable[[Row], object]) -> Row:
    """Choose teacher and student together at K = 64, the temperature again at other K; refit; test each seed once."""
    parts = job.parts()
    search = job.search(parts, keep)
    best = searched(search, job.earlier)
    found: Row = {**told(search, parts), "models": {}, "seeds": {seed: {} for seed in SEEDS}}
    rows = found["models"]

    def save() -> None:
        keep({**found, "trials": search.trials, "unfinished": True})

    began = time.perf_counter()
    teacher = refitted(best, search, parts.whole, 64)[0]
    rows["teacher"] = {"refit_s": round(time.perf_counter() - began, 2), **last_look(teacher, parts, fit=False)}
    rows["rg2"] = {
        "validation": found["best_teacher"]["value"],
        **last_look(rg2_of(search.best_teacher, search), parts),
    }
    for width in widths(job, WIDTHS):
        settings, value = at_width(search, best, width)
        for seed in (job.seed, *SEEDS):
            student = refitted(settings, search, parts.whole, width, teacher=teacher, seed=seed)[1]
            own = rows if seed == job.seed else found["seeds"][seed]
            own[f"student {width}"] = {"validation": value, **last_look(student, parts)}
            save()
    narrower(job, search, best, parts, rows, save)
    found["trials"] = search.trials
    return found


def searched(search: Search, earlier: Row | None) -> Settings:
    """Return the settings of the best student: with the fewest steps of the range, then with more."""
    steps = search.ranges["steps"]
    if earlier and earlier.get("trials"):
        search.go_on(earlier)
    else:
        search.search_teachers()
        search.trials = [{**settings, "factors": search.factors, "value": -1.0} for settings in search.starts()]
    search.ranges["steps"] = steps[:1]
    first = {**search.best, "steps": steps[0]}
    search.trials = [trial for trial in search.trials if trial["value"] > 0]
    search.value(first)
    search.run()
    search.ranges["steps"] = steps
    for more in steps[1:]:
        search.value({**search.best, "steps": more})
    return search.best


def widths(job: Job, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return the K to fit."""
    return tuple(width // 8 or 1 for width in wanted) if job.quick else wanted


def at_width(search: Search, best: Settings, width: int) -> tuple[Settings, float]:
    """Return the settings with the temperature that is best at this K among its neighbours, and the value."""
    values = search.ranges["temperature"]
    place = values.index(best["temperature"])
    tried = [{**best, "temperature": values[at]} for at in (place, place - 1, place + 1) if 0 <= at < len(values)]
    value, _, settings = max(
        (search.value(settings, width), -number, settings) for number, settings in enumerate(tried)
    )
    return settings, value


def narrower(job: Job, search: Search, best: Settings, parts: Any, rows: Row, keep: Callable[[], object]) -> None:
    """Add students of fewer numbers."""
    teacher = refitted(best, search, parts.whole, 64)[0]
    for width in widths(job, NARROW):
        settings, value = at_width(search, best, width)
        student = refitted(settings, search, parts.whole, width, teacher=teacher)[1]
        rows[f"student {width}"] = {"validation": value, **last_look(student, parts)}
        keep()


def times(job: Job, keep: Callable[[Row], object]) -> Row:
    """Seconds of the chosen teacher and students alone on the machine, from interactions to factors, thrice each."""
    parts = job.parts()
    search = job.search(parts, lambda row: None)
    best = {**{name: values[len(values) // 2] for name, values in search.ranges.items()}, **(job.chosen or {})}
    found: Row = {"settings": best, "teacher": [], **{f"student {width}": [] for width in widths(job, WIDTHS)}}
    for _ in range(3):
        began = time.perf_counter()
        teacher = refitted(best, search, parts.whole, 64)[0]
        found["teacher"].append(round(time.perf_counter() - began, 3))
        for width in widths(job, WIDTHS):
            began = time.perf_counter()
            student = refitted(best, search, parts.whole, width, teacher=teacher)[1].fit(parts.whole)
            found[f"student {width}"].append(round(time.perf_counter() - began, 3))
        began = time.perf_counter()
        evaluate(student, parts.valid, metrics="ndcg@20", seen=[])
        found.setdefault("evaluation", []).append(round(time.perf_counter() - began, 3))
    return found
