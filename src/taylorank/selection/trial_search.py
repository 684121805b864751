"""Search for models that need a fit for every setting."""

from __future__ import annotations

import copy
import math
import statistics
from typing import Any

from taylorank.models.parameters import settled_params
from taylorank.models.recommender import Recommender
from taylorank.selection.judge import Judge
from taylorank.selection.proposers import Proposer, proposer
from taylorank.selection.study import BudgetSpent, GivenUp, Study
from taylorank.selection.trial import Trial

STEP_USERS = 2000  # judged after each sweep, to give up early


def trial_search(study: Study) -> str:
    """Try one setting after the other until the budget is spent; return how they were chosen."""
    source = proposer(study.space, settled_params(study.base), trials=study.budget.trials, seed=study.seed)
    steps = study.judge.on_sample(STEP_USERS, seed=study.seed)
    try:
        while True:
            number = study.begin_fit(seconds=_expected(study))
            params = source.ask()
            if params is None:
                break
            watch = Watch(study, source, steps)
            trial = watch.attempt(params, number)
            source.tell(trial)
    except BudgetSpent:
        pass
    return source.method


def _expected(study: Study) -> float:
    """Return the seconds of one more trial and, if there is to be one, of the last fit."""
    seconds = [trial.seconds for trial in study.trials if trial.status == "complete"]
    return statistics.median(seconds) + (max(seconds) if study.refit else 0.0) if seconds else 0.0


class Watch:
    """Follows one fit sweep by sweep."""

    def __init__(self, study: Study, source: Proposer, judge: Judge) -> None:
        self.study, self.source, self.judge = study, source, judge
        self.values: list[float] = []
        self.model: Recommender | None = None

    def attempt(self, params: dict[str, Any], number: int) -> Trial:
        """Fit and judge one setting."""
        return self.study.tried(
            params, self.study.judge, fit=number, fitted=lambda: self._fitted(params), steps=self.values
        )

    def _fitted(self, params: dict[str, Any]) -> Recommender:
        self.model = self.study.new_model(params)
        return self.model.fit(self.study.train, callback=self.step)

    def step(self, progress: Any) -> bool:
        """Judge the model as it is now; raise if it is not worth going on."""
        if self.study.fits > 1 and self.study.budget.left <= 0:
            raise GivenUp("out of time")
        now = snapshot(progress, self.model) if getattr(self.model, "steps_compare", True) else None
        if now is None:
            return False
        self.values.append(round(self.judge.value(now), 6))
        if math.isfinite(self.values[-1]) and self.source.hopeless(len(self.values), self.values[-1]):
            raise GivenUp(f"below the median of earlier trials at sweep {len(self.values)}")
        return False


def snapshot(progress: Any, model: Any) -> Recommender | None:
    """Return the model as of this sweep, if the solver can give it."""
    if hasattr(progress, "model"):
        fitted: Recommender | None = progress.model()
        return fitted
    if not hasattr(progress, "user_factors"):
        return None
    now: Recommender = copy.copy(model)
    vars(now).update(user_factors_=progress.user_factors, item_factors_=progress.item_factors)
    return now
