"""One tuning run: what is tuned, on what, how much it may cost, and what has been tried."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.errors import ParameterError, in_one_line
from taylorank.models.recommender import Recommender
from taylorank.progress import report
from taylorank.selection.judge import Judge, ShortlistJudge
from taylorank.selection.ranges import Space
from taylorank.selection.trials import Key, Trial, append_trial, key_of

FEW_FITS = 5  # fewer say little about a space
GRACE = 0.1  # share of the seconds by which a budget may be overrun without a word


class BudgetSpent(Exception):
    """Raised inside a search when it may not go on; what was tried so far counts."""


class Stopped(BudgetSpent):
    """The callback asked to stop."""


class Pruned(Exception):
    """Raised inside a fit whose setting is pruned; the search goes on."""


class CutOff(Exception):
    """Raised inside a fit that is out of time; `model` is the best state that it reached, after `steps`, if any."""

    def __init__(self, model: Any = None, steps: int | None = None) -> None:
        super().__init__("out of time" if model is None else f"out of time; as of step {steps}")
        self.model, self.steps = model, steps


@dataclass
class Budget:
    """At most so many fits, and at most so many seconds, those of resumed trials included."""

    trials: int | None
    seconds: float | None
    began: float = field(default_factory=lambda: time.perf_counter())
    carried: float = 0.0

    def __post_init__(self) -> None:
        if self.trials is not None:
            check_whole(self.trials, "trials")
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds={self.seconds} allows nothing", "give more than 0")

    @property
    def left(self) -> float:
        """Seconds that remain, those of trials from the file taken off; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.carried - (time.perf_counter() - self.began)

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.began

    @property
    def overrun(self) -> float:
        """Seconds beyond the limit; 0 before it and without one."""
        return max(0.0, -self.left)


@dataclass
class Study:
    """The run; searches call `begin_fit`, then `tried` for each point of that fit."""

    base: Recommender
    train: Interactions
    judge: Judge
    space: Space
    budget: Budget
    random_state: int
    refit: bool = False
    callback: Callable[[Trial], object] | None = None
    file: Path | None = None
    from_file: dict[Key, Trial] = field(default_factory=dict)  # trials that the file has
    known: dict[Key, Trial] = field(default_factory=dict)  # trials of this run, in their order
    fits: int = 0
    model: Recommender | None = None  # that of the best trial so far, unless it came from the file
    fitting: dict[int, float] = field(default_factory=dict)  # the number of a fit with a path → its seconds
    sharing: float = 0.0  # seconds of what `begun` has, which a last fit to other data makes again
    judging: float = 0.0  # the longest that a model took to judge on all users, in seconds
    unfinished: list[str] = field(default_factory=list)  # what the budget did not allow

    @property
    def now(self) -> float:
        """Seconds on the clock that budgets go by."""
        return time.perf_counter()

    @property
    def larger(self) -> float:
        """How many times as many interactions as a trial the last fit has; 0 if there is to be none."""
        return 1 + self.judge.valid.nnz / max(self.train.nnz, 1) if self.refit else 0.0

    @property
    def trials(self) -> list[Trial]:
        """What was tried, in its order."""
        return list(self.known.values())

    @property
    def best(self) -> Trial | None:
        """The trial with the highest value, of those judged on the most users; the first of equals.

        A trial that was cut off counts with the value that it had reached.
        """
        valued = [trial for trial in self.known.values() if trial.value is not None]
        return max(valued, key=lambda trial: (trial.users, trial.value or 0.0), default=None)

    def begin_fit(self, *, seconds: float = 0.0, fits: int = 0) -> int:
        """Return the number of a new fit; end the search if it would not leave `seconds` and `fits` of the budget.

        The first fit is always allowed, so that there is a result.
        """
        if self.budget.trials is not None and self.fits and self.fits + fits >= self.budget.trials:
            raise BudgetSpent
        if self.fits and self.budget.left <= seconds:
            raise BudgetSpent
        self.fits += 1
        return self.fits - 1

    def note_ranks_above(self, rank: int) -> None:
        """Note that the seconds paid no larger rank than the best."""
        self.unfinished.append(f"ranks above {rank} were not tried, and {rank} was the best")

    def note_few_fits(self) -> None:
        """Note that the seconds, and not the number of trials, allowed only a few fits."""
        limit = self.budget.trials
        if self.budget.seconds is not None and self.fits < min(FEW_FITS, math.inf if limit is None else limit):
            self.unfinished.append(f"{self.budget.seconds:g} s allowed {self.fits} fit{'s' * (self.fits > 1)}, no more")

    def check_time(self, step: float = 0.0) -> None:
        """Stop the fit that is running, unless it is the first, if the seconds left do not pay another `step`."""
        if self.fits > 1 and self.budget.left <= step:
            raise CutOff

    def new_model(self, params: dict[str, Any]) -> Recommender:
        """Return an unfitted model with the parameters of `base`, changed by `params`."""
        model: Recommender = type(self.begun)(**self.begun.get_params(deep=False)).set_params(**params)
        return model

    @cached_property
    def begun(self) -> Any:
        """`base` with the part of a fit that all settings share, such as a teacher, where it has one."""
        prepared: Any = getattr(self.base, "prepared", None)
        if prepared is None or any("__" in name for name in self.space):
            return self.base
        began = self.now
        begun = prepared(self.train)
        self.sharing = self.now - began
        return begun

    def tried(
        self,
        params: dict[str, Any],
        judge: Judge | ShortlistJudge,
        *,
        fit: int,
        fitted: Callable[[], Recommender],
        steps: Sequence[float] = (),
    ) -> Trial:
        """Judge the model that `fitted` gives for `params`, or take the trial from the file if it is there.

        `steps` is filled by `fitted` with values on the way. An exception makes a failed trial, not a failed search.
        One that lacked memory is left out of the file, as another run may have more.
        """
        key = key_of(params, judge.users)
        if key in self.known:
            return self.known[key]
        if key in self.from_file and not self._can_go_further(self.from_file[key]):
            self.budget.carried += self.from_file[key].seconds
            return self._keep(self.from_file[key], None)
        began = time.perf_counter()
        outcome, model, lacks_memory = self._judged(judge, fitted)
        seconds = round(time.perf_counter() - began, 4)
        trial = Trial(params, seconds=seconds, step_values=tuple(steps), fit=fit, users=judge.users, **outcome)
        if self.file is not None and not lacks_memory:
            append_trial(self.file, trial)
        return self._keep(trial, model)

    def _keep(self, trial: Trial, model: Recommender | None) -> Trial:
        """Keep a trial, and the model if it is the best so far."""
        self.known[trial.key] = trial
        if self.best is trial:
            self.model = model
        if self.best is not None:
            report(f"best {self.judge.metric} {self.best.value:.4f}", done=self.fits, total=self.budget.trials)
        if self.callback is not None and self.callback(trial):
            raise Stopped
        return trial

    def _can_go_further(self, trial: Trial) -> bool:
        """Whether a trial of the file was cut off by a smaller budget than this one."""
        return trial.status == "cut off" and self.budget.left - trial.seconds > GRACE * (self.budget.seconds or 0.0)

    def _judged(
        self, judge: Judge | ShortlistJudge, fitted: Callable[[], Recommender]
    ) -> tuple[dict[str, Any], Recommender | None, bool]:
        """Return value, status, steps and note of a trial, its model if it has a value, whether memory was lacking."""
        ended: dict[str, Any] = {"status": "complete"}
        try:
            try:
                model = fitted()
            except CutOff as cut:
                ended, model = {"status": "cut off", "note": str(cut), "steps": cut.steps}, cut.model
            if model is None:
                return {"value": None, **ended}, None, False
            began = time.perf_counter()
            value = judge.value(model)
        except Pruned as reason:
            return {"value": None, "status": "pruned", "note": str(reason)}, None, False
        except Exception as error:
            return {"value": None, "status": "failed", "note": in_one_line(error)}, None, isinstance(error, MemoryError)
        if judge is self.judge:
            self.judging = max(self.judging, time.perf_counter() - began)
        if not math.isfinite(value):
            return {"value": None, "status": "failed", "note": f"{judge.metric} is {value}"}, None, False
        return {"value": value, **ended}, model, False
