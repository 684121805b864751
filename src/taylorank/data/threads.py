"""Work on a stream of items in threads, with the results in the order of the items."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def usable_cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_threads(work: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[Result]:
    """Yield work(item) for each item, a few items ahead of what is asked for, so that memory stays bounded.

    >>> list(map_in_threads(str.upper, iter("abc")))
    ['A', 'B', 'C']
    """
    workers = usable_cpus()
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
