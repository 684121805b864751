"""Delimited text (csv, tsv, `::`-separated .dat, RecBole .inter) as blocks of text columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from taylorank.data.roles import POSITIONS, Roles
from taylorank.errors import DataError

if TYPE_CHECKING:
    import _csv

TextFormat = Literal["csv", "tsv", "dat", "inter"]
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
JOINT = "\x1f"  # stands for "::" where one byte is needed; the character made for separating units


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are laid out."""

    names: tuple[str, ...]
    separator: str  # one byte
    is_double_colon: bool
    has_header: bool
    quote: str | None

    def parse_line(self, line: str) -> list[str]:
        """Return the fields of one line."""
        if self.is_double_colon:
            line = line.replace("::", JOINT)
        return next(self.reader([line.rstrip("\r\n")]), [])

    def reader(self, lines: Iterable[str]) -> _csv.Reader:
        """Return a slow and exact reader of such lines."""
        return csv.reader(
            lines, delimiter=self.separator, quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE, strict=True
        )


def detect_layout(head: bytes, *, kind: TextFormat, separator: str | None, columns: Sequence[str] | None) -> Layout:
    """Find the separator and the column names from the first line."""
    first = next((line for line in head.decode().splitlines() if line.strip()), "")
    if not first:
        raise DataError("the file is empty", "check the export")
    mark = separator or _separator(first, kind)
    quote = None if kind in ("dat", "inter") else '"'
    double = mark == "::"
    if len(mark.encode()) != 1 and not double:
        raise DataError(f"separator {mark!r} is not a single character", 'use one character, or "::"')
    layout = Layout((), JOINT if double else mark, double, True, quote)
    fields = layout.parse_line(first)
    if len(fields) < 2:
        raise DataError(f"the first line has a single column ({first[:60]!r})", "give separator=… if it is another")
    if columns is not None:
        names, has_header = _given_names(columns, fields), False
    elif all(NUMBER.fullmatch(field) for field in fields):
        names, has_header = _positional_names(len(fields)), False
    else:
        names, has_header = (
            tuple(f.strip().split(":")[0] if kind == "inter" else f.strip() for f in fields),
            True,
        )
    return Layout(names, layout.separator, double, has_header, quote)


def _separator(first: str, kind: TextFormat) -> str:
    if kind in ("tsv", "inter"):
        return "\t"
    if "::" in first:
        return "::"
    found = max((",", "\t", ";", "|"), key=first.count)
    return found if found in first else " "


def _given_names(columns: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
    if len(columns) > len(fields):
        raise DataError(f"{len(columns)} columns named, but the lines have {len(fields)}", "name fewer")
    return (*columns, *(f"column {k}" for k in range(len(columns), len(fields))))


def _positional_names(count: int) -> tuple[str, ...]:
    return tuple(POSITIONS[k] if k < len(POSITIONS) else f"column {k}" for k in range(count))


def text_rows(blocks: Iterator[bytes], layout: Layout, roles: Roles) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables of the columns of `roles`, each with the line number of its first row.

    Fields are text, or numbers already where that loses nothing. Missing and empty fields are null; blank lines
    are dropped.
    """
    line = 1
    likely = _likely_types(roles)
    for k, block in enumerate(blocks):
        body = block
        if k == 0 and layout.has_header:
            body = _after_first_line(block)
            line += block[: len(block) - len(body)].count(b"\n")
        plain = bool(likely) and spells_integers_plainly(body, layout.separator)
        table = _parse_typed(body, layout, roles.columns, likely) if plain else None
        if table is None:
            likely = {}  # what failed once will fail again
            table = _parse_text(body, layout, roles.columns, line)
            _refuse_second_header(table, roles, line)
        yield table.filter(~pl.all_horizontal(pl.all().is_null())), line
        line += len(table)


def _likely_types(roles: Roles) -> dict[str, type[pl.DataType]]:
    """Types to try first: parsing straight into numbers takes half the time of going through text."""
    numbers = {column: pl.Float64 for column in (roles.rating, roles.strength) if column is not None}
    return {**numbers, roles.user: pl.Int64, roles.item: pl.Int64}


def _after_first_line(block: bytes) -> bytes:
    start = len(block) - len(block.lstrip(b"\r\n\t "))
    end = block.find(b"\n", start)
    return block[end + 1 :] if end >= 0 else b""


def _parse_typed(
    body: bytes, layout: Layout, columns: Sequence[str], types: Mapping[str, type[pl.DataType]]
) -> pl.DataFrame | None:
    """Parse a block; None if the fast reader refuses it."""
    text = body.replace(b"::", JOINT.encode()) if layout.is_double_colon else body
    wanted = {f"c{layout.names.index(c)}": c for c in columns}
    header = layout.separator.join(f"c{k}" for k in range(len(layout.names)))
    try:
        table = pl.read_csv(
            b"".join((header.encode(), b"\n", text)),
            columns=list(wanted),
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
            schema_overrides={place: types.get(c, pl.String) for place, c in wanted.items()},
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return table.select(pl.col(place).alias(c) for place, c in wanted.items())


def _parse_text(body: bytes, layout: Layout, columns: Sequence[str], line: int) -> pl.DataFrame:
    a_quote_is_open = layout.quote is not None and body.count(b'"') % 2 == 1
    table = None if a_quote_is_open else _parse_typed(body, layout, columns, {})
    return _parse_slowly(body.decode(), layout, columns, line) if table is None else table


def spells_integers_plainly(body: bytes, separator: str) -> bool:
    """Whether every field that parses as an integer is that integer's usual spelling, so that none is lost.

    No for "007", "+7", "-0", " 7", and whatever stands in quotes.
    """
    doubtful = [mark for mark in (b'"', b"+", b"-0", b" ", b"\t") if mark != separator.encode()]
    if any(mark in body for mark in doubtful):
        return False
    symbols = np.frombuffer(body, dtype=np.uint8)
    before, zero, after = symbols[:-2], symbols[1:-1] == ord("0"), symbols[2:]
    opens_field = (before == ord(separator)) | (before == ord("\n")) | (before == ord("-"))
    is_digit = after - np.uint8(ord("0")) < 10
    starts_with_zero = len(body) > 1 and body[0] == ord("0") and chr(body[1]).isdigit()
    return not (starts_with_zero or bool(np.any(opens_field & zero & is_digit)))


def _parse_slowly(text: str, layout: Layout, columns: Sequence[str], line: int) -> pl.DataFrame:
    """Parse what the fast reader refuses (a quote inside a field), or say which line is wrong."""
    text = text.replace("::", JOINT) if layout.is_double_colon else text
    reader = layout.reader(io.StringIO(text, newline=""))
    wanted = [layout.names.index(c) for c in columns]
    rows = []
    try:
        for fields in reader:
            if len(fields) > len(layout.names):
                raise DataError(
                    f"line {line + reader.line_num - 1:,} has {len(fields)} fields, not {len(layout.names)}",
                    "quote fields that contain the separator",
                )
            rows.append([fields[w] or None if w < len(fields) else None for w in wanted])
    except csv.Error as error:
        raise DataError(f"line {line + reader.line_num - 1:,} cannot be parsed ({error})", "mend that line") from None
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _refuse_second_header(table: pl.DataFrame, roles: Roles, line: int) -> None:
    same = (table[roles.user] == roles.user) & (table[roles.item] == roles.item)
    if same.any():
        raise DataError(f"line {line + int(same.arg_max() or 0):,} repeats the header", "drop that line")
