"""Fair timing: contenders take turns, so that a noisy moment hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


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


def time_in_turns(contenders: Mapping[str, Callable[[], object]], *, repeats: int) -> dict[str, Times]:
    """Call every contender once unmeasured, then all of them in turn, `repeats` times.

    >>> sorted(time_in_turns({"sum": lambda: sum(range(9)), "nothing": lambda: None}, repeats=3))
    ['nothing', 'sum']
    """
    for call in contenders.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, call in contenders.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: Times(tuple(values)) for name, values in seconds.items()}
