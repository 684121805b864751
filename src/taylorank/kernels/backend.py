"""Which kernels run: native or Python, at which SIMD level, on how many threads.

Three environment variables decide:
`TAYLORANK_REQUIRE_NATIVE=1` makes a missing native module an error instead of a silent fallback,
`TAYLORANK_SIMD=baseline|avx2|avx512` forces a level that the CPU supports (default: the highest),
`TAYLORANK_NUM_THREADS=n` sets the number of threads (default: the CPUs that the process may use).
"""

from __future__ import annotations

import importlib
import operator
import os
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Literal

from taylorank.errors import MissingExtraError, ParameterError

MAX_THREADS = 1024  # a typing error must not ask the system for a million
thread_limit: ContextVar[int | None] = ContextVar("thread_limit", default=None)  # set by `kernels.threads`


@dataclass(frozen=True)
class KernelInfo:
    """What `kernel_info` reports; `str` of it is one line for `taylorank --version`."""

    kind: Literal["native", "python"]
    simd: str | None
    threads: int

    def __str__(self) -> str:
        detail = self.simd or "without the native module, which needs a C++20 compiler at install"
        return f"{self.kind} kernels, {detail}, {self.threads} thread{'s' if self.threads != 1 else ''}"


def _load_native() -> ModuleType | None:
    try:
        return importlib.import_module("taylorank.kernels._native")
    except ImportError as error:
        if os.environ.get("TAYLORANK_REQUIRE_NATIVE", "0") not in ("", "0"):
            raise MissingExtraError(
                f"TAYLORANK_REQUIRE_NATIVE is set but the native kernels cannot be imported ({error})",
                "install taylorank where a C++20 compiler is present, or unset the variable",
            ) from error
        return None


native = _load_native()


@cache
def simd_level() -> str | None:
    """Return the SIMD level that native kernels run at: the highest, or what TAYLORANK_SIMD asks for."""
    if native is None:
        return None
    levels: list[str] = native.simd_levels()
    wanted = os.environ.get("TAYLORANK_SIMD") or levels[-1]
    if wanted not in levels:
        raise ParameterError(
            f"TAYLORANK_SIMD={wanted} is not a level that this CPU and this build support",
            f"set it to one of {', '.join(levels)}, or unset it",
        )
    return wanted


def thread_count(num_threads: int | None = None) -> int:
    """Return `num_threads`, else that of `kernels.threads`, else TAYLORANK_NUM_THREADS, else the CPUs we may use."""
    if num_threads is None:
        num_threads = thread_limit.get()
    if num_threads is not None:
        return _positive(num_threads, name="num_threads")
    if setting := os.environ.get("TAYLORANK_NUM_THREADS"):
        return _positive(setting, name="TAYLORANK_NUM_THREADS")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _positive(value: int | str, *, name: str) -> int:
    try:
        threads = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        threads = 0
    if threads < 1:
        raise ParameterError(f"{name} is {value!r}", "give a whole number of at least 1")
    return min(threads, MAX_THREADS)


def kernel_info() -> KernelInfo:
    """Return which kernels are in use.

    >>> kernel_info().kind in ("native", "python")
    True
    """
    if native is None:
        return KernelInfo("python", None, 1)  # SciPy's sparse product runs on one thread
    return KernelInfo("native", simd_level(), thread_count())
