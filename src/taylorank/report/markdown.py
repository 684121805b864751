"""Puts what comparisons found into a page about them.

    python -m taylorank.report.markdown docs/results.md

A section of the page links to its record, `[record](reports/FILE.json)`; what follows the line `<!-- found -->` is what
the record says: who is best, a table of all metrics and costs, the command.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
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

    def content(section: str) -> str | None:
        link = LINK.search(section)
        return None if link is None else found(load_record(docs / link[1]))

    return filled(page, content)


def filled(page: str, content: Callable[[str], str | None]) -> str:
    """Return the page with `content` of each section behind its mark; sections without mark or content stay."""
    return "".join(_section(section, content) for section in re.split(r"^(?=## )", page, flags=re.MULTILINE))


def _section(section: str, content: Callable[[str], str | None]) -> str:
    kept, mark, _ = section.partition(MARK)
    told = content(kept) if mark else None
    return section if told is None else f"{kept}{MARK}\n{told}\n"


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


def rewrite(path: Path, made: Callable[[str], str]) -> None:
    """Put what `made` makes of a page in its place."""
    text = made(path.read_text(encoding="utf-8")).rstrip() + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def main(path: Path) -> None:
    """Rewrite the page."""
    rewrite(path, lambda text: refreshed(text, path.parent))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
