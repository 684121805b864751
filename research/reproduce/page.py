"""Puts what was run of the papers' tables into the page about them.

    python -m research.reproduce.page docs/reproduction.md

A section of the page names its command, `taylorank reproduce NAME`, indented; what follows the line `<!-- found -->`
is the table with ours beside theirs, from the records in reports/ beside the page. What stands before that line, the
words about the differences among it, is written by people and kept.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from research.reproduce.cells import head, row_cells
from research.reproduce.gather import Gathered, gather
from research.reproduce.run import models_of, needs_torch
from research.reproduce.tables import Table, table_named
from taylorank.data.datasets import Counts, info
from taylorank.report.markdown import filled, rewrite
from taylorank.report.numbers import metric_label
from taylorank.selection.record import Record

COMMAND = re.compile(r"^    taylorank reproduce (\S+)", re.MULTILINE)


def refreshed(page: str, docs: Path) -> str:
    """Return the page with what the records beside it say."""

    def content(section: str) -> str | None:
        command = COMMAND.search(section)
        return None if command is None else shown(table_named(command[1]), docs)

    return filled(page, content)


def shown(table: Table, docs: Path) -> str:
    """Return the table, where its numbers are from, and what is not run."""
    found = gather(table, docs)
    heads = head(table)
    rows = [heads, ["---", "---", *["---:"] * (len(heads) - 2)]]
    rows += [[label, f"`{model}`", *cells] for label, model, *cells in (row_cells(table, r, found) for r in table.rows)]
    lines = [*(f"| {' | '.join(row)} |" for row in rows), "", *_notes(table, found)]
    return "\n".join([*lines, ""])


def not_run(table: Table, found: Gathered) -> list[str]:
    """Return the commands for the rows without a record: closed forms, and what is trained by gradients."""
    missing = [name for name in models_of(table) if name not in found.values and name not in found.errors]
    by_gradients = list(filter(needs_torch, missing))
    kinds = {"closed-forms": [name for name in missing if name not in by_gradients], "gradients": by_gradients}
    taken = {Path(file).stem for file in found.records}
    lines = []
    for kind, names in kinds.items():
        plain = kind == "closed-forms" and table.name not in taken
        file = f"docs/reports/{table.name}.json" if plain else f"docs/reports/{table.name}-{kind}.json"
        if names:
            command = f"taylorank reproduce {table.name} --models {','.join(names)} --json {file}"
            lines.append(f"- Not run here ({', '.join(names)}): `{command}`")
    return lines


def _notes(table: Table, found: Gathered) -> list[str]:
    notes = [_provenance(name, record, found) for name, record in found.records.items()]
    benchmarks = sorted({file for file in found.sources.values() if file not in found.records})
    notes += [f"- [{file}]({file}): {_models_of(file, found)}; one seed, no interval." for file in benchmarks]
    notes += [f"- [{file}]({file}) is left out: {reason}." for file, reason in found.refused.items()]
    notes += [f"- `{model}` failed: {error}" for model, error in found.errors.items() if model in models_of(table)]
    return [counts_told(table, found), "", *notes, *not_run(table, found)]


def _provenance(file: str, record: Record, found: Gathered) -> str:
    seeds = ", ".join(map(str, record["summary"]["seeds"]))
    budget = record["budget"]
    told = f"{budget['trials']} fits" if budget.get("trials") is not None else f"{budget.get('seconds')} s"
    chosen = metric_label(record["settings"]["primary"])
    return (
        f"- [{file}]({file}): {_models_of(file, found)}; seeds {seeds}, {told} of tuning for each model on each, "
        f"chosen by {chosen} on validation data; ± is half of the 95 % interval over users. Made on "
        f"{record['machine']['cpu']}, {record['machine']['cores']} cores, by `{record['command']}`"
    )


def _models_of(file: str, found: Gathered) -> str:
    return ", ".join(f"`{model}`" for model, source in found.sources.items() if source == file) or "nothing new"


def counts_told(table: Table, found: Gathered) -> str:
    """Return the size of the data, beside the known one."""
    recipe = info(table.dataset).protocol(table.cleaning or "paper")
    known = "" if recipe.counts is None else f"{recipe.counts} ({recipe.counts_from})"
    theirs = f" The papers' numbers are of {table.printed_on}." if table.printed_on else ""
    if not found.records:
        return (f"Data: {recipe.summary}; known are {known}." if known else f"Data: {recipe.summary}.") + theirs
    data = next(iter(found.records.values()))["data"]
    counts = Counts(data["users"], data["items"], data["interactions"])
    if table.cleaning is None:  # the record describes the training part alone
        return f"Data: as published; training part {counts}."
    told = "as known" if counts == recipe.counts else f"known are {known}" if known else "no known counts"
    return f"Data: {recipe.summary}; {counts}, {told}.{theirs}"


def main(path: Path) -> None:
    """Rewrite the page."""
    rewrite(path, lambda text: refreshed(text, path.parent))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
