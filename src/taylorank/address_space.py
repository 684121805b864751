"""What memory there is, looked at before it is asked for; above all what OpenBLAS needs of a limit (`ulimit -v`).

NumPy and SciPy bring an OpenBLAS each. Where one of them gets no memory for a thread's buffer it ends the process,
hangs while it ends it, or asks again for ever, without a word to Python. Without `ulimit -v` Linux rarely
refuses memory, so there is nothing to look at.
"""

from __future__ import annotations

import os
import sys

from taylorank.errors import MemoryLimitError
from taylorank.system import available_memory, left_of_address_space

OF_A_THREAD = 40 << 20  # bytes: a buffer of 32 MiB, and a stack of 8
LIBRARIES = 224 << 20  # bytes that NumPy, SciPy and the rest take with one thread
SURELY_FREE = 1 << 28  # bytes that are not asked for: the answer takes longer than a small request
REMEDY = "raise its limit of addresses (ulimit -v), or set OPENBLAS_NUM_THREADS=1"


def check_room_to_load() -> None:
    """Refuse to load NumPy and SciPy where they would wait forever, or end the process."""
    if "scipy.linalg" in sys.modules:
        return
    _check(LIBRARIES + 2 * OF_A_THREAD * (blas_threads() - 1), "NumPy and SciPy take")


def check_room_to_compute() -> None:
    """Refuse to compute where OpenBLAS, on one thread or on all, would find no room for its buffers."""
    _check(OF_A_THREAD * (1 + blas_threads()), "a computation takes")


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse what takes more bytes than are free, before it is made.

    >>> check_memory(1000, "a list", "ask for less")
    """
    free = available_memory() if needed > SURELY_FREE else None
    if free is not None and needed > free:
        needs = f"{needed / 2**30:,.1f} GiB, and {free / 2**30:,.1f} are free"
        raise MemoryLimitError(f"{what} takes {needs}", remedy)


def blas_threads() -> int:
    """Return how many threads an OpenBLAS starts: one for each CPU, or what the environment says."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        setting = os.environ.get(name, "")
        if setting.isdecimal() and int(setting) > 0:
            return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check(least: int, what: str) -> None:
    left = left_of_address_space()
    if left is not None and left < least:
        raise MemoryLimitError(
            f"this process may take {left >> 20:,} MiB more, and {what} about {least >> 20:,}", REMEDY
        )
