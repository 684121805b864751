"""How many threads a block of code may use, without passing a number through every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from taylorank.kernels import backend

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Within the block kernels use `count` threads unless a call gives another number; None changes nothing.

    Native kernels give the same bits for any number, so results do not depend on it. BLAS, which the small dense steps
    use, is left alone for that reason: from about 128 columns on, OpenBLAS rounds differently on another number of
    threads. To hold it too, set OPENBLAS_NUM_THREADS before Python starts.

    >>> with threads(1):
    ...     backend.thread_count()
    1
    """
    if count is None:
        yield
        return
    token = backend.thread_limit.set(backend.thread_count(count))
    try:
        yield
    finally:
        backend.thread_limit.reset(token)


def on_own_threads(method: Method) -> Method:
    """Run a method of a model on `self.num_threads` threads, if it has such a parameter and it is set."""

    @wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        with threads(getattr(self, "num_threads", None)):
            return method(self, *args, **kwargs)

    return cast("Method", limited)
