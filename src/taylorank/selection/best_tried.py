"""What `fit_best` has tried within its seconds, and the means to try more: tuning, judging, fitting again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import TaylorankError, in_one_line
from taylorank.metrics import choosing_metric
from taylorank.metrics.judged import Values
from taylorank.models import Distilled
from taylorank.models.recommender import Recommender
from taylorank.models.teacher import unfitted
from taylorank.ranking import Evaluation, evaluate
from taylorank.selection.attempt import fit_steps
from taylorank.selection.found import LEVEL, Found, mean_interval
from taylorank.selection.further_parts import contenders, further_parts
from taylorank.selection.hold_out import HeldBack
from taylorank.selection.judge import Judge
from taylorank.selection.selected import Candidate, Interval
from taylorank.selection.student_schedule import CAUTION
from taylorank.selection.study import GRACE, Budget
from taylorank.selection.trials import Trial
from taylorank.selection.tuning import Tuning, tune

SHARE = 0.1  # of each user's interactions, held back
CELLS_PER_SECOND = 2e6  # users × items on which kinds of models are compared, for each second of the budget
SEARCHED_CELLS = 1e6  # the same for settings of one kind, of which there are many
FEWEST_JUDGED = 2000
SHORTEST = 0.1  # seconds of a search
HOPELESS = 0.9  # of the best value so far: a model that reaches less
PATIENCE = 4  # trials before that is said
FURTHER_PARTS = 3
FURTHER_SHARE = 0.4  # of the seconds left, for further parts


class Tried:
    """One run; `found` has what was tried, `skipped` what was not."""

    def __init__(
        self,
        held: HeldBack,
        *,
        metric: str,
        budget: Budget,
        random_state: int,
        device: Any,
        progress: Callable[[str], object],
    ) -> None:
        assert budget.seconds is not None
        self.held, self.train, self.metric, self.budget = held, held.train, metric, budget
        self.random_state, self.device, self.progress = random_state, device, progress
        self.valid = self._some_users(held, CELLS_PER_SECOND)
        self.searched = self._some_users(held, SEARCHED_CELLS)
        self.users = int(np.count_nonzero(self.valid.by_user.row_lengths))
        self.larger = (held.train.nnz + held.valid.nnz) / held.train.nnz
        self.found: list[Found] = []
        self.skipped: list[Candidate] = []

    def _some_users(self, held: HeldBack, cells: float) -> Interactions:
        """Return the validation data of as many users as have `cells` scores for each second of the budget."""
        most = int(cells * (self.budget.seconds or 0.0) / held.train.n_items)
        judge = Judge(choosing_metric(self.metric), held.valid)
        return judge.on_sample(max(FEWEST_JUDGED, most), random_state=self.random_state).valid

    @property
    def best(self) -> Found | None:
        """The highest value of those judged on the most parts; the first of equals."""
        return max(self.found, key=lambda one: (len(one.looks), one.value), default=None)

    def lead(self) -> tuple[float, Interval] | None:
        """Return the advantage of the best over the next, with its interval over users; None without another."""
        ranked = sorted(self.found, key=lambda one: (-len(one.looks), -one.value))
        if len(ranked) < 2:
            return None
        differences = ranked[0].ahead_of(ranked[1])
        return float(differences.mean()), mean_interval(differences, self.random_state)

    def _tuned(
        self,
        name: str,
        model: Recommender,
        *,
        refit: Callable[[Tuning], float],
        seconds: float,
        patience: float = np.inf,
        **how: Any,
    ) -> None:
        """Tune a model, and keep the best; a failure is noted, and Ctrl-C raised again after that.

        After `patience` trials far below the best model so far it is given up.
        """
        began, tried = time.perf_counter(), []
        wanted = HOPELESS * (self.best.value if self.best is not None else 0.0)

        def show(trial: Trial) -> bool:
            tried.append(trial)
            best = max((one.value for one in tried if one.value is not None), default=0.0)
            self.progress(f"{name}: {len(tried)} settings tried, best {self.metric} {best:.4f}")
            return len(tried) >= patience and best < wanted

        self.progress(name)
        try:
            found = tune(
                model,
                self.train,
                self.searched,
                metric=self.metric,
                seconds=max(round(seconds, 1), SHORTEST),
                random_state=self.random_state,
                callback=show,
                **how,
            )
        except (TaylorankError, MemoryError) as error:
            self.skipped.append(Candidate(name, settings=len(tried), note=f"failed: {in_one_line(error)}"))
            return
        assert found.model is not None
        refitting = self.larger * refit(found)
        facts: dict[str, Any] = {"settings": len(tried), "unfinished": tuple(found.unfinished)}
        self._keep(name, found.best, found.model, began=began, refit=refitting, steps=found.steps, **facts)
        self.found[-1].largest = max(trial.params.get("factors", 0) for trial in tried)
        if found.status == "interrupted":
            raise KeyboardInterrupt

    def _keep(
        self,
        name: str,
        params: dict[str, Any],
        model: Recommender,
        *,
        began: float,
        refit: float,
        steps: int | None = None,
        **facts: Any,
    ) -> None:
        """Judge a model over all items, as every candidate is, and keep it."""
        start = time.perf_counter()
        result = self._judged(model, self.valid)
        now = time.perf_counter()
        candidate = Candidate(
            name,
            params,
            result[self.metric],
            result.intervals.get(self.metric),
            seconds=round(now - began, 2),
            **facts,
        )
        looks = (_of_all_users(result.per_user[self.metric], self.valid),)
        self.found.append(Found(candidate, model, looks, refit, now - start, steps))

    def _judged(self, model: Recommender, valid: Interactions) -> Evaluation:
        return evaluate(
            model, valid, metrics=self.metric, per_user=True, confidence=LEVEL, random_state=self.random_state
        )

    def _look_further(self) -> None:
        """Judge those that the data held back does not tell apart on further parts, as far as the seconds allow.

        Each is fitted again with the setting that it has, to what is not held back.
        """
        parts = further_parts(self.held, SHARE, random_state=self.random_state)
        for _, held in zip(range(FURTHER_PARTS), parts, strict=False):
            close = self._contenders()
            if len(close) < 2 or self._part_seconds(close) > self.budget.left - max(one.refit for one in close):
                return
            self.progress(f"{len(close)} models on a further part")
            try:
                looked = [self._looked_at(one, held) for one in close]
            except (TaylorankError, MemoryError):
                return
            for one, again in zip(close, looked, strict=True):
                self.found[self.found.index(one)] = again

    def _looked_at(self, one: Found, held: HeldBack) -> Found:
        valid = self._some_users(held, CELLS_PER_SECOND)
        model = fit_steps(unfitted(one.model), held.train, one.steps)
        values = _of_all_users(self._judged(model, valid).per_user[self.metric], valid)
        return one.looked_at(values, random_state=self.random_state)

    def _contenders(self) -> list[Found]:
        return [] if self.best is None else contenders(self.found, self.best)

    def _part_seconds(self, close: list[Found]) -> float:
        """Seconds of a further part: a fit of each and its judgement."""
        return CAUTION * sum(one.refit / self.larger + one.judging for one in close)

    def _further_seconds(self) -> float:
        """What further parts may take, of the seconds left; 0 if that pays none, or no choice is in doubt."""
        close = self._contenders()
        each, most = self._part_seconds(close), FURTHER_SHARE * self.budget.left
        return min(FURTHER_PARTS * each, most) if len(close) > 1 and each <= most else 0.0

    def refitted(self, chosen: Found, data: Interactions) -> Recommender | None:
        """Return the chosen model fitted to all data; None if that would overrun the budget."""
        assert self.budget.seconds is not None
        if chosen.refit > self.budget.left + GRACE * self.budget.seconds:
            return None
        self.progress(f"fitting {chosen.candidate.name} to all data")
        fresh: Recommender = fit_steps(unfitted(chosen.model), data, chosen.steps)
        return fresh

    def completed(self, chosen: Found, data: Interactions) -> Recommender:
        """Return the chosen model as it is, with everything that the users have: for lack of time to fit it again.

        Histories are folded in where that is one product; a student's users keep their vectors.
        """
        if isinstance(chosen.model, Distilled):
            return chosen.model.with_seen(data)
        return chosen.model.fold_in(data)

    @property
    def _reserve(self) -> float:
        """Seconds of the longest last fit among the candidates so far."""
        return max((one.refit for one in self.found), default=0.0)


def _of_all_users(values: Values, valid: Interactions) -> Values:
    """Return the values of the judged users among all users, NaN for the others."""
    every = np.full(valid.n_users, np.nan)
    every[np.flatnonzero(valid.by_user.row_lengths)] = values
    return every
