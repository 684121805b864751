"""What was run of the papers' tables, in docs/reproduction.md.

A section of the page names its command, `python -m research.reproduce NAME`, indented; what follows the line
`<!-- found -->` is the table with ours beside theirs, from the records of comparisons. What stands before that
line, the words about the differences among it, is written by people and kept.
"""

from __future__ import annotations

import re
from pathlib import Path

from research.pages.sections import filled
from research.pages.tables import Table as Shown
from research.pages.tables import folded
from research.places import Places
from research.reproduce.cells import counts_text, head, row_cells
from research.reproduce.gather import Gathered, gather
from research.reproduce.run import models_of, needs_torch
from research.reproduce.tables import Table, table_named
from taylorank.report.numbers import metric_label
from taylorank.report.record import Record

COMMAND = re.compile(r"^    python -m research\.reproduce (\S+)", re.MULTILINE)


def made(name: str, places: Places) -> str:
    """Return the page with what the records say."""

    def content(section: str) -> str | None:
        command = COMMAND.search(section)
        return None if command is None else shown(table_named(command[1]), places)

    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), content)


def shown(table: Table, places: Places) -> str:
    """Return the rows that were run by the first metric, then all of the table, and where its numbers are from."""
    found = gather(table, places)
    heads = head(table)
    cells = [row_cells(table, row, found) for row in table.rows]
    width = 2 + (len(heads) - 2) // len(table.columns)
    run = [[row[0], *row[2:width]] for row in cells if row[1] in found.values]
    whole = [[label, f"`{model}`", *rest] for label, model, *rest in cells]
    brief = [Shown([heads[0], *heads[2:width]], run).markdown()] if run else []
    summary = "Every row and metric" if run else "What the papers print"
    notes, count = _notes(table, found, places), len(found.records)
    return "\n\n".join(
        [
            *brief,
            counts_text(table, found),
            Shown(heads, whole, summary, folded=True).markdown(),
            folded("\n".join(notes), f"Records and commands, {count} files" if count else "How to run it") + "\n",
        ]
    )


def not_run(table: Table, found: Gathered, places: Places) -> list[str]:
    """Return the commands for the rows without a record: closed forms, and what is trained by gradients."""
    missing = [name for name in models_of(table) if name not in found.values and name not in found.errors]
    by_gradients = list(filter(needs_torch, missing))
    kinds = {"closed-forms": [name for name in missing if name not in by_gradients], "gradients": by_gradients}
    taken = {Path(file).stem for file in found.records}
    folder = places.name(places.comparisons)
    lines = []
    for kind, names in kinds.items():
        plain = kind == "closed-forms" and table.name not in taken
        file = f"{folder}/{table.name}.json" if plain else f"{folder}/{table.name}-{kind}.json"
        if names:
            command = f"python -m research.reproduce {table.name} --models {','.join(names)} --json {file}"
            lines.append(f"- Not run here ({', '.join(names)}): `{command}`")
    return lines


def _notes(table: Table, found: Gathered, places: Places) -> list[str]:
    def link(file: str) -> str:
        return places.link(places.root / file)

    notes = [f"- {link(name)}: {_provenance(name, record, found)}" for name, record in found.records.items()]
    benchmarks = sorted({file for file in found.sources.values() if file not in found.records})
    notes += [f"- {link(file)}: {_models_of(file, found)}; one seed, no interval." for file in benchmarks]
    notes += [f"- {link(file)} is left out: {reason}." for file, reason in found.refused.items()]
    notes += [f"- `{model}` failed: {error}" for model, error in found.errors.items() if model in models_of(table)]
    return [*notes, *not_run(table, found, places)]


def _provenance(file: str, record: Record, found: Gathered) -> str:
    seeds = ", ".join(map(str, record["summary"]["seeds"]))
    budget = record["budget"]
    budget_text = f"{budget['trials']} fits" if budget.get("trials") is not None else f"{budget.get('seconds')} s"
    chosen = metric_label(record["settings"]["primary"])
    return (
        f"{_models_of(file, found)}; seeds {seeds}, {budget_text} of tuning for each model on each, "
        f"chosen by {chosen} on validation data; ± is half of the 95 % interval over users. Made on "
        f"{record['machine']['cpu']}, {record['machine']['cores']} cores, by `{record['command']}`"
    )


def _models_of(file: str, found: Gathered) -> str:
    return ", ".join(f"`{model}`" for model, source in found.sources.items() if source == file) or "nothing new"
