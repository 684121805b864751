"""A table with ours beside the papers': what stands in which cell, for the terminal and for the page."""

from __future__ import annotations

from research.reproduce.gather import Gathered, Value
from research.reproduce.tables import Row, Table
from taylorank.data.datasets import Counts, info
from taylorank.report.numbers import MISSING, metric_label, quality

NOT_RUN = "not run here"


def head(table: Table) -> list[str]:
    """Return the heads of the columns."""
    cells = ["method", "model"]
    for metric in table.columns:
        name = metric_label(metric)
        if table.printed_on:
            label = table.row(table.reference).label
            cells += [name, f"to {label}", f"papers to {label}", "difference"]
        else:
            cells += [name, "printed", "difference"]
    return cells


def row_cells(table: Table, row: Row, found: Gathered) -> list[str]:
    """Return the cells of a row; one that was not run has the papers' numbers alone, and one that failed says why."""
    cells = [row.label, row.model]
    why = "failed" if row.model in found.errors else NOT_RUN
    for place, metric in enumerate(table.columns):
        ours = found.values.get(row.model, {}).get(metric)
        printed = row.printed[place] if row.printed and place < len(row.printed) else None
        cells.append(why if row.model not in found.values else _ours(ours))
        if table.printed_on:
            gains = found.gain(row.model, table.reference, metric), printed_gain(table, printed, place)
            cells += [_share(gains[0]), _share(gains[1]), _share(_less(*gains), " points")]
        else:
            cells += [quality(printed), _signed(_less(None if ours is None else ours.mean, printed))]
    return cells


def printed_gain(table: Table, printed: float | None, place: int) -> float | None:
    """Return by what share a number of the papers exceeds that of the reference."""
    base = table.row(table.reference).printed
    return None if printed is None or base is None else printed / base[place] - 1


def counts_text(table: Table, found: Gathered) -> str:
    """Return the size of the data, beside the known one."""
    recipe = info(table.dataset).cleaning(table.cleaning or "paper")
    known = "" if recipe.counts is None else f"{recipe.counts} ({recipe.counts_from})"
    theirs = f" The papers' numbers are of {table.printed_on}." if table.printed_on else ""
    if not found.records:
        return (f"Data: {recipe.summary}; known are {known}." if known else f"Data: {recipe.summary}.") + theirs
    data = next(iter(found.records.values()))["data"]
    counts = Counts(data["users"], data["items"], data["interactions"])
    if table.cleaning is None:  # the record describes the training part alone
        return f"Data: as published; training part {counts}."
    comparison = "as known" if counts == recipe.counts else f"known are {known}" if known else "no known counts"
    return f"Data: {recipe.summary}; {counts}, {comparison}.{theirs}"


def _less(ours: float | None, printed: float | None) -> float | None:
    return None if ours is None or printed is None else ours - printed


def _ours(value: Value | None) -> str:
    if value is None:
        return MISSING
    return quality(value.mean) + ("" if value.half is None else f" ± {quality(value.half)}")


def _signed(value: float | None) -> str:
    return MISSING if value is None else f"{value:+.4f}".replace("-", "−")


def _share(value: float | None, unit: str = " %") -> str:
    return MISSING if value is None else f"{100 * value:+.1f}{unit}".replace("-", "−")
