"""Tables of benchmarks, for the pages: a function from a record to its tables for each name of a benchmark.

What has no function here is shown as its benchmark describes it, a row for each line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from research.bench import module_of

Record = dict[str, Any]
Rows = Sequence[Sequence[str]]
LONG = 20  # rows that a page shows unfolded
SHORT = 18  # characters of a cell that is not broken in two


class Table(NamedTuple):
    """A table with the words above it; `folded` ones are opened by whoever wants them."""

    head: Sequence[str]
    rows: Rows
    title: str = ""
    folded: bool = False

    def markdown(self) -> str:
        """Return the table as a page has it; long ones are folded.

        >>> print(Table(["", "s"], [["a", "1"]]).markdown())
        |  | s |
        |---|---:|
        | a | 1 |
        """
        text = self.plain()
        if not self.folded and len(self.rows) <= LONG:
            return f"{self.title}:\n\n{text}" if self.title else text
        return folded(text, f"{self.title or 'All numbers'}, {len(self.rows)} rows")

    def plain(self) -> str:
        """Return the rows alone."""
        columns = list(zip(*self.rows, strict=True))
        rules = ["---:" if i and _is_number(column) else "---" for i, column in enumerate(columns)]
        lines = [_row(self.head), f"|{'|'.join(rules)}|", *map(_row, self.rows)]
        return "\n".join(lines)


def folded(text: str, summary: str) -> str:
    """Return a text that a reader opens by its summary."""
    return f'<details class="more"><summary>{summary}</summary>\n\n{text}\n\n</details>'


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _is_number(column: Sequence[str]) -> bool:
    """Whether all cells of a column are short, and most begin with a number."""
    numbers = sum(bool(re.match(r"[*−+–]*\d|–$", cell)) for cell in column)
    return 2 * numbers > len(column) and max(map(len, column)) < SHORT


def tables_of(name: str, record: Record) -> list[Table]:
    """Return the tables of a benchmark's record."""
    from research.pages.tables import defaults, protocols, quality, speed, use

    known: dict[str, Callable[[Record], list[Table]]] = {
        **speed.TABLES,
        **use.TABLES,
        **quality.TABLES,
        **defaults.TABLES,
        **protocols.TABLES,
    }
    return known[name](record) if name in known else [_described(name, record)]


def _described(name: str, record: Record) -> Table:
    """Return a row for each line, cut behind its first colon."""
    lines = [line.strip().partition(": ") for line in module_of(name).describe(record)]
    rows = [(first, rest) if rest else ("", first) for first, _, rest in lines]
    return Table(["", "measured"], rows)


def kept(is_kept: bool) -> str:
    """Say whether a target is kept."""
    return "kept" if is_kept else "**missed**"


def best(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """Return numbers as text, the largest in bold.

    >>> best([0.1, None, 0.2])
    ['0.1000', '–', '**0.2000**']
    """
    top = max((value for value in values if value is not None), default=None)
    shown = ["–" if value is None else f"{value:.{digits}f}" for value in values]
    return [
        f"**{text}**" if value is not None and value == top else text for text, value in zip(shown, values, strict=True)
    ]
