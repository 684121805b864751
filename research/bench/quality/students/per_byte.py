"""Quality at every K: after `public`, students of further K, and RG² cut to each K."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from research.bench.quality.students.public import NARROW, WIDTHS, widths
from research.bench.quality.students.search import FACTORS, GAMMA, RHO, Search, Settings, settings_of
from research.bench.quality.students.stages import Job, Row, last_look, refitted, rg2_of
from taylorank.models import RG2

FURTHER = (8, 256)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)  # thresholds of RG² at the rank of a student


def per_byte(job: Job, keep: Callable[[Row], object]) -> Row:
    """RG² at each K with the threshold that validation data choose; students with the temperature of the nearest K."""
    parts, chosen = job.parts(), job.chosen or {}
    search = job.search(parts, lambda row: None)
    best = settings_of(chosen.get("best") or {name: values[-1] for name, values in search.ranges.items()})
    rows: Row = dict((job.earlier or {}).get("models", {}))
    for width in widths(job, tuple(sorted({*WIDTHS, *NARROW, *FURTHER}))):
        if f"rg2 {width}" not in rows:
            rows[f"rg2 {width}"] = _cut(search, chosen.get("best_teacher") or best, parts, width)
            keep({"models": rows, "unfinished": True})
    wanted = job.widths or widths(job, FURTHER)
    if any(f"student {width}" not in rows for width in wanted):
        teacher = refitted(best, search, parts.whole, 64)[0]
    for width in [width for width in wanted if f"student {width}" not in rows]:
        settings = {**best, "temperature": nearest_temperature(chosen.get("models", {}), width, best)}
        rows[f"student {width}"] = last_look(refitted(settings, search, parts.whole, width, teacher=teacher)[1], parts)
        keep({"models": rows, "unfinished": True})
    return {"models": rows}


def nearest_temperature(models: Mapping[str, Row], width: int, best: Settings) -> float:
    """Return the temperature of the student whose K is nearest by ratio.

    >>> models = {"student 16": {"settings": {"temperature": 0.07}}, "student 128": {"settings": {"temperature": 0.1}}}
    >>> nearest_temperature(models, 8, {}), nearest_temperature(models, 256, {})
    (0.07, 0.1)
    """
    known = {int(name.split()[1]): row["settings"] for name, row in models.items() if name.startswith("student ")}
    if not known:
        return float(best["temperature"])
    nearest = min(known, key=lambda other: max(other / width, width / other))
    return float(known[nearest]["temperature"])


def _cut(search: Search, settings: Settings, parts: Any, width: int) -> Row:
    """RG² of the teacher's exponents at rank `width`."""
    fit = search.fitted(settings[GAMMA], settings[RHO])
    tried = (model.set_params(popularity_discount=0.0) for model in fit.path((min(width, fit.rank),), SHARES))
    value, share = max((search.measure(model), model.share) for model in tried)
    model: RG2 = rg2_of({**settings, FACTORS: width, "teacher__regularization": share}, search)
    return {"validation": value, **last_look(model, parts)}
