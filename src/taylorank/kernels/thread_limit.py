"""How many threads a block of code may use, without passing a number through every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from taylorank.address_space import check_room_to_compute
from taylorank.kernels import backend
from taylorank.kernels.blas import single_threaded

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Within the block kernels use `count` threads unless a call gives another number; None changes nothing.

    Native kernels give the same bits for any number, so results do not depend on it; nor do they on the number of
    CPUs, since OpenBLAS runs on one thread while a model works (`kernels.blas`).

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
    """Run a method of a model on `self.num_threads` threads, if it has such a parameter and it is set.

    A model that has it gives the same bits for any number of threads and CPUs, so OpenBLAS gets one for the time.
    """

    @wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_room_to_compute()
        if not hasattr(self, "num_threads"):
            return method(self, *args, **kwargs)
        with threads(self.num_threads), single_threaded():
            return method(self, *args, **kwargs)

    return cast("Method", limited)
