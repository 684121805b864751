"""How many threads a stretch of work may use, without handing a number through every call."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, wraps
from typing import Any, TypeVar, cast

from taylorank.kernels import backend

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Within the block kernels use `count` threads unless told otherwise; None changes nothing.

    BLAS is held to the same number where threadpoolctl is installed, and keeps its own otherwise (set
    OPENBLAS_NUM_THREADS before Python starts). Native kernels give the same bits for any number.

    >>> with threads(1):
    ...     backend.thread_count()
    1
    """
    if count is None:
        yield
        return
    count = backend.thread_count(count)
    token = backend.thread_limit.set(count)
    controller = _blas()
    try:
        with nullcontext() if controller is None else controller.limit(limits=count, user_api="blas"):
            yield
    finally:
        backend.thread_limit.reset(token)


@cache
def _blas() -> Any:
    """The BLAS libraries of this process, or None; looking for them takes milliseconds, so once."""
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None


def on_own_threads(method: Method) -> Method:
    """Run a method of a model on `self.num_threads` threads, if it has such a parameter and it is set."""

    @wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        with threads(getattr(self, "num_threads", None)):
            return method(self, *args, **kwargs)

    return cast("Method", limited)
