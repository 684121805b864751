"""How fast a fit gets good: its metric on validation data on the way."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from typing import Any

from taylorank.data import Interactions
from taylorank.ranking import Rankable
from taylorank.selection.trial_search import snapshot

GROWTH = 1.15  # every step at first, then in equal ratios: a chart on a log axis needs no more


def follow(model: Any, train: Interactions, value_of: Callable[[Rankable], float]) -> list[dict[str, float]]:
    """Fit `model` and return [{"step", "seconds", "value"}, …], the last being the end of the fit.

    Steps are measured where `fit` has a callback whose argument gives a snapshot (see `trial_search.snapshot`); any
    other model has the one point at its end. The clock stands still while a snapshot is measured.
    """
    points: list[dict[str, float]] = []
    paused, step, next_step = 0.0, 1, 1
    start = time.perf_counter()

    def watch(progress: Any) -> None:
        nonlocal paused, step, next_step
        began = time.perf_counter()
        step = step_of(progress)
        now = snapshot(progress, model) if step >= next_step else None
        if now is not None:
            points.append({"step": step, "seconds": began - start - paused, "value": value_of(now)})
            next_step = max(step + 1, math.ceil(step * GROWTH))
        paused += time.perf_counter() - began

    model.fit(train, **({"callback": watch} if takes_callback(model) else {}))
    end = {"step": step, "seconds": time.perf_counter() - start - paused, "value": value_of(model)}
    return [*(point for point in points if point["step"] != step), end]


def takes_callback(model: Any) -> bool:
    """Return whether `fit` has a callback."""
    try:
        return "callback" in inspect.signature(model.fit).parameters
    except (TypeError, ValueError):
        return False


def step_of(progress: Any) -> int:
    """Return the number of sweeps, or of passes over the data, that a fit has made."""
    return int(next(getattr(progress, name) for name in ("step", "sweep", "passes") if hasattr(progress, name)))
