"""A claim of a paper: what it says, an experiment, and a verdict that is a function of the measured numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = dict[str, Any]

HOLDS = "holds"
CORRECTED = "holds with a correction"
FAILS = "fails"
UNDECIDED = "not decided"
UNTESTED = "not testable here"
VERDICTS = (HOLDS, CORRECTED, FAILS, UNDECIDED, UNTESTED)

DIGITS = 6


class Judgement(NamedTuple):
    """A verdict and the numbers that made it, in words."""

    verdict: str
    reason: str


@dataclass(frozen=True)
class Figure:
    """Lines over one list of the numbers; `y` names the other lists."""

    x: str
    y: tuple[str, ...]
    title: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Claim:
    """One statement, and how it is put to the test.

    `experiment(seed, **settings)` measures; `judge(numbers)` decides. `change` are settings of the experiment under
    which the verdict must be another one, so that a verdict which nothing can move is noticed. There are none where
    the numbers are seconds (`timed`) or took hours of training: tests judge numbers made up for them instead.
    """

    id: str
    group: str
    source: str
    statement: str
    method: str
    experiment: Callable[..., Numbers]
    judge: Callable[[Numbers], Judgement]
    change: Mapping[str, Any] | None = None
    change_in_words: str = ""
    correction: str = ""
    needs_torch: bool = False
    heavy: bool = False
    timed: bool = False  # the numbers are seconds, which differ from run to run
    figure: Figure | None = None

    def measure(self, seed: int = 0) -> Numbers:
        """Return the numbers, as JSON holds them."""
        return _plain_numbers(self.experiment(seed))

    def measure_changed(self, seed: int = 0) -> Numbers:
        """Return the numbers of the changed experiment."""
        assert self.change is not None, f"{self.id} has no other setting"
        return _plain_numbers(self.experiment(seed, **self.change))


def in_errors(differences: NDArray[Any]) -> float:
    """Return the mean in units of its standard error.

    >>> round(in_errors(np.array([1.0, 2.0, 3.0])), 2)
    3.46
    """
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences)) + 1e-12))


def decide(printed: bool, corrected: bool = False) -> str:
    """Return the verdict: as printed, else after the correction, else not at all.

    >>> decide(False, True)
    'holds with a correction'
    """
    if printed:
        return HOLDS
    return CORRECTED if corrected else FAILS


def plain(value: Any) -> Any:
    """Return numbers as JSON holds them, to six digits; what is not finite becomes a word.

    >>> plain({"a": np.float64(1 / 3), "b": [np.int64(2), np.inf]})
    {'a': 0.333333, 'b': [2, 'infinite']}
    """
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _rounded(float(value))
    return value


def _plain_numbers(numbers: Numbers) -> Numbers:
    return {str(name): plain(value) for name, value in numbers.items()}


def _rounded(value: float) -> float | str:
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return float(f"{value:.{DIGITS}g}")
