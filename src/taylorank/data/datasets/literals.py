"""Lines that are Python dictionaries as Python 2 printed them: {u'username': u'ann', u'hours': 1.5, …}."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taylorank.data.datasets.formats import parse_blocks
from taylorank.data.datasets.registry import Loader
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_PAIR = re.compile(
    r"""(u?['"](\w+)['"]:\ (                      # key, then a value:
          u?'[^'\\]*+(?:\\.[^'\\]*+)*+'                    #   text in single quotes,
        | u?"[^"\\]*+(?:\\.[^"\\]*+)*+"                    #   text in double quotes,
        | [^,'"{}()[\]]*+                         #   or a number, True, False, None
        )(?:,\ |\}$))""",
    re.VERBOSE,
)
_DECIMAL = re.compile(r"\d+\.\d+")


def literal_lines(columns: Mapping[str, str]) -> Loader:
    """Read gzipped lines of Python dictionaries; `columns` maps their fields to columns.

    The column "timestamp" is made from an ISO date, in seconds since 1970, and "hours" is 0 where absent.
    """

    def load(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
        from taylorank.data.read import read_interactions

        days: dict[str, int] = {}
        frame = parse_blocks(paths[0], lambda block: _frame(block, columns, days))
        return read_interactions(frame, **options)

    return load


def parse_line(line: str, fields: Collection[str]) -> dict[str, Any]:
    """Return at least the given fields of the dictionary written on one line, where it has them.

    >>> parse_line("{u'username': u'ann', u'hours': 1.5}", {"username"})
    {'username': 'ann'}
    """
    pairs = _PAIR.findall(line)
    if line.startswith("{") and sum(len(whole) for whole, _, _ in pairs) == len(line) - 1:
        return {key: _plain(value) for _, key, value in pairs if key in fields}
    row = ast.literal_eval(line)
    if not isinstance(row, dict):
        raise ValueError("not a dictionary")
    return row


def _plain(source: str) -> Any:
    if source.startswith("u'") and "\\" not in source:
        return source[2:-1]
    return float(source) if _DECIMAL.fullmatch(source) else ast.literal_eval(source)


def _frame(block: bytes, columns: Mapping[str, str], days: dict[str, int]) -> pl.DataFrame:
    import polars as pl

    values: dict[str, list[Any]] = {column: [] for column in columns.values()}
    for line in block.decode("utf-8").split("\n"):
        if not line.strip():
            continue
        try:
            row = parse_line(line.strip(), columns)
            for field, column in columns.items():
                values[column].append(_value(row, field, column, days))
        except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
            shown = line if len(line) < 80 else f"{line[:77]}…"
            raise DataError(f"not a line of this format: {shown!r}", "delete the file and get it again") from error
    kinds = {"timestamp": pl.Int64, "hours": pl.Float32}
    return pl.DataFrame(values, schema={column: kinds.get(column, pl.String) for column in values})


def _value(row: Mapping[str, Any], field: str, column: str, days: dict[str, int]) -> Any:
    if column == "hours":
        return row.get(field) or 0.0
    value = row[field]
    if column != "timestamp":
        return str(value)
    if value not in days:
        days[value] = (date.fromisoformat(value) - date(1970, 1, 1)).days * 86_400
    return days[value]
