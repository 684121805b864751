"""Search for models whose one fit holds a whole family: every rank, every threshold, every ranking (`model.path`).

1. Screening: fits of a moderate rank climb over the parameters that need a fit of their own (γ and ρ). On each fit the
   others are climbed for nothing. Judged on a sample of the validation users.
2. Final: the same from where screening ended, with fits of the largest rank that the budget allows; the best γ grows
   with the rank.
3. The best few points of the best fit are judged on all users.

With few enough combinations every one is tried. All decisions follow from the values and, if seconds are limited, from
the time that fits have taken.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from taylorank.models.recommender import Recommender
from taylorank.selection.climb import Place, climb
from taylorank.selection.factorisation import Costs, Factorisation
from taylorank.selection.space import lattice, nearest
from taylorank.selection.study import BudgetSpent, Stopped, Study

PATH = ("factors", "regularization", "ranking", "popularity_discount")  # free once there is a fit
SAMPLE_USERS = 10_000
SCREEN_RANK = 256
SCREEN_SHARE = 0.45  # of the seconds
FINALISTS = 3
GRID_WORK = 3e10  # multiplications that judging a whole path may cost: a fraction of a second
GRID_FITS = 12  # fits that a whole grid may cost if only seconds are limited


def has_path(model: Recommender) -> bool:
    """Return whether one fit of `model` gives a path."""
    return hasattr(model, "path") and getattr(model, "solver", None) == "spectral"


def path_search(study: Study) -> str:
    """Search until the end or until the budget is spent; return how."""
    PathSearch(study).run()
    return "one factorisation for each pair of exponents, every rank and threshold from it"


class PathSearch:
    """Where the search stands; the trials are in the study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.sample = study.judge.on_sample(SAMPLE_USERS, seed=study.seed)
        own = study.base.get_params()
        axes = {name: lattice(part) for name, part in study.space.items()}
        most = min(study.train.n_users, study.train.n_items)
        self.ranks = sorted({min(int(rank), most) for rank in axes.get("factors", [own["factors"]])})
        if "factors" in axes:
            axes["factors"] = self.ranks
        self.cheap = {name: axes[name] for name in PATH if name in axes}
        self.dear = {name: values for name, values in axes.items() if name not in PATH}
        self.at = {name: nearest(values, own[name]) for name, values in axes.items()}
        self.costs = Costs(study)
        self.steps: tuple[int, ...] = (2, 1)
        self.best: Factorisation | None = None
        self.values: dict[tuple[Any, ...], float] = {}  # by rank and what needs a fit of its own

    def run(self) -> None:
        """Go through the stages as far as the budget goes."""
        screen = max([rank for rank in self.ranks if rank <= SCREEN_RANK], default=self.ranks[0])
        limit = self.study.budget.trials
        combinations = math.prod(len(values) for values in self.dear.values())
        try:
            if combinations <= (GRID_FITS if limit is None else limit) and self._is_light(self.ranks[-1]):
                for values in itertools.product(*self.dear.values()):
                    self._fit(dict(zip(self.dear, values, strict=True)), self.ranks[-1])
            elif screen == self.ranks[-1]:
                self._stage(screen, steps=(2, 1))
            else:
                self._two_stages(screen)
        except Stopped:
            return
        except BudgetSpent:
            pass
        self._finalists()

    def _two_stages(self, screen: int) -> None:
        """Climb with fits of rank `screen`, then from there with the largest that the budget allows."""
        seconds = self.study.budget.seconds
        kept = 0.0 if seconds is None else (1 - SCREEN_SHARE) * seconds
        self.steps = (2,)
        try:
            self._stage(screen, steps=(2, 1), seconds=kept, fits=1)
        except Stopped:
            raise
        except BudgetSpent:
            pass
        self.steps = (2, 1)
        if self.at.get("factors", screen) < screen:
            return  # smaller is better already
        affordable = [rank for rank in self.ranks if self.costs.search(rank) + self.costs.refit(rank) < self._left]
        rank = max([screen, *affordable])
        if rank > screen:
            self.best = None  # the finalists come from this stage
        self._stage(rank, steps=(1,), seconds=self.costs.refit(rank))

    @property
    def _left(self) -> float:
        return self.study.budget.left

    def _stage(self, rank: int, *, steps: tuple[int, ...], seconds: float = 0.0, fits: int = 0) -> None:
        """Climb over what needs a fit of its own, leaving `seconds` and `fits` for later."""

        def value(place: Place) -> float:
            dear = {name: self.dear[name][i] for name, i in place.items()}
            return self._fit(dear, rank, seconds=seconds, fits=fits)

        start = {name: values.index(self.at[name]) for name, values in self.dear.items()}
        climb({name: len(values) for name, values in self.dear.items()}, start, value, steps=steps)

    def _fit(self, dear: dict[str, Any], rank: int, *, seconds: float = 0.0, fits: int = 0) -> float:
        """Fit, look for the best point of its path, and return its value."""
        key = (rank, *dear.values())
        if key in self.values:
            return self.values[key]
        self.study.begin_fit(seconds=seconds + self.costs.search(rank), fits=fits)
        is_first = self.best is None
        reached = min(rank, self.at.get("factors", rank))
        start = {**self.at, **dear, **({"factors": rank if is_first else reached} if "factors" in self.at else {})}
        fit = Factorisation(self.study, start, self.sample, rank=rank)
        try:
            self._along(fit, try_ranks=is_first)
        finally:
            self.costs.learn(fit)
            if fit.value > (-math.inf if self.best is None else self.best.value):
                self.best, self.at = fit, {**self.at, **fit.ranked[0].params}
        self.values[key] = fit.value
        return fit.value

    def _along(self, fit: Factorisation, *, try_ranks: bool) -> None:
        """Judge every point of the path if that is quick; else climb, over the ranks only where that is asked for."""
        axes = {name: [v for v in values if name != "factors" or v <= fit.rank] for name, values in self.cheap.items()}
        if self._is_light(fit.rank):
            for values in itertools.product(*axes.values()):
                fit.point(dict(zip(axes, values, strict=True)), self.sample)
        elif fit.point({}, fit.quick).value is not None:
            self._climb(fit, {name: values for name, values in axes.items() if name != "factors"})
            if try_ranks and "factors" in axes:
                self._climb(fit, {"factors": axes["factors"]})

    def _climb(self, fit: Factorisation, axes: dict[str, list[Any]]) -> None:
        """Climb over some parameters from the best point of the fit."""
        standing = fit.ranked[0].params

        def value(place: Place) -> float:
            point = fit.point({**standing, **{name: axes[name][i] for name, i in place.items()}}, fit.quick)
            return -math.inf if point.value is None else point.value

        start = {name: values.index(standing[name]) for name, values in axes.items()}
        climb({name: len(values) for name, values in axes.items()}, start, value, steps=self.steps)

    def _is_light(self, rank: int) -> bool:
        points = math.prod(len(values) for values in self.cheap.values())
        return points * rank * self.sample.users * self.study.train.n_items <= GRID_WORK

    def _finalists(self) -> None:
        """Judge the best points on all users, as far as time allows."""
        if self.best is None or self.sample is self.study.judge:
            return
        for trial in self.best.ranked[:FINALISTS]:
            if self._left < self.costs.judging(self.best.rank) + self.costs.refit(self.best.rank):
                return
            self.best.point(trial.params, self.study.judge)
