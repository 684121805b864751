"""Climbing over a lattice: along one parameter at a time, while the value grows, with long steps first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from taylorank.selection.spaces import nearest
from taylorank.selection.trials import Trial

Setting = dict[str, Any]
Axes = Mapping[str, Sequence[Any]]


def climb(axes: Axes, start: Setting, value: Callable[[Setting], float], *, steps: Sequence[int] = (2, 1)) -> Setting:
    """Return the setting that no step along one axis improves; axis i has the values axes[i].

    `value` is called once for each setting.

    >>> hill = lambda at: -((at["a"] - 6) ** 2) - (at["b"] - 3) ** 2
    >>> climb({"a": range(9), "b": range(5)}, {"a": 0, "b": 0}, hill)
    {'a': 6, 'b': 3}
    """
    walk = climbing(axes, start, steps=steps)
    try:
        setting = next(walk)
        while True:
            setting = walk.send(value(setting))
    except StopIteration as end:
        best: Setting = end.value
        return best


def climbing(axes: Axes, start: Setting, *, steps: Sequence[int] = (2, 1)) -> Generator[Setting, float, Setting]:
    """Yield each setting that `climb` asks for and take its value; return the best."""
    known: dict[tuple[int, ...], float] = {}
    best = {name: values.index(start[name]) for name, values in axes.items()}

    def value_at(place: dict[str, int]) -> Generator[Setting, float, float]:
        key = tuple(place.values())
        if key not in known:
            known[key] = yield _setting(axes, place)
        return known[key]

    yield from value_at(best)
    for step in steps:
        before = None
        while before != best:
            before = best
            for axis, move in itertools.product(axes, (step, -step)):
                while 0 <= best[axis] + move < len(axes[axis]):
                    there = {**best, axis: best[axis] + move}
                    if (yield from value_at(there)) <= (yield from value_at(best)):
                        break
                    best = there
    return _setting(axes, best)


def _setting(axes: Axes, place: Mapping[str, int]) -> Setting:
    return {name: axes[name][i] for name, i in place.items()}


class Climb:
    """Proposes the settings of a climb from the model's own values, one after the other."""

    method = "steps along one parameter at a time"

    def __init__(self, axes: Axes, own: Setting) -> None:
        start = {name: nearest(list(values), own[name]) for name, values in axes.items()}
        self._walk = climbing(axes, start)
        self._next: Setting | None = next(self._walk)

    def ask(self, *, most_factors: float = math.inf, at_random: float = math.inf) -> Setting | None:
        """Return the next setting; None on the summit. Ranks are taken as they come."""
        return self._next

    def should_prune(self, step: int, value: float) -> bool:
        """Return False: every setting is compared with the best at its end."""
        return False

    def tell(self, trial: Trial) -> None:
        """Take the value of the current setting."""
        try:
            self._next = self._walk.send(-math.inf if trial.value is None else trial.value)
        except StopIteration:
            self._next = None
