"""Which setting to try next: all of a small grid, by steps, by Optuna, or at random."""

from __future__ import annotations

import importlib
import itertools
import math
import statistics
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from taylorank.selection.climbing import Climb
from taylorank.selection.ranges import Choice, Range, Space, Steps
from taylorank.selection.spaces import within
from taylorank.selection.trials import Trial

# A setting is pruned at a sweep where it is below the median of the earlier ones, once there are this many of them
# and it has had this many sweeps.
PRUNE_AFTER_TRIALS = 5
PRUNE_AFTER_STEPS = 3
SMALL_GRID = 20  # settings, all of which are tried if only seconds are limited
LEAP = 4  # times as large at most is the next of growing ranks, if seconds are limited: its cost is only estimated
STARTUP_TRIALS = 8  # random ones, before Optuna has anything to be guided by


def proposer(space: Space, first: dict[str, Any], *, trials: int | None, random_state: int) -> Proposer:
    """Return a climb over steps; the whole grid if it fits in the budget; Optuna's TPE if it is there; random search.

    Without a limit of trials, a grid of at most `SMALL_GRID` settings fits. All but a grid within a limit begin with
    `first`, the model's own values moved into the space, so that the defaults are tried wherever the space allows them.
    """
    if space and all(isinstance(part, Steps) for part in space.values()):
        return Climb({name: part.values for name, part in space.items() if isinstance(part, Steps)}, first)
    sizes = [len(part.values) if isinstance(part, Choice) else math.inf for part in space.values()]
    if not space or (trials is not None and math.prod(sizes) <= trials):
        return Listed(_grid(space, random_state), {}, "every combination")
    first = {name: within(part, first[name]) for name, part in space.items()}
    if trials is None and math.prod(sizes) <= SMALL_GRID:
        others = (setting for setting in _grid(space, random_state) if setting != first)
        return Listed(itertools.chain([first], others), {}, "every combination")
    if _has_optuna():
        return Tpe(space, first, random_state=random_state)
    return Listed(
        _random(space, first, random_state), space, "random search (pip install 'taylorank[tune]' for a guided one)"
    )


def _grid(space: Space, random_state: int) -> Iterator[dict[str, Any]]:
    """Every combination once, in an order drawn by random_state, so that a run cut short has tried a random part."""
    values = [part.values if isinstance(part, Choice) else (part.low,) for part in space.values()]
    points = [dict(zip(space, point, strict=True)) for point in itertools.product(*values)]
    return (points[i] for i in np.random.default_rng(random_state).permutation(len(points))[::-1])


def _random(space: Space, first: dict[str, Any], random_state: int) -> Iterator[dict[str, Any]]:
    """`first`, then independent draws."""
    yield first
    for number in itertools.count(1):
        yield drawn(space, number, random_state=random_state)


def drawn(space: Space, number: int, *, random_state: int) -> dict[str, Any]:
    """Return the setting of trial `number` of a random search.

    Each value is drawn by (random_state, the parameter's name, number) alone, so models that have a parameter in
    common try the same values of it, whatever else they have.

    >>> one, two = {"a": Range(0, 1)}, {"b": Range(0, 9), "a": Range(0, 1)}
    >>> drawn(one, 3, random_state=0)["a"] == drawn(two, 3, random_state=0)["a"]
    True
    """
    return {
        name: part.draw(np.random.default_rng([random_state, zlib.crc32(name.encode()), number]))
        for name, part in space.items()
    }


def _has_optuna() -> bool:
    """Import Optuna in a thread of its own.

    It keeps the errors of failed imports, and with them the frames of its first importer, for ever: here those of a
    search, with the models in their variables.
    """
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(importlib.import_module, "optuna").result()
        except ImportError:
            return False
    return True


class _Ranks:
    """A search tries its first setting with the largest affordable rank too, once there is one, while that helps."""

    def __init__(self, space: Space) -> None:
        part = space.get("factors")
        self._offered = part.values if isinstance(part, Choice) else ()
        self._best: dict[str, Any] | None = None  # the first setting with the best rank so far
        self._asked: dict[str, Any] | None = None  # the same with the rank that is being tried
        self._value = -math.inf
        self._helps = True

    def enlarged(self, setting: dict[str, Any], most: float, at_random: float) -> dict[str, Any]:
        """Return the first setting with more factors, up to `most`, if those are to be tried.

        Else return `setting` with at most `at_random`.
        """
        if self._best is None:
            self._best = self._asked = setting
            return setting
        best = self._best.get("factors", 0)
        most = min(most, LEAP * best) if most < math.inf else most
        larger = [rank for rank in self._offered if self._helps and best < rank <= most]
        self._asked = {**self._best, "factors": max(larger)} if larger else None
        if self._asked is not None:
            return self._asked
        lower = [rank for rank in self._offered if rank <= at_random < setting["factors"]]
        return {**setting, "factors": max(lower)} if lower else setting

    def tell(self, trial: Trial) -> None:
        """End this if more factors were no better."""
        if self._asked is None:
            return
        value = trial.value or 0.0
        self._helps = value > self._value
        if self._helps:
            self._best, self._value = self._asked, value
        self._asked = None


class Listed:
    """Proposes `settings` in their order; prunes one that is below the median of those before it at the same step."""

    def __init__(self, settings: Iterator[dict[str, Any]], space: Space, method: str) -> None:
        self.method = method
        self._settings = settings
        self._ranks = _Ranks(space)
        self._curves: list[tuple[float, ...]] = []

    def ask(self, *, most_factors: float = math.inf, at_random: float = math.inf) -> dict[str, Any] | None:
        """Return the next setting, or None if there is none left; at first ranks grow up to a limit."""
        setting = next(self._settings, None)
        return None if setting is None else self._ranks.enlarged(setting, most_factors, at_random)

    def should_prune(self, step: int, value: float) -> bool:
        """Return whether to prune the current setting, given its value at a step (from 1)."""
        others = [curve[step - 1] for curve in self._curves if len(curve) >= step]
        return step > PRUNE_AFTER_STEPS and len(others) >= PRUNE_AFTER_TRIALS and value < statistics.median(others)

    def tell(self, trial: Trial) -> None:
        """Record the outcome of the current setting."""
        self._ranks.tell(trial)
        if trial.step_values:
            self._curves.append(trial.step_values)


class Tpe:
    """Optuna's tree-structured Parzen estimator with its median pruner, after `first` and the first random draws."""

    method = "Optuna TPE"

    def __init__(self, space: Space, first: dict[str, Any], *, random_state: int) -> None:
        import optuna

        pruner = optuna.pruners.MedianPruner(PRUNE_AFTER_TRIALS, PRUNE_AFTER_STEPS + 1)
        sampler = optuna.samplers.TPESampler(seed=random_state % 2**32, n_startup_trials=STARTUP_TRIALS)
        with _quiet_optuna():
            self._study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
        self._space, self._ranks = space, _Ranks(space)
        self._startup = itertools.islice(_random(space, first, random_state), STARTUP_TRIALS)
        self._current: Any = None

    def ask(self, *, most_factors: float = math.inf, at_random: float = math.inf) -> dict[str, Any]:
        """Ask Optuna for a setting, after those to begin with, where ranks grow up to a limit."""
        setting = next(self._startup, None)
        if setting is not None:
            given = self._ranks.enlarged(setting, most_factors, at_random)
            with _quiet_optuna():
                self._study.enqueue_trial(
                    {n: p.values.index(given[n]) if isinstance(p, Choice) else given[n] for n, p in self._space.items()}
                )
        self._current = self._study.ask()
        return {name: self._suggest(name, part) for name, part in self._space.items()}

    def _suggest(self, name: str, part: Range | Choice) -> Any:
        if isinstance(part, Choice):  # by number: Optuna takes only plain values
            return part.values[self._current.suggest_categorical(name, list(range(len(part.values))))]
        if part.integer:
            return self._current.suggest_int(name, int(part.low), int(part.high), log=part.log)
        return self._current.suggest_float(name, part.low, part.high, log=part.log)

    def should_prune(self, step: int, value: float) -> bool:
        """Report the value of a step; the pruner decides."""
        self._current.report(value, step)
        return bool(self._current.should_prune())

    def tell(self, trial: Trial) -> None:
        """Report the outcome to Optuna, after the steps of a trial that came from a file."""
        from optuna.trial import TrialState

        self._ranks.tell(trial)
        reported = self._study.trials[self._current.number].intermediate_values
        for step, value in enumerate(trial.step_values, start=1):
            if step not in reported:
                self._current.report(value, step)
        without = TrialState.PRUNED if trial.status == "pruned" else TrialState.FAIL
        with _quiet_optuna():
            state = without if trial.value is None else TrialState.COMPLETE
            self._study.tell(self._current, trial.value, state=state)


Proposer = Climb | Listed | Tpe


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Optuna reports every step to standard error; tuning has its own progress."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(level)
