"""Puts what comparisons found into a page about them.

    python -m taylorank.report.markdown docs/results.md

A section of the page links to its record, `[record](reports/FILE.json)`; what follows the line `<!-- found -->` is what
the record says: who is best, a table of all metrics and costs, the command.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from taylorank.output import atomic_path
from taylorank.report.series import series_of
from taylorank.report.tables import Cell, summary_table
from taylorank.report.words import further_sentences, lead_sentence
from taylorank.selection.record import load_record

LINK = re.compile(r"\[record\]\((reports/\S+?\.json)\)")
MARK = "<!-- found -->\n"


def refreshed(page: str, docs: Path) -> str:
    """Return the page with what the records beside it say."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return "".join(_section(section, docs) for section in sections)


def _section(section: str, docs: Path) -> str:
    link = LINK.search(section)
    if link is None or MARK not in section:
        return section
    kept = section.partition(MARK)[0]
    return f"{kept}{MARK}\n{found(load_record(docs / link[1]))}\n"


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
        f"{table.caption}. † significantly below the best (p < 0.05 over users, Holm's correction).",
        "",
        f"    {record['command']}",
        "",
    ]
    return "\n".join(lines)


def _shown(cell: Cell) -> str:
    text = f"{cell.text}{cell.mark}"
    return f"**{text}**" if cell.is_best else text


def main(path: Path) -> None:
    """Rewrite the page."""
    text = refreshed(path.read_text(encoding="utf-8"), path.parent).rstrip() + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
