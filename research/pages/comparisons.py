"""What comparisons found, in docs/results.md and docs/neural.md.

A section of the page links to its record, `[record](FILE.json)`; what follows the line `<!-- found -->` is what the
record says: who is best, a table of all metrics and costs, the command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from research.pages.sections import filled
from research.pages.tables import Table, folded
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
    """Return sentences, a table of the metric that chose and the seconds, then all metrics and the command."""
    table = summary_table(record, series_of(record))
    rows = [[*map(_shown, row), *[""] * (len(table.head) - len(row))] for row in table.rows]
    columns = [0, 1, *(place for place, name in enumerate(table.head) if place > 1 and name == "Fit")]
    brief = Table([table.head[i] for i in columns], [[row[i] for i in columns] for row in rows])
    words = ". ".join(filter(None, (table.caption, mark_words(record)))) + "."
    whole = Table(table.head, rows).plain()
    return "\n\n".join(
        [
            " ".join([lead_sentence(record), *further_sentences(record)]),
            brief.markdown(),
            words,
            folded(f"{whole}\n\n    {record['command']}", "All metrics, and the command") + "\n",
        ]
    )


def _shown(cell: Cell) -> str:
    text = f"{cell.text}{cell.mark}"
    return f"**{text}**" if cell.is_best else text
