"""One fit that holds a path, and what such fits cost."""

from __future__ import annotations

import math
import statistics
from typing import Any

from taylorank.models.recommender import Recommender
from taylorank.selection.judge import Judge
from taylorank.selection.study import GivenUp, Study
from taylorank.selection.trial import Trial

GROWTH = 1.6  # seconds of a fit grow like the rank to this power
POINTS = 8  # that a climb along a path judges, about
CAUTION = 1.15


class Factorisation:
    """One fit, made when the first point of its path is judged that no file has."""

    def __init__(self, study: Study, dear: dict[str, Any], rank: int, number: int) -> None:
        self.study, self.dear, self.rank, self.number = study, dear, rank, number
        self._fitted: Any = None
        self._failure: Exception | None = None
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

    def point(self, params: dict[str, Any], judge: Judge) -> Trial:
        """Judge one point of the path."""
        whole = {name: {**self.dear, **params}[name] for name in self.study.space}
        trial = self.study.tried(whole, judge, fit=self.number, fitted=lambda: self._model(whole))
        self.trials.append(trial)
        return trial

    def _model(self, params: dict[str, Any]) -> Recommender:
        self._fit()
        own = self._fitted.get_params()
        rank, share = params.get("factors", self.rank), params.get("regularization", own["regularization"])
        model: Recommender = next(self._fitted.path([rank], [share]))
        return model.set_params(**{name: params[name] for name in ("ranking",) if name in params})

    def _fit(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._fitted is not None:
            return
        try:
            model = self.study.new_model({**self.dear, "factors": self.rank})
            self._fitted = model.fit(self.study.train, callback=self._watch)
        except Exception as error:
            self._failure = error
            raise

    def _watch(self, _: object) -> bool:
        if self.study.fits > 1 and self.study.budget.left <= 0:
            raise GivenUp("out of time")
        return False


class Costs:
    """Seconds of what comes next, from what the fits so far took; 0 before the first."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._fits: list[tuple[int, float, float]] = []  # rank, seconds of the fit, seconds per user and rank
        self._users = 0

    def learn(self, fit: Factorisation) -> None:
        """Take the times of the trials of a fit: the first holds the fit, the others only judge."""
        seconds = [trial.seconds for trial in fit.trials if trial.fit == fit.number]
        if len(seconds) < 2:
            return
        each = statistics.median(seconds[1:])
        self._fits.append((fit.rank, max(seconds[0] - each, 0.0), each / (fit.rank * fit.trials[0].users)))
        self._users = fit.trials[0].users

    def fit(self, rank: int) -> float:
        """Seconds of a fit of this rank."""
        if not self._fits:
            return 0.0
        last = self._fits[-1][0]
        slowest = max(seconds for own, seconds, _ in self._fits[-3:] if own == last)
        grown: float = (rank / last) ** GROWTH
        return CAUTION * slowest * grown

    def judging(self, rank: int, judge: Judge) -> float:
        """Seconds to judge one point."""
        return self._fits[-1][2] * rank * judge.users if self._fits else 0.0

    def search(self, rank: int) -> float:
        """Seconds of a fit of this rank and of a climb along its path."""
        return self.fit(rank) + (POINTS * self._fits[-1][2] * rank * self._users if self._fits else 0.0)

    def refit(self, rank: int) -> float:
        """Seconds of the last fit, to training and validation data, if there is to be one."""
        if not self.study.refit:
            return 0.0
        more = 1 + self.study.judge.valid.nnz / max(self.study.train.nnz, 1)
        return more * self.fit(rank)
