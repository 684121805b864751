"""The file of a comparison: one JSON with everything that a report needs to be drawn again.

schema, version     what this file is; another version is refused
written, taylorank, command, machine
data                sizes, spreads, steps of cleaning
protocol            name, and what it does in words
settings            metrics, the primary one, cutoffs, seeds, a fingerprint of the data
budget              trials or seconds of tuning that every model gets on every seed
models              name → label, class, parameters at the start, space of tuning
runs                one for each (model, seed): parameters, tuning, seconds, memory, metrics, values per user,
                    quality by cutoff and by popularity, convergence; or the error that ended it
summary             per model: means over seeds, intervals over users, comparison with the best
"""

from __future__ import annotations

import base64
import json
import math
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError
from taylorank.models.json_values import plain_value
from taylorank.output import atomic_path

SCHEMA, VERSION = "taylorank comparison", 1
PARTS = ("machine", "data", "protocol", "settings", "budget", "models", "runs", "summary")

Record = dict[str, Any]


def load_record(path: str | os.PathLike[str]) -> Record:
    """Read a comparison; what is no such file, or one of another version, is refused with the remedy."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}", "check the path") from error
    except ValueError as error:
        raise DataError(f"{path} is not JSON", "give the file that `taylorank compare --json` wrote") from error
    return check_record(record, str(path))


def check_record(record: Any, name: str = "the record") -> Record:
    """Return the record if this version of the library can read it."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise DataError(f"{name} is no comparison", "give the file that `taylorank compare --json` wrote")
    if record.get("version") != VERSION:
        raise DataError(
            f"{name} has version {record.get('version')!r} of the comparison format, this taylorank reads {VERSION}",
            f"redraw it with taylorank {record.get('taylorank', 'of that time')}, or compare again",
        )
    missing = [part for part in PARTS if part not in record]
    if missing:
        raise DataError(f"{name} lacks {', '.join(missing)}", "compare again; the file was changed or cut")
    return record


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write the record, atomically; numbers that JSON does not know become null."""
    text = json.dumps(plain(record), indent=1, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """Return `value` in what JSON knows: NumPy numbers become numbers, NaN and ±∞ null, anything else is `told`."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    value = value if isinstance(value, float) else plain_value(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def packed(values: NDArray[Any], dtype: str) -> str:
    """Return numbers as text, compressed: a value per user would be most of the file otherwise.

    >>> unpacked(packed(np.array([0.5, 0.25]), "<f4"), "<f4")
    array([0.5 , 0.25], dtype=float32)
    """
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values, dtype=dtype).tobytes(), 6)).decode("ascii")


def unpacked(text: str, dtype: str) -> NDArray[Any]:
    """Return the numbers that `packed` wrote."""
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype=dtype)
    except (ValueError, zlib.error) as error:
        raise DataError("the values per user in the comparison are damaged", "compare again") from error
