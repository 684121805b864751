"""Each user's value of every metric: what intervals and tests over users are computed from.

They are far larger than the record, so they are a file of their own. While a comparison runs they are in FILE.users;
at its end they are deleted, or kept as NAME.users.npz beside NAME.json with `per_user`. Models of two comparisons are
tested against each other only where both kept theirs.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError
from taylorank.output import atomic_path, path_of
from taylorank.report.record import Record

Place = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class UserValues:
    """The values of one run: `users` are positions in the data; metric → values, NaN where a user has none."""

    users: NDArray[np.int64]
    metrics: dict[str, NDArray[np.float32]]


PerUser = dict[tuple[str, int], UserValues]  # (model, seed) → values


def kept_path(path: Place) -> Path:
    """Return where the values of a record are kept.

    >>> kept_path("out/ml-1m.json").as_posix()
    'out/ml-1m.users.npz'
    """
    return path_of(path).with_name(f"{path_of(path).name.removesuffix('.json')}.users.npz")


def running_path(path: Place) -> Path:
    """Return where the values are while the comparison runs."""
    return path_of(f"{os.fspath(path)}.users")


def save_per_user(values: PerUser, path: Place, record: Record) -> None:
    """Write the values, atomically, with a mark of the record that they belong to."""
    runs = [[*run, list(found.metrics)] for run, found in values.items()]
    arrays: dict[str, Any] = {"index": np.array(json.dumps({"of": _mark(record), "runs": runs}))}
    for number, found in enumerate(values.values()):
        arrays[f"users{number}"] = found.users
        arrays[f"values{number}"] = np.array(list(found.metrics.values()), dtype=np.float32)  # (metrics, users)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_per_user(path: Place, record: Record) -> PerUser:
    """Read the values of a record; none if there is no such file, and one of another record is refused."""
    if not path_of(path).exists():
        return {}
    try:
        with path_of(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            index = json.loads(str(arrays["index"]))
            values = {
                (model, seed): UserValues(
                    arrays[f"users{number}"], dict(zip(metrics, arrays[f"values{number}"], strict=True))
                )
                for number, (model, seed, metrics) in enumerate(index["runs"])
            }
    except Exception as error:  # parsers raise anything on arbitrary bytes
        raise DataError(f"{path} is damaged", "remove it; tests that need it are then left out") from error
    if index["of"] != _mark(record):
        raise DataError(f"{path} holds the users of another comparison", "remove it, or put the right one there")
    return values


def values_inside(record: Record) -> PerUser:
    """Return the values that a record of version 1 has inside its runs, as text."""
    return {
        (run["model"], run["seed"]): UserValues(
            np.cumsum(_unpacked(run["per_user"]["users"], "<i4"), dtype=np.int64),
            {metric: _unpacked(text, "<f4") for metric, text in run["per_user"]["values"].items()},
        )
        for run in record["runs"]
        if "per_user" in run
    }


def _mark(record: Record) -> str:
    return f"{record['written']} {record['settings']['fingerprint']}"


def _unpacked(text: str, dtype: str) -> NDArray[Any]:
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype=dtype)
    except (ValueError, zlib.error) as error:
        raise DataError("the values per user in the comparison are damaged", "compare again") from error
