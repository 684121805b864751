"""Search for models that need a fit for every setting."""

from __future__ import annotations

import math
import statistics
from typing import Any

from taylorank.models.recommender import Recommender
from taylorank.ranking import Rankable
from taylorank.selection.judge import Judge
from taylorank.selection.proposers import Listed, Tpe, proposer
from taylorank.selection.spaces import own_values
from taylorank.selection.study import BudgetSpent, Pruned, Study
from taylorank.selection.trials import Trial

STEP_USERS = 2000  # judged after each sweep, to prune early


def trial_search(study: Study) -> str:
    """Try one setting after the other until the budget is spent; return how they were chosen."""
    own = own_values(study.base)
    source = proposer(study.space, own, trials=study.budget.trials, random_state=study.random_state)
    some_users = study.judge.on_sample(STEP_USERS, random_state=study.random_state)
    try:
        while True:
            number = study.begin_fit(seconds=_expected(study))
            params = source.ask()
            if params is None:
                break
            source.tell(_attempt(study, params, number, source=source, judge=some_users))
    except BudgetSpent:
        pass
    return source.method


def _expected(study: Study) -> float:
    """Return the seconds of one more trial and, if there is to be one, of the last fit."""
    seconds = [trial.seconds for trial in study.trials if trial.status == "complete"]
    return statistics.median(seconds) + (max(seconds) if study.refit else 0.0) if seconds else 0.0


def _attempt(study: Study, params: dict[str, Any], number: int, *, source: Listed | Tpe, judge: Judge) -> Trial:
    """Fit and judge one setting; prune it on the way if its steps are too far behind."""
    values: list[float] = []

    def fitted() -> Recommender:
        model = study.new_model(params)
        steps_compare = getattr(model, "steps_compare", True)
        return model.fit(study.train, callback=after_step if steps_compare else lambda _: study.check_time())

    def after_step(progress: Any) -> None:
        study.check_time()
        now = snapshot(progress)
        if now is None:
            return
        values.append(round(judge.value(now), 6))
        if math.isfinite(values[-1]) and source.should_prune(len(values), values[-1]):
            raise Pruned(f"below the median of earlier trials at sweep {len(values)}")

    return study.tried(params, study.judge, fit=number, fitted=fitted, steps=values)


def snapshot(progress: Any) -> Rankable | None:
    """Return the model as of this step, if the solver can give it."""
    now: Rankable | None = progress.model() if hasattr(progress, "model") else None
    return now
