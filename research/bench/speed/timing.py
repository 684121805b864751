"""Fair timing: contenders take turns, so that a noisy moment hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of every repeat of one contender."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest repeat."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle repeat."""
        return statistics.median(self.seconds)

    def against(self, ours: Times) -> dict[str, float]:
        """Return seconds, and how many times those of ours they are, at the median and at the best."""
        return {
            "median_s": round(self.median, 6),
            "min_s": round(self.best, 6),
            "times_ours": round(self.median / ours.median, 3),
            "min_times_ours": round(self.best / ours.best, 3),
        }


def times_ours(results: Mapping[str, Mapping[str, float]], names: Iterable[str], *, key: str) -> str:
    """Return the times of some contenders in words, as multiples of ours: `key` is times_ours or min_times_ours.

    >>> times_ours({"ours": {"times_ours": 1.0}, "scipy": {"times_ours": 2.5}}, ["scipy", "torch"], key="times_ours")
    'scipy 2.50 times ours'
    """
    return ", ".join(f"{name} {results[name][key]:.2f} times ours" for name in names if name in results)


def sample_in_turns(contenders: Mapping[str, Callable[[], Sequence[float]]], *, repeats: int) -> dict[str, Times]:
    """Call every contender once for nothing, then all of them in turn, `repeats` times; each returns its seconds."""
    for call in contenders.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, call in contenders.items():
            seconds[name].extend(call())
    return {name: Times(tuple(values)) for name, values in seconds.items()}


def time_in_turns(contenders: Mapping[str, Callable[[], object]], *, repeats: int) -> dict[str, Times]:
    """Call every contender once unmeasured, then all of them in turn, `repeats` times.

    >>> sorted(time_in_turns({"sum": lambda: sum(range(9)), "nothing": lambda: None}, repeats=3))
    ['nothing', 'sum']
    """
    return sample_in_turns({name: timed(call) for name, call in contenders.items()}, repeats=repeats)


def timed(call: Callable[[], object]) -> Callable[[], list[float]]:
    """Return a function that makes the call and returns its seconds."""

    def measure() -> list[float]:
        start = time.perf_counter()
        call()
        return [time.perf_counter() - start]

    return measure


def blas_threads(threads: int) -> AbstractContextManager[Any]:
    """Limit the threads of BLAS, where threadpoolctl is installed (implicit brings it)."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(threads, "blas")
    return limits
