"""What comparisons found, in docs/results.md and docs/neural.md.

A section of the page links to its record, `[record](FILE.json)`; what follows the line `<!-- found -->` is what the
record says: who is best, a table of all metrics and costs, the command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from research.pages.sections import filled
from research.places import Places
from taylorank.report.record import load_record
from taylorank.report.series import series_of
from taylorank.report.tables import Cell, summary_table
from taylorank.report.words import further_sentences, lead_sentence, mark_words

LINK = re.compile(r"\[record\]\((\S+?\.json)\)")


def made(name: str, places: Places) -> str:
    """Return the page with what the records say."""
    return refreshed((places.docs / f"{name}.md").read_text(encoding="utf-8"), places.docs)


def refreshed(page: str, docs: Path) -> str:
    """Return a page of the folder `docs` with what the records say that its sections link to."""

    def content(section: str) -> str | None:
        link = LINK.search(section)
        return None if link is None else found(load_record(docs / link[1]))

    return filled(page, content)


def found(record: dict[str, Any]) -> str:
    """Return sentences, a table and the command of a comparison."""
    table = summary_table(record, series_of(record))
    rows = [table.head, ["---", *["---:"] * (len(table.head) - 1)]]
    rows += [[*map(_shown, row), *[""] * (len(table.head) - len(row))] for row in table.rows]
    sentences = " ".join([lead_sentence(record), *further_sentences(record)])
    lines = [
        sentences,
        "",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        ". ".join(filter(None, (table.caption, mark_words(record)))) + ".",
        "",
        f"    {record['command']}",
        "",
    ]
    return "\n".join(lines)


def _shown(cell: Cell) -> str:
    text = f"{cell.text}{cell.mark}"
    return f"**{text}**" if cell.is_best else text
