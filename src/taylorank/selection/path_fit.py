"""One fit that holds a path, and estimates of what such fits cost."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from taylorank.models.recommender import Recommender
from taylorank.selection.judge import Judge, ShortlistJudge
from taylorank.selection.study import Study
from taylorank.selection.trials import Trial

GROWTH = 1.6  # seconds of a fit grow like the rank to this power
RANKING = ("ranking", "popularity_discount")  # parameters that only the order of the items depends on
FULL_RANKING = 8.0  # times as long as ranking shortlists
CAUTION = 1.15


class PathFit:
    """One fit, made at the first point of its path that is not in the file of trials.

    `quick` judges points by the items that the model at `start` ranks best.
    """

    def __init__(self, study: Study, start: dict[str, Any], sample: Judge, *, rank: int, number: int) -> None:
        self.study, self.start, self.rank, self.number = study, start, rank, number
        self.quick = ShortlistJudge(sample, lambda: self._model(start))
        self._fitted: Any = None
        self._failure: Exception | None = None
        self._last = 0.0  # when the last pass ended
        self.trials: list[Trial] = []

    @property
    def ranked(self) -> list[Trial]:
        """The complete trials on a sample of users, best first."""
        fewest = min((trial.users for trial in self.trials), default=0)
        complete = [t for t in self.trials if t.status == "complete" and t.users == fewest]
        return sorted(complete, key=lambda t: -(t.value or 0.0))

    @property
    def value(self) -> float:
        """The best value along the path; −∞ if there is none."""
        ranked = self.ranked
        return ranked[0].value if ranked and ranked[0].value is not None else -math.inf

    def point(self, params: dict[str, Any], judge: Judge | ShortlistJudge) -> Trial:
        """Judge one point of the path: the start with `params` changed."""
        whole = {name: {**self.start, **params}[name] for name in self.study.space}
        trial = self.study.tried(whole, judge, fit=self.number, fitted=lambda: self._model(whole))
        if not any(trial is known for known in self.trials):
            self.trials.append(trial)
        return trial

    def _model(self, params: dict[str, Any]) -> Recommender:
        """Return the point of the path; fit first if that has not been done."""
        if self._failure is not None:
            raise self._failure
        if self._fitted is None:
            self._fit()
        share = params.get("regularization", self._fitted.share)
        model: Recommender = next(self._fitted.path([params.get("factors", self.rank)], [share]))
        return model.set_params(**{name: params[name] for name in RANKING if name in params})

    def _fit(self) -> None:
        try:
            model = self.study.new_model({**self.start, "factors": self.rank})
            self._last = self.study.now
            began = self._last
            self._fitted = model.fit(self.study.train, callback=lambda _: self._after_pass())
            self.study.fitting[self.number] = self.study.now - began
        except Exception as error:
            self._failure = error  # every other point would fail in the same way
            raise

    def _after_pass(self) -> None:
        """End the fit if another pass as long as the last one would take more than is left."""
        now = self.study.now
        self.study.check_time(now - self._last)
        self._last = now


@dataclass(frozen=True)
class Cost:
    """Seconds that one fit took: to its first value, and for each of the `points` after it."""

    rank: int
    users: int
    first: float
    each: float
    points: int


class Costs:
    """Estimated seconds of the next fits, from those of the last ones; 0 before the first."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._fits: list[Cost] = []

    def learn(self, fit: PathFit) -> None:
        """Record the times of the trials of a fit."""
        seconds = [trial.seconds for trial in fit.trials if trial.fit == fit.number]
        if seconds:
            each = statistics.median(seconds[1:] or [0.0])
            self._fits.append(Cost(fit.rank, fit.trials[0].users, seconds[0], each, len(seconds) - 1))

    def search(self, rank: int) -> float:
        """A fit of this rank, and a search along its path."""
        if not self._fits:
            return 0.0
        last = self._fits[-1]
        points = max(cost.points for cost in self._fits)
        return self._first(rank) + CAUTION * points * last.each * rank / last.rank

    def refit(self, rank: int) -> float:
        """The fit to training and validation data at the end, if there is to be one."""
        more = 1 + self.study.judge.valid.nnz / max(self.study.train.nnz, 1)
        return more * self._first(rank) if self.study.refit else 0.0

    def judging(self, rank: int) -> float:
        """The value of one point on all users, over all items."""
        if not self._fits:
            return 0.0
        last = self._fits[-1]
        return FULL_RANKING * last.each * rank / last.rank * self.study.judge.users / last.users

    def _first(self, rank: int) -> float:
        """A fit of this rank, to its first value."""
        if not self._fits:
            return 0.0
        like = [cost for cost in self._fits[-3:] if cost.rank == self._fits[-1].rank]
        growth: float = (rank / like[-1].rank) ** GROWTH
        return CAUTION * growth * max(cost.first for cost in like)
