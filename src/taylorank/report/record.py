"""The file of a comparison: one JSON with everything that its report is drawn from.

schema, version     what this file is; versions that are not known here are refused
written, taylorank, commit, command, machine
data                sizes, spreads, steps of cleaning
protocol            name, and what it does in words
settings            metrics, the primary one, cutoffs, seeds, a fingerprint of the data
budget              trials or seconds of tuning that every model gets on every seed
models              name → label, class, parameters at the start, space of tuning
runs                one for each (model, seed): parameters, tuning, seconds, memory, metrics, quality by cutoff and by
                    popularity, convergence; or the error that ended it
summary             per model: means over seeds, intervals over users, tests against the best; which test
notes               sentences for the reader, if there are any

Each user's values, which intervals and tests are computed from, are a file of their own (`selection.per_user`). In the
JSON a list of objects with the same keys is stored as a table, {"columns": {key: values}}. Version 1 had the values per
user inside and no tables; it is read as well.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from taylorank.errors import DataError, TaylorankError, in_one_line
from taylorank.models.json_values import plain_value
from taylorank.output import atomic_path, path_of

SCHEMA, VERSION = "taylorank comparison", 2
READABLE = (1, VERSION)
PARTS = ("machine", "data", "protocol", "settings", "budget", "models", "runs", "summary")
TRIAL_PARTS = ("params", "value", "seconds", "status", "fit", "note")  # of what tuning notes about a trial

Record = dict[str, Any]


def load_record(path: str | os.PathLike[str]) -> Record:
    """Read a comparison; a file of another kind or of an unknown version is refused."""
    return without_user_values(read_record(path))


def read_record(path: str | os.PathLike[str]) -> Record:
    """Return what the file holds; in version 1 that is each user's values too."""
    try:
        record = json.loads(path_of(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}", "check the path") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON", "give the file that `taylorank compare --json` wrote") from error
    with as_it_was_written(path):
        return check_record(by_rows(record), str(path))


@contextmanager
def as_it_was_written(path: str | os.PathLike[str]) -> Iterator[None]:
    """Use a record that was read from a file: if its parts are not what they should be, the file is to blame."""
    try:
        yield
    except (TaylorankError, OSError, MemoryError, ImportError):
        raise
    except Exception as error:  # what draws a chart raises its own
        raise DataError(
            f"{os.fspath(path)} is not as it was written ({in_one_line(error)})", "compare again; it was changed or cut"
        ) from error


def check_record(record: Any, name: str = "the record") -> Record:
    """Return the record if this version of the library can read it."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise DataError(f"{name} is no comparison", "give the file that `taylorank compare --json` wrote")
    if record.get("version") not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise DataError(
            f"{name} has version {record.get('version')!r} of the comparison format, this taylorank reads {known}",
            f"redraw it with taylorank {record.get('taylorank', 'of that time')}, or compare again",
        )
    missing = [part for part in PARTS if part not in record]
    if missing:
        raise DataError(f"{name} lacks {', '.join(missing)}", "compare again; the file was changed or cut")
    for part in PARTS:
        if not isinstance(record[part], list if part == "runs" else dict):
            raise DataError(f"{part} of {name} is not what it should be", "compare again; the file was changed")
    for number, run in enumerate(record["runs"], start=1):
        if not _is_run(run, record["models"]):
            raise DataError(f"run {number} of {name} is not what it should be", "compare again; the file was changed")
    return record


def _is_run(run: Any, models: Mapping[str, Any]) -> bool:
    """Whether an entry has what all that read runs ask of it: a model, a seed, and an error or metrics."""
    if not isinstance(run, dict) or run.get("model") not in models or not isinstance(run.get("seed"), int):
        return False
    if run.get("error"):
        return isinstance(run["error"], str)
    metrics = run.get("metrics")
    numbers = metrics.values() if isinstance(metrics, dict) else [""]
    return all(value is None or isinstance(value, int | float) for value in numbers)


def without_user_values(record: Record) -> Record:
    """Return a record of any known version as the present one has it."""
    if record["version"] == VERSION:
        return record
    runs = [{part: value for part, value in run.items() if part != "per_user"} for run in record["runs"]]
    for run in runs:
        if run.get("tuning"):
            run["tuning"] = {**run["tuning"], "trials": [shown_parts(trial) for trial in run["tuning"]["trials"]]}
    return {**record, "version": VERSION, "runs": runs}


def shown_parts(trial: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report shows of a trial; its values after every step are left out."""
    return {part: trial[part] for part in TRIAL_PARTS if part in trial}


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write the record, atomically, a line for each part and each run; numbers that JSON does not know become null."""
    parts = [f"{json.dumps(name)}:{_line(part)}" for name, part in record.items() if name != "runs"]
    runs = ",\n".join(map(_line, record["runs"]))
    text = "{\n" + ",\n".join([*parts, f'"runs":[\n{runs}\n]']) + "\n}\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _line(value: Any) -> str:
    return json.dumps(by_columns(plain(value)), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plain(value: Any) -> Any:
    """Return `value` in what JSON knows: NumPy numbers become numbers, NaN and ±∞ null, else by `plain_value`."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    value = value if isinstance(value, float) else plain_value(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def by_columns(value: Any) -> Any:
    """Return `value` with every list of objects that have the same keys as a table, with the keys written once.

    >>> by_columns([{"step": 1, "value": 0.5}, {"step": 2, "value": 0.7}])
    {'columns': {'step': [1, 2], 'value': [0.5, 0.7]}}
    """
    if isinstance(value, dict):
        return {key: by_columns(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    keys = list(value[0]) if len(value) > 1 and isinstance(value[0], dict) else []
    if keys and all(isinstance(row, dict) and list(row) == keys for row in value):
        return {"columns": {key: by_columns([row[key] for row in value]) for key in keys}}
    return [by_columns(part) for part in value]


def by_rows(value: Any) -> Any:
    """Return `value` with every table of `by_columns` as a list of objects again.

    >>> by_rows({"columns": {"step": [1, 2], "value": [0.5, 0.7]}})
    [{'step': 1, 'value': 0.5}, {'step': 2, 'value': 0.7}]
    """
    if isinstance(value, list):
        return [by_rows(part) for part in value]
    if not isinstance(value, dict):
        return value
    columns = value.get("columns") if len(value) == 1 else None
    if not isinstance(columns, dict):
        return {key: by_rows(part) for key, part in value.items()}
    rows = zip(*(by_rows(column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
