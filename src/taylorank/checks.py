"""Checks of arguments, with errors of one line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from taylorank.errors import ParameterError, shown

Value = TypeVar("Value")
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
