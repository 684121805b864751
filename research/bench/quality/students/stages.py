"""The stages of the study that look at one set each: ranges, dense data, other sets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.bench.quality.students.search import METRIC, Ranges, Search, Settings
from research.bench.quality.students.sets import Parts, fewer, load
from taylorank.models import EASE, IALS, RG2, Distilled
from taylorank.ranking import evaluate
from taylorank.selection import Choice, Range, tune

Row = dict[str, Any]
SHOWN = ("recall@20", "ndcg@20", "ndcg@10")

# The widest ranges, from which those of the public sets are chosen on other sets.
WIDE: Ranges = {
    "teacher__proposal_exponent": (0.3, 0.5, 0.7, 0.8, 0.9, 1.0),
    "teacher__context_exponent": (0.8, 1.0, 1.2, 1.4),
    "teacher__factors": (256, 512, 1024),
    "teacher__regularization": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    "teacher__popularity_discount": (0.0, 0.1, 0.2, 0.3),
    "sharpness": (0.7, 1.0, 1.3, 1.6, 2.0, 2.5),
    "temperature": (0.05, 0.07, 0.1, 0.14, 0.2),
    "top": (100, 200, 500, 1000, 2000),
    "steps": (500, 1000, 2000, 4000),
    "context_exponent": (0.0, 0.25, 0.5, 0.75, 1.0),
    "bias": (False, True),
}
SMALL: Ranges = {
    **{name: values[1:3] for name, values in WIDE.items()},
    "teacher__factors": (8, 16),
    "top": (20, 50),
    "steps": (20, 40),
    "bias": (False, True),
}


@dataclass(frozen=True)
class Job:
    """One set, one seed, and how to compute."""

    name: str
    seed: int
    folder: Path
    seconds: float
    device: Any
    quick: bool
    ranges: Ranges
    chosen: Settings | None = None  # what an earlier stage chose
    earlier: Row | None = None  # a search to go on with
    widths: tuple[int, ...] = ()  # K of the students of `bytes`; all that are missing if empty

    def parts(self) -> Parts:
        """Return the data."""
        return load(self.name, self.folder, self.seed, quick=self.quick)

    def search(self, parts: Parts, keep: Callable[[Row], object], **others: Any) -> Search:
        """Return a search that tells `keep` what it has after every trial."""
        given = {"ranges": self.ranges, "seconds": self.seconds, **others}
        search = Search(
            parts.train,
            parts.valid,
            seed=self.seed,
            device=self.device,
            keep=lambda: keep(told(search, parts, unfinished=True)),
            **given,
        )
        return search


def told(search: Search, parts: Parts, **facts: Any) -> Row:
    """Return what a search found."""
    best = max((trial["value"] for trial in search.trials), default=None)
    return {
        "train": size_of(parts.train),
        "held_back": parts.held_back,
        "metric": METRIC,
        "best_teacher": {**search.best_teacher, "value": max(teacher["value"] for teacher in search.teachers)},
        "best": {**search.best, "value": best} if search.trials else None,
        "teachers": len(search.teachers),
        "trials": search.trials,
        "seconds": round(time.perf_counter() - search.began, 1),
        **facts,
    }


def size_of(data: Any) -> list[int]:
    """Return users, items and interactions."""
    return [data.n_users, data.n_items, data.nnz]


def ranges(job: Job, keep: Callable[[Row], object]) -> Row:
    """Search the widest ranges on validation data; the test part is never looked at."""
    parts = job.parts()
    search = job.search(parts, keep)
    if job.earlier and job.earlier.get("trials"):
        search.go_on(job.earlier)
    search.run()
    return told(search, parts)


EASE_SPACE = {"regularization": Range(10, 3000, log=True)}
IALS_SPACE = {
    "factors": Choice((64, 128, 256)),
    "unobserved_weight": Range(0.005, 1.0, log=True),
    "regularization": Range(1e-4, 0.1, log=True),
}
MOST_ITEMS = 20_000  # above which EASE is fitted to the first split alone
RIVAL_S = 50.0  # of tuning EASE or iALS, the last trial not counted
EASE_USERS = 4000  # whom EASE is chosen by: its lists are made on the CPU


def others(job: Job, keep: Callable[[Row], object]) -> Row:
    """Teacher, student, EASE and iALS, each tuned on validation data of the first split, refitted, and tested once.

    Teacher and student are those that `ranges` chose on the same validation data.
    """
    parts = job.parts()
    search = job.search(parts, lambda row: None)
    chosen = dict(job.chosen or {})
    if "student" not in chosen:
        chosen |= {"student": search.run(), "rg2": search.best_teacher}
    found: Row = {"train": size_of(parts.train), "held_back": parts.held_back, "chosen": chosen, "models": {}}
    found["models"] |= (job.earlier or {}).get("models", {})
    left = [name for name in ("rg2", "student 64", "ials", "ease") if name not in found["models"]]
    for name in left:
        if name == "ease" and parts.train.n_items > MOST_ITEMS and job.seed > 0:
            continue
        if name in RIVALS and name not in chosen:
            chosen[name] = tuned(name, parts, job)
        found["models"][name] = last_look(_model(name, chosen, search, parts), parts)
        keep({**found, "unfinished": True})
    return found


def _model(name: str, chosen: Row, search: Search, parts: Parts) -> Any:
    """The unfitted model of what was chosen; a student has a fitted teacher."""
    if name == "rg2":
        return rg2_of(chosen["rg2"], search)
    if name in RIVALS:
        return RIVALS[name][0](**chosen[name]["settings"], device=search.device)
    return refitted(chosen["student"], search, parts.whole, 64)[1]


RIVALS: dict[str, Any] = {"ease": (EASE, EASE_SPACE, 5), "ials": (IALS, IALS_SPACE, 16)}


def tuned(name: str, parts: Parts, job: Job) -> Row:
    """Return the parameters of a rival that are best on validation data, and its value there."""
    kind, space, trials = RIVALS[name]
    if job.quick:
        space, trials = {key: Choice((4, 8)) if key == "factors" else value for key, value in space.items()}, 3
    valid = parts.valid if name != "ease" else fewer(parts.valid, EASE_USERS)
    model = kind(device=job.device)
    budget = {"trials": trials, "seconds": RIVAL_S}
    found = tune(model, parts.train, valid, metric=METRIC, space=space, random_state=job.seed, **budget)
    return {"settings": found.best, "value": round(found.value, 6), "trials": len(found.trials)}


def rg2_of(settings: Settings, search: Search) -> RG2:
    """Return the unfitted teacher of these settings."""
    prefix = "teacher__"
    own = {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}
    return RG2(**own, device=search.device)


def refitted(
    settings: Settings, search: Search, whole: Any, factors: int, *, teacher: RG2 | None = None, seed: int | None = None
) -> tuple[RG2, Distilled]:
    """Return the teacher, fitted to all training data, and its unfitted student."""
    teacher = teacher or rg2_of(settings, search).fit(whole)
    own = {name: value for name, value in settings.items() if not name.startswith("teacher__")}
    state = search.seed if seed is None else seed
    student = Distilled(teacher, factors, epochs=1, random_state=state, device=search.device)
    return teacher, student.set_params(**own)


def last_look(model: Any, parts: Parts, *, fit: bool = True) -> Row:
    """Fit to all training data and look at the test part."""
    began = time.perf_counter()
    if fit:
        model.fit(parts.whole)
    spent = time.perf_counter() - began
    found = evaluate(model, parts.test, metrics=SHOWN)
    settled = model.settled_params()
    return {
        "settings": {name: value for name, value in settled.items() if name not in ("num_threads", "device")},
        "fit_s": round(spent, 2),
        "test": {name: round(float(found[name]), 5) for name in SHOWN},
    }
