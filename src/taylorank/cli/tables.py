"""Tables that fit where they are printed: never with a word cut short."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], console: Console, *, right: bool = False) -> None:
    """Print a table as `print_fitting` does. `right` aligns all columns but the first to the right."""
    table = _table(head, rows, right=right)
    if not _fits(table, console):
        table = _table([name.replace("_", "_\n") for name in head], rows, right=right)
    print_fitting(table, head, rows, console)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if right and number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _fits(table: Table, console: Console) -> bool:
    return _width(table) <= console.width or not console.is_terminal


def _width(table: Table) -> int:
    unlimited = Console(width=10_000, quiet=True)
    return Measurement.get(unlimited, unlimited.options, table).maximum


def print_fitting(table: Table, head: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """Print a table of these rows; where it is wider than the terminal, a line of `name value` pairs for every row.

    In a pipe or a file it is as wide as it is.
    """
    if _fits(table, console):
        wide = Console(width=max(_width(table), console.width), quiet=console.quiet, highlight=False, file=console.file)
        wide.print(table)
        return
    for row in rows:
        pairs = [f"{name} {cell}" for name, cell in zip(head, row, strict=True) if cell]
        console.print(Text(", ".join(pairs)), soft_wrap=False)
