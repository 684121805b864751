"""One tuning run: what is tuned, on what, how much it may cost, and what has been tried."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import ParameterError, TaylorankError
from taylorank.models.recommender import Recommender
from taylorank.selection.journal import Journal, Key, key_of
from taylorank.selection.judge import Judge, ShortJudge
from taylorank.selection.space import Space
from taylorank.selection.trial import Status, Trial


class BudgetSpent(Exception):
    """Raised inside a search when it may not go on; what was tried so far counts."""


class Stopped(BudgetSpent):
    """The callback asked to stop."""


class GivenUp(Exception):
    """Raised out of a fit whose setting is hopeless, or that is out of time; the search goes on."""


@dataclass
class Budget:
    """At most so many fits, and at most so many seconds, those of resumed trials included."""

    trials: int | None
    seconds: float | None
    began: float = field(default_factory=lambda: time.perf_counter())
    carried: float = 0.0

    def __post_init__(self) -> None:
        if self.trials is not None and (not isinstance(self.trials, int | np.integer) or self.trials < 1):
            raise ParameterError(f"trials={self.trials!r} is not a count", "give a whole number ≥ 1")
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds={self.seconds} allows nothing", "give more than 0")

    @property
    def spent(self) -> float:
        """Seconds since the start, with those of trials that an earlier run made."""
        return self.carried + time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds that remain; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.spent


@dataclass
class Study:
    """The run; searches call `begin_fit`, then `tried` for each point of that fit."""

    base: Recommender
    train: Interactions
    judge: Judge
    space: Space
    budget: Budget
    journal: Journal
    seed: int
    callback: Callable[[Trial], object] | None = None
    trials: list[Trial] = field(default_factory=list)
    known: dict[Key, Trial] = field(default_factory=dict)
    fits: int = 0
    refit: bool = False
    model: Recommender | None = None  # that of the best trial so far, unless it came from the file

    def begin_fit(self, *, seconds: float = 0.0, fits: int = 0) -> int:
        """Return the number of a new fit, if then `seconds` and `fits` can be left; else end the search.

        The first fit is always allowed, so that there is a result.
        """
        if self.budget.trials is not None and self.fits and self.fits + fits >= self.budget.trials:
            raise BudgetSpent
        if self.fits and self.budget.left <= seconds:
            raise BudgetSpent
        self.fits += 1
        return self.fits - 1

    def new_model(self, params: dict[str, Any]) -> Recommender:
        """Return an unfitted model with the parameters of `base`, changed by `params`."""
        return type(self.base)(**self.base.get_params()).set_params(**params)

    def tried(
        self,
        params: dict[str, Any],
        judge: Judge | ShortJudge,
        *,
        fit: int,
        fitted: Callable[[], Recommender],
        steps: Sequence[float] = (),
    ) -> Trial:
        """Judge the model that `fitted` gives for `params`, or take the trial from the file if it is there.

        `steps` is filled by `fitted` with values on the way. An exception makes a failed trial, not a failed search.
        """
        key = key_of(params, judge.users)
        if key in self.known:
            return self.known[key]
        found = self.journal.find(key)
        if found is not None:
            self.budget.carried += found.seconds
            return self.add(found)
        start, model, value, note = time.perf_counter(), None, math.nan, ""
        status: Status = "failed"
        try:
            model = fitted()
            value = judge.value(model)
            status = "complete" if math.isfinite(value) else "failed"
            note = "" if math.isfinite(value) else f"{judge.metric} is {value}"
        except BudgetSpent:
            raise
        except GivenUp as reason:
            status, note = "pruned", str(reason)
        except Exception as error:
            note = _reason(error)
        seconds = round(time.perf_counter() - start, 4)
        known = value if status == "complete" else None
        return self.add(Trial(params, known, seconds, status, tuple(steps), fit, judge.users, note), model)

    def add(self, trial: Trial, model: Recommender | None = None) -> Trial:
        """Keep a trial, and the model if it is the best so far."""
        self.trials.append(trial)
        self.known[key_of(trial.params, trial.users)] = trial
        self.journal.add(trial)
        if self.best is trial:
            self.model = model
        if self.callback is not None and self.callback(trial):
            raise Stopped
        return trial

    @property
    def best(self) -> Trial | None:
        """The complete trial with the highest value, of those judged on the most users; the first of equals."""
        complete = [trial for trial in self.trials if trial.status == "complete" and trial.value is not None]
        if not complete:
            return None
        most = max(trial.users for trial in complete)
        return max((t for t in complete if t.users == most), key=lambda t: t.value or 0.0)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, TaylorankError) else f"{type(error).__name__}: {text}"
