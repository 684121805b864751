"""Search for models that need a fit for every setting."""

from __future__ import annotations

import math
import statistics
from typing import Any

from taylorank.models.factor_fit import rank_for
from taylorank.selection.attempt import STEP_USERS, Attempt
from taylorank.selection.path_fit import GROWTH
from taylorank.selection.proposers import proposer
from taylorank.selection.ranges import Choice
from taylorank.selection.spaces import cut_ranks, own_values
from taylorank.selection.student_schedule import cut_schedule
from taylorank.selection.study import BudgetSpent, Stopped, Study
from taylorank.selection.trials import Trial


def trial_search(study: Study) -> str:
    """Try one setting after the other until the budget is spent; return how they were chosen."""
    cut_schedule(study)
    own = own_values(study.base)
    if hasattr(study.base, "settled_for"):
        own = study.base.settled_for(study.train)
    space = cut_ranks(study.space, study.train)
    source = proposer(space, own, trials=study.budget.trials, random_state=study.random_state)
    some_users = study.judge.on_sample(STEP_USERS, random_state=study.random_state)
    try:
        while True:
            number = study.begin_fit(seconds=_expected(study))
            params = source.ask(most_factors=_affordable_rank(study), at_random=_affordable_rank(study, share=0.5))
            if params is None:
                return source.method
            attempt = Attempt(study, params, source=source, judge=some_users)
            trial = study.tried(params, study.judge, fit=number, fitted=attempt.fitted, steps=attempt.values)
            source.tell(trial)
            if trial.status == "cut off":
                break
    except Stopped:
        return source.method
    except BudgetSpent:
        pass
    _note_unfinished(study)
    return source.method


def _expected(study: Study) -> float:
    """Return the seconds of one more trial and, if there is to be one, of the last fit."""
    seconds = [trial.seconds for trial in study.trials if trial.status == "complete"]
    return statistics.median(seconds) + study.larger * (max(seconds) + study.sharing) if seconds else 0.0


def _affordable_rank(study: Study, *, share: float = 1.0) -> float:
    """Return the largest number of factors of which a share of the seconds left pays a trial and the last fit.

    Seconds grow like K to the power `GROWTH`, from those of the quickest trial for its rank: the first fit of a process
    is slow. Pruned trials are not whole.
    """
    whole = [trial for trial in study.trials if trial.status == "complete" and trial.seconds > 0]
    if study.budget.seconds is None or not whole:
        return math.inf
    seconds = share * max(study.budget.left - study.larger * study.sharing, 0.0) / (1 + study.larger)
    own = rank_for(study.base, study.train) if hasattr(study.base, "factors") else 1
    return float(max(t.params.get("factors", own) * (seconds / t.seconds) ** (1 / GROWTH) for t in whole))


def _note_unfinished(study: Study) -> None:
    """Note which trials the seconds cut off, which ranks they did not allow, and whether they allowed only a few."""
    study.unfinished += [_words(trial) for trial in study.trials if trial.status == "cut off"]
    _note_ranks(study)
    study.note_few_fits()


def _note_ranks(study: Study) -> None:
    """Note if the best trial has the largest rank that was tried and the seconds did not pay a larger one."""
    part = cut_ranks(study.space, study.train).get("factors")
    if study.budget.seconds is None or study.best is None or not isinstance(part, Choice):
        return
    tried, best = max(trial.params["factors"] for trial in study.trials), study.best.params["factors"]
    if best == tried < max(part.values):
        study.note_ranks_above(best)


def _words(trial: Trial) -> str:
    setting = ", ".join(f"{name} = {_short(value)}" for name, value in trial.params.items()) or "the model"
    if trial.value is None:
        return f"{setting} was cut off before it had a value"
    return f"{setting} was cut off after step {trial.steps} with {trial.value:.4f}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
