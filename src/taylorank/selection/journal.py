"""The file of a tuning run: a header that says what is tuned, then one JSON line per trial.

A run that finds its own file takes the trials from there instead of computing them again, so an interrupted run goes on
where it stopped and ends with the same table. A line is written and flushed as soon as its trial ends; a last line that
was cut off is dropped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import taylorank
from taylorank.errors import DataError
from taylorank.models.json_values import plain_value
from taylorank.output import atomic_path
from taylorank.selection.trial import Trial

FORMAT = 1
REMEDY = "give another file, or delete this one"
Key = tuple[str, int]


class Journal:
    """Trials by (parameters, users judged), kept in `path`; without a path nothing is kept."""

    def __init__(self, path: str | os.PathLike[str] | None, header: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self._known: dict[Key, Trial] = {}
        if self.path is None:
            return
        plain = json.loads(
            json.dumps({"tuning": FORMAT, "version": taylorank.__version__, **header}, default=plain_value)
        )  # as the file will give it back
        lines = _whole_lines(self.path)
        if lines:
            _refuse_other(self.path, lines[0], plain)
        trials = [_trial(self.path, number, line) for number, line in enumerate(lines[1:], start=2)]
        self._known = {key_of(trial.params, trial.users): trial for trial in trials}
        with atomic_path(self.path) as temporary:  # also finds out now whether the file can be written
            temporary.write_text("".join(f"{json.dumps(line)}\n" for line in [plain, *lines[1:]]))

    def find(self, key: Key) -> Trial | None:
        """Return the trial if the file has it."""
        return self._known.get(key)

    def add(self, trial: Trial) -> None:
        """Write one more trial, unless the file has it."""
        if self.path is None or key_of(trial.params, trial.users) in self._known:
            return
        self._known[key_of(trial.params, trial.users)] = trial
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(trial.to_dict(), default=plain_value) + "\n")
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {error.strerror}", "check the folder and free space") from error


def key_of(params: dict[str, Any], users: int) -> Key:
    """What tells one trial from another."""
    return json.dumps(params, sort_keys=True, default=plain_value), users


def _whole_lines(path: Path) -> list[Any]:
    """The JSON of every line; a last one that was cut off is left out."""
    if not path.exists():
        return []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path} ({error})", REMEDY) from error
    values = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            values.append(json.loads(line))
        except ValueError:
            if not values:
                raise DataError(f"{path} is not the file of a tuning run", REMEDY) from None
            if number < len(lines):
                raise DataError(f"line {number} of {path} is damaged", f"remove that line, or {REMEDY}") from None
    return values


def _refuse_other(path: Path, found: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(found, dict) or "tuning" not in found:
        raise DataError(f"{path} is not the file of a tuning run", REMEDY)
    for name in wanted:
        if found.get(name) != wanted[name]:
            raise DataError(f"{path} has {name} {_short(found.get(name))}, this run {_short(wanted[name])}", REMEDY)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _trial(path: Path, number: int, line: Any) -> Trial:
    try:
        return Trial(**{**line, "step_values": tuple(line["step_values"])})
    except (TypeError, KeyError):
        raise DataError(f"line {number} of {path} is not a trial", f"remove that line, or {REMEDY}") from None
