"""JSON as it is sent, by orjson where it is installed."""

from __future__ import annotations

import json
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def json_bytes(value: Any) -> bytes:
    """Return plain values as JSON; numbers that JSON does not have become null.

    >>> json_bytes({"a": [1, "é"]}).decode()
    '{"a":[1,"é"]}'
    """
    if orjson is not None:
        try:
            return orjson.dumps(value)
        except TypeError:  # an integer of more than 64 bits, half of a surrogate pair
            pass
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
