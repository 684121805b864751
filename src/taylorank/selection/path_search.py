"""Search for models whose one fit holds a whole family: every rank, every threshold, every ranking (`model.path`).

1. With a budget in seconds, ranks first: fits of growing rank with the model's own exponents, as long as the largest
   rank of the path is its best and a fit of a larger one can be paid; then fits of that rank climb over the
   parameters that need a fit of their own (γ and ρ), and go over to a larger rank as soon as it turns out to be
   affordable. Along the path of each fit the others are climbed, which needs no further fit. Judged on a sample of the
   validation users.
2. With a budget in fits alone, γ and ρ are climbed with fits of a moderate rank, then from there with the largest; the
   best γ grows with the rank.
3. The best few points of the best fit are judged on all users.

With few enough combinations every one is tried. All decisions follow from the values and, if seconds are limited, from
the time that fits have taken.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from taylorank.models.factor_fit import settled_for
from taylorank.selection.climbing import climb
from taylorank.selection.path_fit import Costs, PathFit
from taylorank.selection.proposers import LEAP
from taylorank.selection.spaces import cut_ranks, lattice, nearest
from taylorank.selection.study import BudgetSpent, Stopped, Study
from taylorank.torch_extra import torch_device

ON_PATH = ("factors", "regularization", "ranking", "popularity_discount")  # of which one fit holds every value
SAMPLE_USERS = 10_000
SCREEN_RANK = 256
PROBE_SHARE = 4  # the first of growing ranks is SCREEN_RANK over this
FINALISTS = 3
GRID_WORK = 3e10  # multiplications that judging a whole path may cost: a fraction of a second
DEVICE_WORK = 1e14  # the same on a GPU
GRID_FITS = 12  # fits that a whole grid may cost if only seconds are limited

Setting = dict[str, Any]  # a parameter → its value
Axes = dict[str, list[Any]]  # a parameter → its values that may be tried, in order


class LargerRank(Exception):
    """Raised inside a climb when its fits were quick enough for a larger rank after all."""


def path_search(study: Study) -> str:
    """Search until the end or until the budget is spent; return how."""
    PathSearch(study).run()
    return "one factorisation for each pair of exponents, every rank and threshold from it"


class PathSearch:
    """The state of the search; the trials are in the study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.sample = study.judge.on_sample(SAMPLE_USERS, random_state=study.random_state)
        own = settled_for(study.base, study.train)
        values = {name: lattice(part) for name, part in cut_ranks(study.space, study.train).items()}
        self.ranks: list[int] = values.get("factors", [min(own["factors"], study.train.n_users, study.train.n_items)])
        self.on_path: Axes = {name: values[name] for name in ON_PATH if name in values}
        self.by_fit: Axes = {name: part for name, part in values.items() if name not in ON_PATH}
        self.at = {name: nearest(part, own[name]) for name, part in values.items()}
        self.costs = Costs(study)
        self.grid_work = DEVICE_WORK if torch_device(own.get("device", "cpu")) else GRID_WORK
        self.steps: tuple[int, ...] = (2, 1)
        self.largest = 0  # of the growing ranks, with a budget in seconds
        self.best: PathFit | None = None
        self.reached: dict[tuple[Any, ...], float] = {}  # by rank and the parameters that need a fit of their own

    def run(self) -> None:
        """Run the stages as far as the budget allows."""
        screen = max([rank for rank in self.ranks if rank <= SCREEN_RANK], default=self.ranks[0])
        limit = self.study.budget.trials
        combinations = math.prod(len(values) for values in self.by_fit.values())
        try:
            if combinations <= (GRID_FITS if limit is None else limit) and self._grid_is_quick(self.ranks[-1]):
                for setting in _combinations(self.by_fit):
                    self._fit(setting, self.ranks[-1])
            elif self.study.budget.seconds is not None:
                self._ranks_first()
            elif screen == self.ranks[-1]:
                self._stage(screen, steps=(2, 1))
            else:
                self._two_stages(screen)
        except Stopped:
            return
        except BudgetSpent:
            self.study.note_few_fits()
        if self.largest and self._largest_is_best():
            self.study.note_ranks_above(self.largest)
        self._finalists()

    def _ranks_first(self) -> None:
        """Fit growing ranks while the largest is best and affordable, then climb near the best rank.

        The first fit of a process is slow, so what is affordable is asked again after every fit.
        """
        self._fit_own(max([rank for rank in self.ranks if rank <= SCREEN_RANK // PROBE_SHARE], default=self.ranks[0]))
        self._grow()
        done = False
        while not done:
            rank = self.largest
            near = min([r for r in self.ranks if self.at.get("factors", rank) < r <= rank], default=rank)
            try:
                self._stage(near, steps=(2, 1), seconds=self.costs.refit(near), may_grow=True)
            except LargerRank:
                self._grow()
            done = self.largest == rank

    def _fit_own(self, rank: int) -> None:
        """Fit with the best parameters so far; of the path only long steps are tried."""
        self.steps, self.largest = (2,), rank
        self._fit({name: self.at[name] for name in self.by_fit}, rank)
        self.steps = (2, 1)

    def _grow(self) -> None:
        """Fit larger ranks while the largest is best and a larger one can be paid."""
        while (larger := self._affordable()) > self.largest:
            self._fit_own(larger)  # its path holds the smaller ones too

    def _largest_is_best(self) -> bool:
        """Whether the largest rank so far is the best, and larger ones are offered."""
        return bool(self.at.get("factors", self.largest) == self.largest < self.ranks[-1])

    def _affordable(self) -> int:
        """Return the largest near rank of which the seconds left pay a fit and the last one, if it may be better."""
        if not self._largest_is_best():
            return self.largest
        left, near = self.study.budget.left, [r for r in self.ranks if r <= LEAP * self.largest]
        larger = [r for r in near if self.costs.search(r) + self.costs.refit(r) < left]
        return max([self.largest, *larger])

    def _two_stages(self, screen: int) -> None:
        """Climb with fits of rank `screen`, then from there with the largest."""
        self.steps = (2,)
        try:
            self._stage(screen, steps=(2, 1), fits=1)
        except Stopped:
            raise
        except BudgetSpent:
            pass
        self.steps = (2, 1)
        if self.at.get("factors", screen) < screen:
            return  # smaller is better already
        self.best = None  # the finalists come from this stage
        self._stage(self.ranks[-1], steps=(1,))

    def _stage(
        self, rank: int, *, steps: tuple[int, ...], seconds: float = 0.0, fits: int = 0, may_grow: bool = False
    ) -> None:
        """Climb over what needs a fit of its own, leaving `seconds` and `fits` for later.

        With `may_grow` it raises `LargerRank` when a larger rank can be paid and may be better.
        """

        def value(setting: Setting) -> float:
            found = self._fit(setting, rank, seconds=seconds, fits=fits)
            if may_grow and self._affordable() > self.largest:
                raise LargerRank
            return found

        climb(self.by_fit, self.at, value, steps=steps)

    def _fit(self, setting: Setting, rank: int, *, seconds: float = 0.0, fits: int = 0) -> float:
        """Fit, look for the best point of its path, and return its value."""
        key = (rank, *setting.values())
        if key in self.reached:
            return self.reached[key]
        number = self.study.begin_fit(seconds=seconds + self.costs.search(rank), fits=fits)
        is_first = self.best is None or rank > self.best.rank
        start = {**self.at, **setting}
        if "factors" in start:
            start["factors"] = rank if is_first else min(rank, self.at["factors"])
        fit = PathFit(self.study, start, self.sample, rank=rank, number=number)
        try:
            self._along(fit, try_ranks=is_first)
        finally:
            self.costs.learn(fit)
            if fit.value > (-math.inf if self.best is None else self.best.value):
                self.best, self.at = fit, {**self.at, **fit.ranked[0].params}
        self.reached[key] = fit.value
        return fit.value

    def _along(self, fit: PathFit, *, try_ranks: bool) -> None:
        """Judge every point of the path if that is quick; else climb, over the ranks only with `try_ranks`."""
        axes = {name: [v for v in part if name != "factors" or v <= fit.rank] for name, part in self.on_path.items()}
        if self._grid_is_quick(fit.rank):
            by_rank = {name: part[::-1] if name == "factors" else part for name, part in axes.items()}
            for point in _combinations(by_rank):  # the largest first
                fit.point(point, self.sample)
                self._stop_if_late()
        elif fit.point({}, fit.quick).value is not None:
            self._climb_path(fit, {name: part for name, part in axes.items() if name != "factors"})
            if try_ranks and "factors" in axes:
                self._climb_path(fit, {"factors": axes["factors"]})

    def _stop_if_late(self) -> None:
        """End the search, once there is a value, if the seconds are spent."""
        if self.study.budget.left <= 0 and self.study.best is not None:
            raise BudgetSpent

    def _climb_path(self, fit: PathFit, axes: Axes) -> None:
        """Climb over some parameters from the best point of the fit."""
        start = fit.ranked[0].params

        def value(point: Setting) -> float:
            self._stop_if_late()
            found = fit.point({**start, **point}, fit.quick).value
            return -math.inf if found is None else found

        climb(axes, start, value, steps=self.steps)

    def _grid_is_quick(self, rank: int) -> bool:
        points = math.prod(len(values) for values in self.on_path.values())
        return points * rank * self.sample.users * self.study.train.n_items <= self.grid_work

    def _finalists(self) -> None:
        """Judge the best points on all users, as far as time allows."""
        if self.best is None or self.sample is self.study.judge:
            return
        for trial in self.best.ranked[:FINALISTS]:
            if self.study.budget.left < self.costs.judging(self.best.rank) + self.costs.refit(self.best.rank):
                return
            self.best.point(trial.params, self.study.judge)


def _combinations(axes: Axes) -> list[Setting]:
    """Return every setting of the axes."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
