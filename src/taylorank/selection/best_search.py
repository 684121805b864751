"""The search of `fit_best`: popular items, RG², EASE, iALS and a student, one after the other, within some seconds.

Every part leaves the seconds that the last fit to all data will take, judged by the fits so far. What the last part
leaves goes to the best model: for larger ranks of RG² or other exponents, for settings near the best of the others.
At last, models that the validation data cannot tell apart are judged on further parts of the data.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from taylorank.models import EASE, IALS, RG2, Distilled, Popularity
from taylorank.models.teacher import unfitted
from taylorank.selection.best_tried import PATIENCE, Tried
from taylorank.selection.costs import ease_costs, fit_of_best, ials_seconds, longest_trial, ranks_in_memory
from taylorank.selection.found import Found
from taylorank.selection.hold_out import HeldBack
from taylorank.selection.path_fit import GROWTH
from taylorank.selection.ranges import Choice, Steps, near
from taylorank.selection.selected import Candidate
from taylorank.selection.spaces import RANKS, SPACES, cut_ranks, largest_rank
from taylorank.selection.student_schedule import CAUTION, affordable_student, changed, schedule_of, student_seconds

RG_SHARE = 0.45  # of the budget
EASE_SHARE = 0.4  # of what RG² left
FIRST_PENALTY = 46.0  # of EASE, with few neighbours
IALS_SHARE = 0.3  # of what these left
STUDENT_SHARE = 0.5  # of what all these left, if that is a fit at least
EASE_TRIALS, IALS_TRIALS, STUDENT_TRIALS = 16, 24, 16
FEWEST_TRIALS = 8  # of iALS; with fewer it is not worth a try
RANK_STEP, LEAST_GROWTH = 16, 1.125  # of a larger rank of RG², at last
FEWEST_PAIRS = 4  # of γ and ρ, for another search of RG²
NEIGHBOURS = (64, 256, 512)  # of EASE, beside all items
PENALTIES = tuple(float(f"{10 ** (step / 3):.2g}") for step in range(13))  # of EASE: 1, 2.2, 4.6, …, 10,000
LARGER_STUDENTS = (128, 256)  # ranks, beside its own
FEWEST_TAUGHT = 50  # users


class BestSearch(Tried):
    """The parts of the search, each with its share of the seconds."""

    def __init__(self, held: HeldBack, **how: Any) -> None:
        super().__init__(held, **how)
        self._searches: dict[
            str, dict[str, Any]
        ] = {}  # a model's name → how it was tuned, if by a fit for each setting

    def run(self) -> None:
        """Try everything that the budget allows; Ctrl-C ends it early, by its exception."""
        for part in (
            self._popularity,
            self._rg2,
            self._ease,
            self._ials,
            self._student,
            self._more,
            self._look_further,
        ):
            part()

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
        seconds = max(CAUTION * needed[paid[0]], EASE_SHARE * spare)
        model = EASE(FIRST_PENALTY, neighbours=paid[0], device=self.device)
        space = {**SPACES["ease"], "neighbours": Choice(tuple(paid))}
        how: dict[str, Any] = {"trials": EASE_TRIALS, "refit": longest_trial}
        self._searches["EASE"] = {"model": model, "space": space, **how}
        steps = {"regularization": Steps(PENALTIES), "neighbours": Steps(tuple(paid))}
        later = self.budget.left - seconds
        self._tuned("EASE", model, seconds=seconds, space=steps, **how)
        if isinstance(self.found[-1].model, EASE):
            self._again(self.found[-1], reserve=later)

    def _ials(self) -> None:
        spare = IALS_SHARE * (self.budget.left - self._reserve)
        if spare <= 0:
            self.skipped.append(Candidate("IALS", note="as no seconds are left"))
            return
        model = IALS(random_state=self.random_state, device=self.device)
        ranks = cut_ranks({"factors": Choice(ranks_in_memory(self.train))}, self.train)
        needed = ials_seconds(model, self.train)
        if FEWEST_TRIALS * needed > spare:
            words = f"as one fit takes about {needed:.1f} s and has {max(spare, 0.0):.0f} s for {FEWEST_TRIALS} or more"
            self.skipped.append(Candidate("IALS", note=words))
            return
        how: dict[str, Any] = {"space": {**SPACES["ials"], **ranks}, "trials": IALS_TRIALS, "refit": longest_trial}
        self._searches["IALS"] = {"model": model, **how}
        self._tuned("IALS", model, seconds=spare, patience=PATIENCE, **how)

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
        space = {"factors": Choice((student.factors, *offered)), **SPACES["distilled"], **schedule_of(student)}
        how: dict[str, Any] = {"space": space, "trials": STUDENT_TRIALS}
        how["refit"] = lambda found: teacher.refit + longest_trial(found)
        self._searches["Distilled"] = {"model": student, **how}
        last = max(CAUTION * max(seconds, *offered.values(), 0.0), self._reserve - teacher.refit)
        allowed = min(left - last, max(CAUTION * seconds, STUDENT_SHARE * (left - last)))
        self._tuned("Distilled", student, seconds=allowed, patience=PATIENCE, **how)

    def _more(self) -> None:
        if (best := self.best) is not None:
            self._again(best, reserve=self._further_seconds())

    def _again(self, earlier: Found, *, reserve: float = 0.0) -> None:
        """Search a model once more with all but some of the seconds that are left, and keep the better of both."""
        left = self.budget.left - reserve
        is_path = isinstance(earlier.model, RG2)
        larger = self._larger_ranks(earlier, left) if is_path else None
        how = larger or (self._other_exponents if is_path else self._nearer_settings)(earlier, left)
        found, skipped, place = len(self.found), len(self.skipped), self.found.index(earlier)
        try:
            if how is not None:
                self._tuned(earlier.candidate.name, **how)
        finally:
            del self.skipped[skipped:]
            if len(self.found) > found:
                self.found[place] = earlier.or_better(self.found.pop())

    def _larger_ranks(self, best: Found, left: float) -> dict[str, Any] | None:
        """How to search a larger rank of RG², if the largest so far is the best: one that can be fitted twice."""
        rank, most = best.candidate.params["factors"], max(ranks_in_memory(self.train))
        each = CAUTION * best.refit * (1 + 1 / self.larger)  # a fit for the search and one to all data
        paid = rank * (max(left - 2 * best.judging, 0.0) / each) ** (1 / GROWTH)
        larger = min(int(paid / RANK_STEP) * RANK_STEP, most, largest_rank(self.train))
        if rank < best.largest or larger < LEAST_GROWTH * rank:
            return None
        own = {name: Choice((best.model.get_params()[name],)) for name in ("proposal_exponent", "context_exponent")}
        seconds = left - CAUTION * best.refit * (larger / rank) ** GROWTH
        return {
            "model": unfitted(best.model),
            "space": {**SPACES["rg2"], **own, "factors": Choice((larger,))},
            "seconds": seconds,
            "refit": fit_of_best,
        }

    def _other_exponents(self, best: Found, left: float) -> dict[str, Any] | None:
        """How to search γ and ρ near the best of RG² at its rank, if some fits can be paid."""
        rank, last = best.candidate.params["factors"], CAUTION * best.refit
        if left - last < FEWEST_PAIRS * CAUTION * best.refit / self.larger:
            return None
        space = {
            **near(SPACES["rg2"], {**best.candidate.params, "factors": RANKS.values[0]}),
            "factors": Choice((rank,)),
        }
        return {"model": unfitted(best.model), "space": space, "seconds": left - last, "refit": fit_of_best}

    def _nearer_settings(self, best: Found, left: float) -> dict[str, Any] | None:
        """How to search near the best settings of a model that needs a fit for each, if two can be paid."""
        how, seconds = self._searches.get(best.candidate.name), left - CAUTION * best.refit
        if how is None or seconds < 2 * best.refit:
            return None
        return {**how, "space": near(how["space"], best.candidate.params), "seconds": seconds}
