"""A process forked after polars had started its threads: they are not copied, and polars would wait for them.

`multiprocessing` forks by default on Linux before Python 3.14. What would wait forever is refused in words.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from taylorank.errors import DataError

THREADS = re.compile(r"polars-\d|async-executor")  # the names of those that work; importing it starts others


class _Threads:
    """Whether polars' threads ran when this process was forked from another."""

    running = False  # in the parent, just before a fork
    lost = False


def _before_fork() -> None:
    _Threads.running = _Threads.lost or ("polars" in sys.modules and _has_threads())


def _in_child() -> None:
    _Threads.lost = _Threads.running


def _has_threads() -> bool:
    """Whether this process has threads of polars; where the system does not say, it has."""
    try:
        return any(THREADS.match(place.read_text()) for place in Path("/proc/self/task").glob("*/comm"))
    except OSError:
        return True


def check_fork() -> None:
    """Refuse to use polars where it would wait forever."""
    if _Threads.lost:
        raise DataError(
            "this process was forked from one in which polars had started its threads, and would wait for them forever",
            'read before the fork, or start processes with multiprocessing.get_context("spawn")',
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
