"""One setting while it is fitted: judged step by step, pruned if far behind, ended in time with what it reached."""

from __future__ import annotations

import math
from typing import Any

from taylorank.data import Interactions
from taylorank.models.recommender import Recommender
from taylorank.ranking import Rankable
from taylorank.selection.judge import Judge
from taylorank.selection.proposers import Proposer
from taylorank.selection.study import CutOff, Pruned, Study

STEP_USERS = 2000  # judged after each sweep, to prune early


class Attempt:
    """Fits one setting; `judge` is for its steps.

    If seconds are limited, it keeps the best state so far and raises `CutOff` with it when one more step, its judgement
    on all users and the last fit would not end in time.
    """

    def __init__(self, study: Study, params: dict[str, Any], *, source: Proposer, judge: Judge) -> None:
        self.study, self.params, self.source, self.judge = study, params, source, judge
        self.values: list[float] = []
        self._best: tuple[float, int, Any] | None = None  # value, step, state
        self._began = self._last = study.now
        self._compares = True
        self._whole = math.inf

    def fitted(self) -> Recommender:
        """Return the fitted model."""
        model = self.study.new_model(self.params)
        self._compares = getattr(model, "steps_compare", True)
        self._whole = getattr(model, "iterations", None) or getattr(model, "epochs", None) or math.inf
        return model.fit(self.study.train, callback=self._after_step)

    def _after_step(self, progress: Any) -> None:
        now = snapshot(progress) if self._compares else None
        if now is not None:
            self._judge_step(now, progress.step)
        if progress.step < self._whole and self._ends_here():
            self._cut_off(progress)
        self._last = self.study.now

    def _judge_step(self, now: Rankable, step: int) -> None:
        self.values.append(round(self.judge.value(now), 6))
        value = self.values[-1]
        if self.study.budget.seconds is not None and value > (-math.inf if self._best is None else self._best[0]):
            self._best = (value, step, now)
        if math.isfinite(value) and self.source.should_prune(len(self.values), value):
            raise Pruned(f"below the median of earlier trials at sweep {len(self.values)}")

    def _ends_here(self) -> bool:
        """Whether one more step as long as the last, judging, and the last fit would take more than is left."""
        if self.study.budget.seconds is None:
            return False
        now = self.study.now
        step = now - self._last
        return self.study.budget.left < step + self.study.judging + self._refit(now - self._began + step)

    def _refit(self, spent: float) -> float:
        """Seconds of the last fit, if there is to be one: of this setting up to there, or of the best one."""
        longest = max(spent, 0.0 if self.study.best is None else self.study.best.seconds)
        return self.study.larger * (longest + self.study.sharing)

    def _cut_off(self, progress: Any) -> None:
        """End the fit with its best state; where there is none on the way, only if it is not the first and too late."""
        if self._best is not None:
            raise CutOff(self._best[2], self._best[1])
        state = snapshot(progress)
        if state is not None:
            raise CutOff(state, progress.step)
        self.study.check_time()


def snapshot(progress: Any) -> Rankable | None:
    """Return the model as of this step, if the solver can give it."""
    now: Rankable | None = progress.model() if hasattr(progress, "model") else None
    return now


def fit_steps(model: Any, train: Interactions, steps: int | None) -> Any:
    """Fit, and stop after so many steps if the trial that chose the setting was cut off there."""
    return model.fit(train) if steps is None else model.fit(train, callback=lambda progress: progress.step >= steps)
