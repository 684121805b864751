"""Keywords that have two names: those that stay for good, and those that go with the next release."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from taylorank.errors import ParameterError, warn_caller

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take keywords by the names they had before, with a warning: old="new".

    >>> @renamed(seed="random_state")
    ... def draw(*, random_state: int = 0) -> int:
    ...     return random_state
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     draw(seed=3), str(caught[0].message)
    (3, 'draw(seed=…) is deprecated; write random_state=…')
    """
    return functools.partial(_translated, new_names=new_names, warn=True)


def also_named(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take keywords by a second name, for good and without a warning: second="first".

    The function declares both names, so that type checkers know them; it is called with the first one only, and
    `help` shows only that.
    """
    return functools.partial(_translated, new_names=names, warn=False)


def _translated(function: Callable[P, R], *, new_names: dict[str, str], warn: bool) -> Callable[P, R]:
    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for old, new in new_names.items():
            if old not in kwargs:
                continue
            if new in kwargs:
                raise ParameterError(f"{old} and {new} are two names of one parameter", f"give {new} alone")
            if warn:
                text = f"{function.__name__}({old}=…) is deprecated; write {new}=…"
                warn_caller(text, DeprecationWarning)
            kwargs[new] = kwargs.pop(old)
        return function(*args, **kwargs)

    signature = inspect.signature(function)
    shown = [parameter for name, parameter in signature.parameters.items() if name not in new_names]
    call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return call
