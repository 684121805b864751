"""Dense data, where a student of 64 numbers trails its teacher: one change at a time, then all together.

The search over all of them starts with the best value of each, at K = 256 also with what K = 64 has found.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from research.bench.quality.students.search import TEACHER, Ranges, Search, Settings
from research.bench.quality.students.sets import Parts
from research.bench.quality.students.stages import WIDE, Job, Row, told
from taylorank.models import EASE, Distilled
from taylorank.ranking import evaluate

METRIC = "ndcg@10"
BASE: Settings = {
    "sharpness": 1.0,
    "temperature": 0.1,
    "top": 1000,
    "steps": 1000,
    "context_exponent": 0.5,
    "bias": True,
}
CHANGES: dict[str, tuple[Any, ...]] = {  # what may matter most comes first: the seconds may end
    "steps": (300, 3000),
    "sharpness": (0.7, 1.5, 2.0),
    "top": (200, 10**6),
    "temperature": (0.05, 0.07, 0.14, 0.2),
    "context_exponent": (0.0, 1.0),
    "bias": (False,),
    "learning_rate": (0.003, 0.03),
    "batch_size": (128,),
}
WIDTHS = (128, 256, 512)
TOGETHER: Ranges = {
    **WIDE,
    "top": (200, 1000, 10**6),
    "steps": (300, 1000, 3000),
}


def dense(job: Job, keep: Callable[[Row], object]) -> Row:
    """Measure on validation data: the teacher, EASE, a student, each change of it, and a search over all of them.

    What an earlier run measured is kept: all of it on the same data, where the device moves the fourth digit at most.
    """
    parts = job.parts()
    search = job.search(parts, lambda row: None, ranges=_sized(TOGETHER, job), seconds=job.seconds)
    earlier = job.earlier or {}
    rows: list[Row] = [row for row in earlier.get("rows", []) if _is_possible(row)]
    if rows:
        search.teachers = [{**rows[0]["settings"], "value": rows[0]["value"]}]
    else:
        search.search_teachers()
        rows = _alone(search, job)
    base = {**search.best_teacher, **_sized_base(job)}
    search.began = time.perf_counter()
    for change, width in _variants(job):
        if search.is_over:
            break
        if not any((row.get("change"), row.get("factors")) == (change, width) for row in rows):
            rows.append(_student(search, {**base, **change}, width, change))
            keep({"rows": rows, "unfinished": True})
    starts = [{**base, **_best_changes(rows, search)}]
    found: Row = {"rows": rows}
    for width in (4,) if job.quick else (64, 256):
        known = next((row for row in rows if len(row.get("change", ())) > 1 and row["factors"] == width), None)
        if known is not None:
            found[f"together {width}"] = earlier[f"together {width}"]
            starts.append(known["change"])
            continue
        found[f"together {width}"] = _together(search, starts, width, parts)
        rows.append(found[f"together {width}"].pop("row"))
        starts.append(rows[-1]["change"])
        keep({**found, "unfinished": True})
    return found


def _together(search: Search, starts: list[Settings], width: int, parts: Parts) -> Row:
    """Search over all parameters for half of the seconds, from given settings; the best has its row."""
    search.trials, search.factors, search.began, rows = [], width, time.perf_counter(), []
    for settings in itertools.chain(starts, search._steps()):
        if search.trials and 2 * (time.perf_counter() - search.began) > search.seconds:
            break
        rows.append(_student(search, settings, width, settings))
        search.trials.append({**settings, "factors": width, "value": rows[-1]["value"], "seconds": rows[-1]["fit_s"]})
    return {**told(search, parts), "row": max(rows, key=lambda row: float(row["value"]))}


def _best_changes(rows: list[Row], search: Search) -> Settings:
    """Return the best value of each parameter that was changed alone, among those that the search may take."""
    students = [row for row in rows if row["model"] == "student"]
    best: dict[str, tuple[float, Any]] = {}
    for row in students[1:]:
        for name, value in row["change"].items():
            held = min(value, search.train.n_items) if name == "top" else value
            if held in search.ranges.get(name, ()) and row["value"] > best.get(name, (students[0]["value"], None))[0]:
                best[name] = row["value"], held
    return {name: value for name, (_, value) in best.items()}


def _is_possible(row: Row) -> bool:
    """Whether a row is no student, or one of parameters that students still have."""
    known = Distilled().get_params(deep=False)
    return all(name in known or name.startswith(TEACHER) for name in row.get("change", ()))


def _variants(job: Job) -> list[tuple[Settings, int]]:
    if job.quick:
        return [({}, 4), ({}, 8)]
    single = [({name: value}, 64) for name, values in CHANGES.items() for value in values]
    wider = [({"sharpness": value}, 256) for value in CHANGES["sharpness"][1:]]
    return [({}, 64), *[({}, width) for width in WIDTHS], *wider, *single]


def _sized(ranges: Ranges, job: Job) -> Ranges:
    return {**ranges, "teacher__factors": (8, 16), "top": (20, 50), "steps": (20, 40)} if job.quick else ranges


def _sized_base(job: Job) -> Settings:
    return {**BASE, "top": 50, "steps": 20} if job.quick else BASE


def _alone(search: Search, job: Job) -> list[Row]:
    """The teacher, the same loss at the student's rank, and EASE."""
    best = search.best_teacher
    fit = search.fitted(best["teacher__proposal_exponent"], best["teacher__context_exponent"])
    teacher = search.teacher(best)
    rows = [{"model": "RG²", "factors": teacher.factors, "settings": best, **_values(search, teacher)}]
    for width in (4,) if job.quick else (64, 256):
        at_rank = max(
            (_values(search, model) for model in fit.path((width,), search.ranges["teacher__regularization"])),
            key=lambda row: float(row["value"]),
        )
        rows.append({"model": "RG²", "factors": width, **at_rank})
    for penalty in (50.0, 200.0, 500.0, 1000.0):
        ease = EASE(penalty, device=search.device).fit(search.train)
        rows.append({"model": "EASE", "regularization": penalty, **_values(search, ease)})
    return rows


def _student(search: Search, settings: Settings, width: int, change: Settings) -> Row:
    began = time.perf_counter()
    student = search.student(settings, width)
    spent = round(time.perf_counter() - began, 2)
    return {"model": "student", "factors": width, "change": change, "fit_s": spent, **_values(search, student)}


def _values(search: Search, model: Any) -> Row:
    found = evaluate(model, search.valid, metrics=(METRIC, "ndcg@20"))
    return {"value": round(float(found["ndcg@20"]), 5), METRIC: round(float(found[METRIC]), 5)}
