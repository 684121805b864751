"""Rows of the benchmark of `fit_best`: those of a file, rivals of another record, and what is lost to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from taylorank.errors import DataError

OF_RIVALS = ("rivals", "machine of rivals")
Row = dict[str, Any]


def rows_of(file: Path | None, settings: Row) -> Row:
    """The sets that the file has; one with other settings is refused."""
    if file is None or not file.exists():
        return {}
    earlier = json.loads(file.read_text(encoding="utf-8"))
    for name, value in settings.items():
        if earlier.get(name, "wall") != value:
            raise DataError(f"{file} has {name} {earlier.get(name)}, this run {value}", "give another file")
    sets: Row = earlier["sets"]
    return sets


def take_rivals(file: str, rows: Row, names: list[str]) -> Row:
    """Put the rivals of another record into the rows; return what they had."""
    other = json.loads(Path(file).read_text(encoding="utf-8"))
    for name in names:
        row = other["sets"].get(name, {})
        rows[name] = with_loss({**rows.get(name, {}), **{key: row[key] for key in OF_RIVALS if key in row}})
    seconds, clock = other["times"] * other["seconds"], other.get("clock", "wall")
    return {"rivals": {"seconds": seconds, "clock": clock, "commit": other.get("commit")}}


def with_loss(row: Row) -> Row:
    """Add the share that `fit_best` loses to the best rival; None if either side is missing."""
    values = [rival["test"] for rival in row.get("rivals", {}).values() if rival["test"] is not None]
    loss = round(1 - row["fit_best"]["test"] / max(values), 4) if "fit_best" in row and any(values) else None
    return {**row, "loss": loss}
