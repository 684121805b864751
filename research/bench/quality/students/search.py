"""Teacher and student chosen together on validation data, within ranges and seconds.

First teachers alone: the exponents line by line, each with every rank and threshold of its path, the best of them with
every discount of popularity. Then students: some at random, with teachers among the best, then steps to neighbouring
values of one parameter at a time, from the best so far.
"""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.models import RG2, Distilled
from taylorank.ranking import evaluate

METRIC = "ndcg@20"
Settings = dict[str, Any]
Ranges = Mapping[str, Sequence[Any]]
KEPT_FITS = 5  # teachers of other exponents held on the device
TEACHERS = 10  # the best of them, from which most random students draw
AT_RANDOM = 6  # students before steps to neighbours
TEACHER = "teacher__"
GAMMA, RHO = "teacher__proposal_exponent", "teacher__context_exponent"
FACTORS, SHARE, DISCOUNT = "teacher__factors", "teacher__regularization", "teacher__popularity_discount"
DISCOUNTED = 8  # teachers, the best of them, that are measured with every discount


class Search:
    """A search on one set; `teachers` and `trials` are what was measured, in this order."""

    def __init__(
        self,
        train: Interactions,
        valid: Interactions,
        ranges: Ranges,
        *,
        factors: int = 64,
        seconds: float = 60.0,
        seed: int = 0,
        device: Any = "auto",
        keep: Callable[[], object] = lambda: None,
    ) -> None:
        self.train, self.valid, self.factors, self.seed, self.device = train, valid, factors, seed, device
        most = min(train.n_users, train.n_items)
        self.ranges: dict[str, tuple[Any, ...]] = {name: tuple(values) for name, values in ranges.items()}
        self.ranges[FACTORS] = tuple(dict.fromkeys(min(rank, most) for rank in ranges[FACTORS]))
        self.ranges["top"] = tuple(dict.fromkeys(min(top, train.n_items) for top in ranges["top"]))
        self.teachers: list[Settings] = []
        self.trials: list[Settings] = []
        self.keep, self.began, self.seconds = keep, time.perf_counter(), seconds
        self._fits: OrderedDict[tuple[float, float], RG2] = OrderedDict()
        self._rng = np.random.default_rng(seed)

    def run(self) -> Settings:
        """Search; return the settings of the best student."""
        if not self.teachers:
            self.search_teachers()
        for settings in itertools.chain(() if self.trials else self._random(), self._steps()):
            if self.trials and self.is_over:
                break
            self.value(settings)
            self.keep()
        return self.best

    def go_on(self, earlier: Settings) -> None:
        """Take over what an earlier search in the same ranges found; what it did not vary is at its first value."""
        self.teachers = [{DISCOUNT: self.ranges[DISCOUNT][0], **earlier["best_teacher"]}]
        self.trials = [{DISCOUNT: self.ranges[DISCOUNT][0], **trial} for trial in earlier["trials"]]
        self._measure_discounts()

    @property
    def is_over(self) -> bool:
        """Whether the seconds are spent."""
        return time.perf_counter() - self.began > self.seconds

    @property
    def best(self) -> Settings:
        """Settings of the best student so far."""
        own = [trial for trial in self.trials if trial["factors"] == self.factors]
        return settings_of(max(own, key=lambda trial: float(trial["value"])))

    @property
    def best_teacher(self) -> Settings:
        """Settings of the teacher that ranks best by itself."""
        return settings_of(max(self.teachers, key=lambda teacher: float(teacher["value"])))

    def search_teachers(self) -> None:
        """Measure teachers: γ at the middle ρ, then ρ at the best γ, then the neighbours of γ there."""
        gammas, rhos = self.ranges[GAMMA], self.ranges[RHO]
        middle = rhos[len(rhos) // 2]
        for gamma in gammas:
            self._measure_path(gamma, middle)
        best = self.best_teacher[GAMMA]
        for rho in rhos:
            self._measure_path(best, rho)
        place, rho = gammas.index(best), self.best_teacher[RHO]
        for gamma in gammas[max(place - 1, 0) : place + 2]:
            self._measure_path(gamma, rho)
        self._measure_discounts()

    def _measure_discounts(self) -> None:
        for teacher in sorted(self.teachers, key=lambda teacher: -float(teacher["value"]))[:DISCOUNTED]:
            for discount in () if self.is_over else self.ranges[DISCOUNT][1:]:
                settings = {**settings_of(teacher), DISCOUNT: discount}
                self.teachers.append({**settings, "value": self.measure(self.teacher(settings))})
        self.keep()

    def _measure_path(self, gamma: float, rho: float) -> None:
        if self.teachers and (self.is_over or any((t[GAMMA], t[RHO]) == (gamma, rho) for t in self.teachers)):
            return
        for rank, share in itertools.product(self.ranges[FACTORS], self.ranges[SHARE]):
            settings = {GAMMA: gamma, RHO: rho, FACTORS: rank, SHARE: share, DISCOUNT: self.ranges[DISCOUNT][0]}
            self.teachers.append({**settings, "value": self.measure(self.teacher(settings))})
        self.keep()

    def teacher(self, settings: Settings) -> RG2:
        """Return the fitted teacher of these settings."""
        path = self.fitted(settings[GAMMA], settings[RHO]).path((settings[FACTORS],), (settings[SHARE],))
        return next(path).set_params(popularity_discount=settings[DISCOUNT])

    def fitted(self, gamma: float, rho: float) -> RG2:
        """Return RG² with these exponents at the highest rank."""
        key = (gamma, rho)
        if key not in self._fits:
            rank = max(self.ranges[FACTORS])
            model = RG2(rank, proposal_exponent=gamma, context_exponent=rho, device=self.device)
            self._fits[key] = model.fit(self.train)
            if len(self._fits) > KEPT_FITS:
                self._fits.popitem(last=False)
        self._fits.move_to_end(key)
        return self._fits[key]

    def measure(self, model: Any) -> float:
        """Return the metric on validation data."""
        return round(float(evaluate(model, self.valid, metrics=METRIC)[METRIC]), 6)

    def student(self, settings: Settings, factors: int | None = None) -> Distilled:
        """Return the fitted student of these settings."""
        own = {name: value for name, value in settings.items() if not name.startswith(TEACHER)}
        student = Distilled(
            self.teacher(settings), factors or self.factors, epochs=1, random_state=self.seed, device=self.device
        )
        return student.set_params(**own).fit(self.train)

    def value(self, settings: Settings, factors: int | None = None) -> float:
        """Return the value of a student, fitted if it is new; it is among the trials then."""
        width = factors or self.factors
        for trial in self.trials:
            if trial["factors"] == width and settings_of(trial) == settings:
                return float(trial["value"])
        began = time.perf_counter()
        value = self.measure(self.student(settings, width))
        spent = round(time.perf_counter() - began, 2)
        self.trials.append({**settings, "factors": width, "value": value, "seconds": spent})
        return value

    def starts(self) -> list[Settings]:
        """Return the middle of all ranges with the best teacher."""
        own = [name for name in self.ranges if not name.startswith(TEACHER)]
        return [{**self.best_teacher, **{name: self.ranges[name][len(self.ranges[name]) // 2] for name in own}}]

    def _random(self) -> Iterator[Settings]:
        """The middle of all ranges, then settings at random."""
        own = [name for name in self.ranges if not name.startswith(TEACHER)]
        yield from self.starts()
        ranked = sorted(self.teachers, key=lambda teacher: -float(teacher["value"]))
        for number in range(AT_RANDOM):
            among = ranked if number % 3 == 2 else ranked[:TEACHERS]
            teacher = settings_of(among[int(self._rng.integers(len(among)))])
            yield {**teacher, **{name: self._one_of(self.ranges[name]) for name in own}}

    def _one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self._rng.integers(len(values)))]

    def _steps(self) -> Iterator[Settings]:
        """Neighbours of the best that were not tried; when there are none, those of the next best."""
        while True:
            ranked = sorted(self.trials, key=lambda trial: -float(trial["value"]))
            tried = [settings_of(trial) for trial in self.trials if trial["factors"] == self.factors]
            for trial in [trial for trial in ranked if self._is_inside(trial)][:TEACHERS]:
                fresh = [other for other in self.neighbours(settings_of(trial)) if other not in tried]
                if fresh:
                    yield fresh[int(self._rng.integers(len(fresh)))]
                    break
            else:
                return

    def _is_inside(self, trial: Settings) -> bool:
        inside = all(trial[name] in values for name, values in self.ranges.items())
        return inside and bool(trial["factors"] == self.factors)

    def neighbours(self, settings: Settings) -> list[Settings]:
        """Return the settings that differ in one parameter by one place of its range."""
        found = []
        for name, values in self.ranges.items():
            place = values.index(settings[name])
            found += [{**settings, name: values[other]} for other in (place - 1, place + 1) if 0 <= other < len(values)]
        return found


def settings_of(trial: Settings) -> Settings:
    """Return a trial or a teacher without what was measured."""
    return {name: value for name, value in trial.items() if name not in ("value", "seconds", "factors")}
