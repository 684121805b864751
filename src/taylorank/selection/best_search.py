"""The search of `fit_best`: popular items, RG², EASE and a student, one after the other, within one budget of seconds.

Every part leaves the seconds that the last fit to all data will take, judged by the fits so far. What the last part
leaves goes to the best model: for larger ranks of RG², for settings near the best of the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import TaylorankError, in_one_line
from taylorank.metrics import bootstrap_means, choosing_metric, percentile_interval
from taylorank.models import EASE, RG2, Distilled, Popularity
from taylorank.models.recommender import Recommender
from taylorank.models.teacher import unfitted
from taylorank.ranking import evaluate
from taylorank.selection.attempt import fit_steps
from taylorank.selection.costs import (
    CAUTION,
    affordable_student,
    changed,
    ease_costs,
    fit_of_best,
    longest_trial,
    ranks_in_memory,
    student_seconds,
)
from taylorank.selection.found import Found
from taylorank.selection.hold_out import HeldBack
from taylorank.selection.judge import Judge
from taylorank.selection.path_fit import GROWTH
from taylorank.selection.ranges import Choice, Steps, near
from taylorank.selection.selected import Candidate, Interval
from taylorank.selection.spaces import SPACES
from taylorank.selection.study import GRACE, Budget
from taylorank.selection.trials import Trial
from taylorank.selection.tuning import Tuning, tune

CELLS_PER_SECOND = 4e6  # users × items that are judged, for each second of the budget
FEWEST_JUDGED = 2000
RG_SHARE = 0.45  # of the budget
EASE_SHARE = 0.35  # of what RG² left
FIRST_PENALTY = 46.0  # of EASE, with few neighbours
EASE_TRIALS, STUDENT_TRIALS = 16, 16
NEIGHBOURS = (64, 256, 512)  # of EASE, beside all items
PENALTIES = tuple(float(f"{10 ** (step / 3):.2g}") for step in range(13))  # of EASE: 1, 2.2, 4.6, …, 10,000
LARGER_STUDENTS = (128, 256)  # ranks, beside its own
SHORTEST = 0.1  # seconds of a search
FEWEST_TAUGHT = 50  # users


class BestSearch:
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
        self.train, self.metric, self.budget = held.train, metric, budget
        self.random_state, self.device, self.progress = random_state, device, progress
        judge = Judge(choosing_metric(metric), held.valid)
        most = int(CELLS_PER_SECOND * budget.seconds / self.train.n_items)
        self.valid = judge.on_sample(max(FEWEST_JUDGED, most), random_state=random_state).valid
        self.users = int(np.count_nonzero(self.valid.by_user.row_lengths))
        self.larger = (held.train.nnz + held.valid.nnz) / held.train.nnz
        self.found: list[Found] = []
        self._searches: dict[
            str, dict[str, Any]
        ] = {}  # a model's name → how it was tuned, if by a fit for each setting
        self.skipped: list[Candidate] = []

    def run(self) -> None:
        """Try everything that the budget allows; Ctrl-C ends it early, by its exception."""
        for part in (self._popularity, self._rg2, self._ease, self._student, self._more):
            part()

    @property
    def best(self) -> Found | None:
        """The highest value; the first of equals."""
        return max(self.found, key=lambda one: one.value, default=None)

    def lead(self) -> tuple[float, Interval] | None:
        """Return the advantage of the best over the next, with its interval over users; None without another."""
        ranked = sorted(self.found, key=lambda one: -one.value)
        if len(ranked) < 2:
            return None
        differences = (ranked[0].values - ranked[1].values)[:, None]
        means = bootstrap_means(differences, np.ones_like(differences), random_state=self.random_state)
        low, high = percentile_interval(means, 0.95).ravel().tolist()
        return ranked[0].value - ranked[1].value, (low, high)

    def _popularity(self) -> None:
        self.progress("popular items")
        began = time.perf_counter()
        self._keep("Popularity", {}, Popularity().fit(self.train), settings=1, began=began, refit=0.0)

    def _rg2(self) -> None:
        space = {**SPACES["rg2"], "factors": Choice(ranks_in_memory(self.train))}
        model = RG2(random_state=self.random_state, device=self.device)
        self._tuned("RG2", model, space=space, seconds=RG_SHARE * self.budget.left, refit=fit_of_best)

    def _ease(self) -> None:
        spare = self.budget.left - self._reserve
        needed = ease_costs(self.train, NEIGHBOURS, self.valid.nnz, device=self.device)
        paid = sorted((k for k in needed if self._pays(needed[k], spare)), key=lambda k: needed[k])
        if not paid:
            left = f"{max(spare, 0.0):.0f} s are left"
            words = f"as one fit to {self.train.n_items:,} items takes about {min(needed.values()):.0f} s and {left}"
            self.skipped.append(Candidate("EASE", note=words))
            return
        teachable = self._pupil((1 - EASE_SHARE) * self.budget.left)[1] is not None
        seconds = max(needed[paid[-1]], EASE_SHARE * spare if teachable else spare)
        model = EASE(FIRST_PENALTY, neighbours=paid[0], device=self.device)
        space = {**SPACES["ease"], "neighbours": Choice(tuple(paid))}
        how: dict[str, Any] = {"trials": EASE_TRIALS, "refit": longest_trial}
        self._searches["EASE"] = {"model": model, "space": space, **how}
        steps, later = (
            {"regularization": Steps(PENALTIES), "neighbours": Steps(tuple(paid))},
            self.budget.left - seconds,
        )
        self._tuned("EASE", model, seconds=seconds, space=steps, **how)
        if isinstance(self.found[-1].model, EASE):
            self._again(self.found[-1], reserve=later)

    def _pays(self, needed: float, spare: float) -> bool:
        """Whether the spare seconds pay a fit and, beyond what is reserved, another to all data."""
        return CAUTION * needed + max(0.0, self.larger * needed - self._reserve) <= spare

    def _teacher(self) -> Found | None:
        return next((one for one in self.found if isinstance(one.model, RG2)), None)

    def _pupil(self, left: float) -> tuple[float, Distilled | None]:
        """Return the seconds of a student's fit, and the student that `left` pays twice beside its teacher."""
        teacher = self._teacher()
        taught = int(np.count_nonzero(self.train.by_user.row_lengths))
        if teacher is None or taught < FEWEST_TAUGHT:
            return 0.0, None
        base = Distilled(teacher.model, random_state=self.random_state, device=self.device)
        return affordable_student(base, self.train, (left - teacher.refit) / 2, lists=self._listing(teacher))

    def _listing(self, teacher: Found) -> float:
        """Seconds of the teacher's lists: as long as ranking for all users."""
        return teacher.judging * self.train.n_users / max(self.users, 1)

    def _student(self) -> None:
        teacher = self._teacher()
        taught = int(np.count_nonzero(self.train.by_user.row_lengths))
        if teacher is None or taught < FEWEST_TAUGHT:
            few = f"as {taught} users are too few to teach it"
            self.skipped.append(Candidate("Distilled", note=few if teacher else "as there is no teacher"))
            return
        left = self.budget.left - teacher.refit
        seconds, student = self._pupil(self.budget.left)
        if student is None:
            words = f"as a fit takes about {seconds:.0f} s, and another to all data, and {max(left, 0):.0f} s are left"
            self.skipped.append(Candidate("Distilled", note=words))
            return
        larger, lists = [changed(student, factors=rank) for rank in LARGER_STUDENTS], self._listing(teacher)
        ranks = {one.factors: student_seconds(one, self.train, lists=lists) for one in larger}
        offered = {rank: needed for rank, needed in ranks.items() if 2 * needed + seconds <= left}
        space = {"factors": Choice((student.factors, *offered)), **SPACES["distilled"]}
        how: dict[str, Any] = {"space": space, "trials": STUDENT_TRIALS}
        how["refit"] = lambda found: teacher.refit + longest_trial(found)
        self._searches["Distilled"] = {"model": student, **how}
        self._tuned("Distilled", student, seconds=left - CAUTION * max(seconds, *offered.values(), 0.0), **how)

    def _more(self) -> None:
        if (best := self.best) is not None:
            self._again(best)

    def _again(self, earlier: Found, *, reserve: float = 0.0) -> None:
        """Search a model once more with all but some of the seconds that are left, and keep the better of both."""
        left = self.budget.left - reserve
        is_path = isinstance(earlier.model, RG2)
        how = self._larger_ranks(earlier, left) if is_path else self._nearer_settings(earlier, left)
        found, skipped, place = len(self.found), len(self.skipped), self.found.index(earlier)
        try:
            if how is not None:
                self._tuned(earlier.candidate.name, **how)
        finally:
            del self.skipped[skipped:]
            if len(self.found) > found:
                self.found[place] = earlier.or_better(self.found.pop())

    def _larger_ranks(self, best: Found, left: float) -> dict[str, Any] | None:
        """How to search a larger rank of RG², if the largest so far is the best: that which can be fitted twice."""
        rank = best.candidate.params["factors"]
        each = CAUTION * best.refit * (1 + 1 / self.larger)  # a fit for the search and one to all data
        paid = [r for r in ranks_in_memory(self.train) if r > rank and each * (r / rank) ** GROWTH <= left]
        if rank < best.largest or not paid:
            return None
        space = {name: SPACES["rg2"][name] for name in ("regularization", "popularity_discount")}
        seconds = left - CAUTION * best.refit * (paid[-1] / rank) ** GROWTH
        return {
            "model": unfitted(best.model),
            "space": {"factors": Choice((paid[-1],)), **space},
            "seconds": seconds,
            "refit": fit_of_best,
        }

    def _nearer_settings(self, best: Found, left: float) -> dict[str, Any] | None:
        """How to search near the best settings of a model that needs a fit for each, if two can be paid."""
        how, seconds = self._searches.get(best.candidate.name), left - CAUTION * best.refit
        if how is None or seconds < 2 * best.refit:
            return None
        return {**how, "space": near(how["space"], best.candidate.params), "seconds": seconds}

    def _tuned(
        self, name: str, model: Recommender, *, refit: Callable[[Tuning], float], seconds: float, **how: Any
    ) -> None:
        """Tune a model, and keep the best; a failure is noted, and Ctrl-C raised again after that."""
        began, tried = time.perf_counter(), []

        def show(trial: Trial) -> None:
            tried.append(trial)
            best = max((one.value for one in tried if one.value is not None), default=0.0)
            self.progress(f"{name}: {len(tried)} settings tried, best {self.metric} {best:.4f}")

        self.progress(name)
        try:
            found = tune(
                model,
                self.train,
                self.valid,
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
        result = evaluate(
            model,
            self.valid,
            metrics=self.metric,
            per_user=True,
            confidence=0.95,
            random_state=self.random_state,
        )
        now = time.perf_counter()
        candidate = Candidate(
            name,
            params,
            result[self.metric],
            result.intervals.get(self.metric),
            seconds=round(now - began, 2),
            **facts,
        )
        self.found.append(Found(candidate, model, result.per_user[self.metric], refit, now - start, steps))

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
