"""What tuning tried, and the file that keeps it: a header that describes the run, then one JSON line per trial.

A run that finds its own file takes the trials from there instead of computing them again, so an interrupted run goes on
where it stopped and ends with the same table. A line is written and flushed as soon as its trial ends; a last line that
was cut off is dropped.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import taylorank
from taylorank.checks import is_finite
from taylorank.errors import DataError
from taylorank.models.json_values import plain_value as in_json
from taylorank.output import atomic_path

FORMAT = 2  # 1: other draws of settings, and no trials that were cut off
REMEDY = "give another file, or delete this one"
Status = Literal["complete", "cut off", "pruned", "failed"]
Key = tuple[str, int]  # a trial's parameters as JSON, and how many users judged it


@dataclass(frozen=True)
class Trial:
    """One setting and its value on validation data.

    `fit` numbers the fits: the points of one path share theirs. `users` is the number of validation users judged; a
    search may judge first on a sample. A failed trial has the value None and the reason in `note`; one that was cut off
    by the budget has the value of the best state that it reached, after so many `steps` (sweeps, epochs), if any.
    """

    params: dict[str, Any]
    value: float | None
    seconds: float
    status: Status = "complete"
    step_values: tuple[float, ...] = ()
    fit: int = 0
    users: int = 0
    note: str = ""
    steps: int | None = None

    @property
    def key(self) -> Key:
        """What identifies this trial."""
        return key_of(self.params, self.users)

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON holds it."""
        return {**asdict(self), "step_values": list(self.step_values)}


def key_of(params: dict[str, Any], users: int) -> Key:
    """Return the key of the trial of `params` on so many users."""
    return json.dumps(params, sort_keys=True, default=in_json), users


def open_trials(path: Path, header: dict[str, Any]) -> dict[Key, Trial]:
    """Return the trials that the file has, if its header is this one; begin the file if there is none."""
    wanted = {"tuning": FORMAT, "version": taylorank.__version__, **header}
    wanted = json.loads(json.dumps(wanted, default=in_json))  # as the file gives it back
    lines = _whole_lines(path)
    if lines:
        _check_header(path, lines[0], wanted)
    trials = [_trial(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    with atomic_path(path) as temporary:  # also finds out now whether the file can be written
        temporary.write_text("".join(f"{json.dumps(line)}\n" for line in [wanted, *lines[1:]]))
    return {trial.key: trial for trial in trials}


def append_trial(path: Path, trial: Trial) -> None:
    """Write one more trial."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(trial.to_dict(), default=in_json) + "\n")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}", "check the folder and free space") from error


def _whole_lines(path: Path) -> list[Any]:
    """The JSON of every line; a last one that was cut off is left out."""
    if not path.exists():
        return []
    if not path.is_file():
        raise DataError(f"{path} is not an ordinary file", REMEDY.split(",")[0])
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


def _check_header(path: Path, found: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(found, dict) or "tuning" not in found:
        raise DataError(f"{path} is not the file of a tuning run", REMEDY)
    if found["tuning"] != FORMAT:
        cause = f"{path} has trials of another version of the search ({found['tuning']!r}, this one is {FORMAT})"
        raise DataError(cause, REMEDY)
    for name in wanted:
        if found.get(name) != wanted[name]:
            raise DataError(f"{path} has {name} {_short(found.get(name))}, this run {_short(wanted[name])}", REMEDY)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _trial(path: Path, number: int, line: Any) -> Trial:
    try:
        trial = Trial(**{**line, "step_values": tuple(line["step_values"])})
        if _is_one(trial):
            return trial if trial.value is None else replace(trial, value=float(trial.value))
    except (TypeError, KeyError):
        pass
    raise DataError(f"line {number} of {path} is not a trial", f"remove that line, or {REMEDY}")


def _is_one(trial: Trial) -> bool:
    """Whether the values of a trial are of the kinds that a search writes."""
    counts = (trial.fit, trial.users, *(() if trial.steps is None else (trial.steps,)))
    return (
        isinstance(trial.params, dict)
        and (trial.value is None or is_finite(trial.value))
        and is_finite(trial.seconds)
        and trial.seconds >= 0
        and all(map(is_finite, trial.step_values))
        and all(isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**63 for count in counts)
        and trial.status in get_args(Status)
        and isinstance(trial.note, str)
    )
