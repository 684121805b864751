"""Checks of arguments, with errors of one line."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from taylorank.errors import ParameterError, shown

Value = TypeVar("Value")
SINGLE = (bool, int, float, complex, str, bytes, np.generic, NoneType)
Function = TypeVar("Function", bound=Callable[..., Any])
PLAIN: dict[Any, Any] = {
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    str: str,
    bool: bool,
    NoneType: NoneType,
}
MOST = 2**63 - 1  # what the integers of arrays hold


def check_whole(value: Any, name: str, *, least: int = 1, remedy: str | None = None) -> int:
    """Return `value` if it is a whole number ≥ `least` (True is not a number).

    >>> check_whole(3, "n")
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(
            f"{name}={shown(value)} is not a whole number ≥ {least}", remedy or f"give {least} or more"
        )
    if value > MOST:
        raise ParameterError(f"{name}={shown(value)} is more than 2⁶³ - 1", "give a smaller number")
    return int(value)


def check_number(value: Any, name: str, *, least: float = -np.inf) -> float:
    """Return `value` if it is a finite number ≥ `least` (True is not a number).

    >>> check_number(0.5, "alpha", least=0)
    0.5
    """
    if not is_finite(value) or value < least:
        bound = "" if least == -np.inf else f" ≥ {least:g}"
        raise ParameterError(f"{name}={shown(value)} is not a finite number{bound}", "give another")
    return float(value)


def is_finite(value: Any) -> bool:
    """Whether `value` is a number that a float can hold (True is not a number).

    >>> is_finite(3), is_finite(10**400), is_finite("3"), is_finite(float("nan"))
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def check_name(name: Any, known: Mapping[str, Value], kind: str) -> Value:
    """Return what is known by `name`.

    >>> check_name("b", {"a": 1, "b": 2}, "letter")
    2
    """
    try:
        return known[name]
    except (KeyError, TypeError):  # a list cannot be a key
        raise ParameterError(f"no {kind} is called {shown(name)}", f"choose from {', '.join(known)}") from None


def check_list(value: Any, name: str) -> None:
    """Refuse what is no list of ids in an order: a single id, a set, a dictionary."""
    if isinstance(value, str | bytes | set | frozenset | dict) or not (
        hasattr(value, "__len__") and hasattr(value, "__getitem__")
    ):
        raise ParameterError(f"{name}={shown(value)} is not a list", "write a list of ids, such as [17]")


def typed(function: Function) -> Function:
    """Return the function with a look at the types of its arguments, as far as its annotations are plain.

    Numbers of NumPy are numbers; True is none. What is not of the type is refused; what is in its range is the
    function's own business.

    >>> @typed
    ... def half(n: int, *, name: str | None = None) -> float:
    ...     return n / 2
    >>> half(3), float(half(np.int64(3)))
    (1.5, 1.5)
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        for name, value in signature.bind(*given, **named).arguments.items():
            hint = _hint(function, name)
            if hint is not None and not _fits(value, hint):
                raise ParameterError(f"{name}={shown(value)} is not {_words(hint)}", "give one")
        return function(*given, **named)

    return checked  # type: ignore[return-value]


@functools.cache
def _hint(function: Callable[..., Any], name: str) -> Any:
    """Return the type of an argument; None where it is open, or named for type checkers alone."""
    text = function.__annotations__.get(name)
    try:
        return eval(text, function.__globals__) if isinstance(text, str) else text
    except NameError:
        return None


def _fits(value: Any, hint: Any) -> bool:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:  # which of them the function says
        return isinstance(value, tuple({type(part) for part in parts}))
    if hint in PLAIN:
        is_truth = isinstance(value, bool | np.bool_)
        return is_truth if hint is bool else isinstance(value, PLAIN[hint]) and not is_truth
    if origin is Sequence:
        return _is_list(value) and (parts[0] not in PLAIN or all(_fits(one, parts[0]) for one in value))
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _is_list(value)
    if origin is Callable or hint is Callable:
        return callable(value)
    if origin is tuple:
        return _is_list(value) and len(value) == len(parts) and all(map(_fits, value, parts))
    if origin is Mapping:
        return isinstance(value, Mapping)
    # What a class stands for can often be made of something else, such as interactions of a matrix; not of a number.
    return isinstance(value, hint) or not isinstance(value, SINGLE) if type(hint) is type else True


def _is_list(value: Any) -> bool:
    try:
        len(value)  # of a sparse matrix there is none
    except TypeError:
        return False
    return hasattr(value, "__getitem__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _words(hint: Any) -> str:
    """Return a type in words."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return " or ".join(dict.fromkeys(_word(part) for part in parts))


def _word(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in (Sequence, np.ndarray, tuple):
        return "a list"
    if origin is Literal or hint is str:
        return "text"
    if origin is Mapping:
        return "a mapping"
    named = {bool: "True or False", int: "a whole number", float: "a number", NoneType: "None"}
    return str(named.get(hint) or ("a function" if origin is Callable else getattr(hint, "__name__", hint)))
