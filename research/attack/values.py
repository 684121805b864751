"""Values that no parameter expects, and what of them fits which type."""

from __future__ import annotations

import datetime
import decimal
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
import pandas as pd
from scipy import sparse

VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 10**30, 10**400),
    *("x", "", "auto", "a\0b", "\ud800", "x" * 5000, b"x", (), [], {}, set(), [1, 2], {"a": 1}, object(), 1j, len),
    *(2**31, 2**63 - 1, 2**63, -(2**63), decimal.Decimal(2), datetime.date(2020, 1, 1), Path("nope/x"), range(3)),
    *(np.float32("nan"), np.float16(2), np.int64(3), np.uint8(2), np.bool_(True), np.str_("x"), np.datetime64("NaT")),
    *(np.zeros(2), np.array(3), np.zeros((2, 2)), np.array(["x", None], dtype=object), np.zeros(0), [[1, 2], [3]]),
    *([None], [float("nan")], [1, "x"], [-1], [2**70], [True], [0.5, 0.5], [0.0], [[]], ("a",), {1: 2}, pd.NaT, pd.NA),
    *(sparse.csr_array((2, 2)), sparse.csr_array(np.eye(3)), pd.DataFrame({"user": [1], "item": [2]})),
)
PLAIN = (int, float, str, bool, type(None))


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type that the hint names; where the hint leaves it open, every value is.

    >>> fits(3, int), fits(True, int), fits(3, float | None), fits(2.5, int), fits("x", Literal["a"]), fits([], object)
    (True, False, True, False, False, True)
    """
    if get_origin(hint) in (Union, types.UnionType):
        return any(fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if hint not in PLAIN:
        return True
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if isinstance(value, bool | np.bool_):
        return False
    kinds = {int: (int, np.integer), float: (int, float, np.integer, np.floating), str: (str,)}
    return isinstance(value, kinds.get(hint, (hint,)))


def said(value: Any) -> str:
    """Return a value in few words."""
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = "a huge integer"
    return f"{type(value).__name__} {' '.join(text.split())[:60]}"


Made = tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]  # what is called, and with what
