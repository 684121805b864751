"""Where one parameter is searched: a range of numbers, or a choice of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from taylorank.errors import ParameterError


@dataclass(frozen=True)
class Range:
    """Every number from `low` to `high`; by its logarithm if `log`, whole numbers only if `integer`.

    >>> Range(1, 100, log=True).spread(3)
    [1.0, 10.0, 100.0]
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ParameterError(f"Range({self.low}, {self.high}) is empty", "give low ≤ high")
        if self.log and self.low <= 0:
            raise ParameterError(f"Range({self.low}, {self.high}, log=True)", "a logarithm needs low > 0")

    def at(self, share: float) -> float | int:
        """Return the value at `share` in [0, 1] of the way from low to high."""
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        value = float(f"{value:.6g}")  # short to read, and the same when read from a file
        return round(value) if self.integer else min(max(value, self.low), self.high)

    def share(self, value: float) -> float:
        """Return how far `value` is on the way from low to high; the inverse of `at`."""
        if self.low == self.high:
            return 0.0
        if self.log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    def spread(self, count: int) -> list[float | int]:
        """Return `count` values at equal distances, ends included, without repeats."""
        shares = [0.5] if count == 1 else [i / (count - 1) for i in range(count)]
        return list(dict.fromkeys(self.at(share) for share in shares))

    def draw(self, rng: np.random.Generator) -> float | int:
        """Return a random value."""
        return self.at(float(rng.random()))


@dataclass(frozen=True)
class Int(Range):
    """Every whole number from `low` to `high`, both included; by its logarithm if `log`.

    >>> Int(1, 100, log=True).spread(3)
    [1, 10, 100]
    """

    integer: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if int(self.low) != self.low or int(self.high) != self.high:
            raise ParameterError(
                f"Int({self.low}, {self.high}) has ends that are not whole", "use Range, or whole ends"
            )


@dataclass(frozen=True)
class Choice:
    """One of `values`, which may be numbers, words or None."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise ParameterError("Choice() has nothing to choose from", "give at least one value")

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a random value."""
        return self.values[int(rng.integers(len(self.values)))]


@dataclass(frozen=True)
class Steps(Choice):
    """One of `values`, which lie in an order: a search of nothing but steps climbs from the model's own values."""


Space = Mapping[str, Range | Choice]
NEAR = 1 / 6  # of a range, to either side


def near(space: Space, setting: Mapping[str, Any]) -> Space:
    """Return the part of the space around a setting: a third of each range, a value and its neighbours of a choice.

    >>> near({"a": Range(1, 100, log=True), "b": Choice((2, 4, 8, 16))}, {"a": 50.0, "b": 4})
    {'a': Range(low=23.2079, high=100.0, log=True, integer=False), 'b': Choice(values=(2, 4, 8))}
    """
    return {name: _around(part, setting[name]) for name, part in space.items()}


def _around(part: Range | Choice, value: Any) -> Range | Choice:
    if isinstance(part, Choice):
        place = part.values.index(value)
        return Choice(part.values[max(place - 1, 0) : place + 2])
    share = part.share(value)
    return replace(part, low=part.at(max(share - NEAR, 0.0)), high=part.at(min(share + NEAR, 1.0)))


def read_space(space: Mapping[str, Any]) -> Space:
    """Return the space with lists and tuples as choices.

    >>> read_space({"factors": [8, 16]})
    {'factors': Choice(values=(8, 16))}
    """
    if not isinstance(space, Mapping):
        raise ParameterError(f"space={space!r} is no mapping", 'write {"factors": Choice((8, 16)), …}')
    return {name: Choice(tuple(part)) if isinstance(part, list | tuple) else part for name, part in space.items()}
