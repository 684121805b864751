"""Options of commands that hold several values in one text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from taylorank.errors import ParameterError


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Return whole numbers with commas between.

    >>> numbers("0,1,2", "--seeds")
    (0, 1, 2)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"{option} {text} holds no whole numbers", "write them with commas between") from None


def pairs(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Return the values of texts name=value; a value is a number, true, false or null, else text.

    >>> pairs(["epochs=60", "schedule=constant"], "--set")
    {'epochs': 60, 'schedule': 'constant'}
    """
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ParameterError(f"{option} {text} names no value", "write name=value")
        found[name] = value_of(value)
    return found


def value_of(text: str) -> Any:
    """Return what a text stands for in JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
