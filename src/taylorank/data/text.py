"""Delimited text (csv, tsv, `::`-separated .dat, RecBole .inter) as blocks of text columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from taylorank.data.roles import POSITIONS
from taylorank.errors import DataError

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
        quoting = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        rows = list(csv.reader([line.rstrip("\r\n")], delimiter=self.separator, quoting=quoting))
        return rows[0] if rows else []


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


def text_rows(blocks: Iterator[bytes], layout: Layout, columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables of the chosen `columns` as text, each with the line number of its first row.

    Missing and empty fields are null; blank lines are dropped.
    """
    line = 1
    for k, block in enumerate(blocks):
        body = block
        if k == 0 and layout.has_header:
            body = _after_first_line(block)
            line += block[: len(block) - len(body)].count(b"\n")
        table = _parse(body, layout, columns, line)
        _refuse_second_header(table, layout, columns, line)
        yield table.filter(~pl.all_horizontal(pl.all().is_null())), line
        line += body.count(b"\n")


def _after_first_line(block: bytes) -> bytes:
    start = len(block) - len(block.lstrip(b"\r\n\t "))
    end = block.find(b"\n", start)
    return block[end + 1 :] if end >= 0 else b""


def _parse(body: bytes, layout: Layout, columns: Sequence[str], line: int) -> pl.DataFrame:
    if layout.is_double_colon:
        body = body.replace(b"::", JOINT.encode())
    wanted = [f"c{layout.names.index(c)}" for c in columns]
    header = layout.separator.join(f"c{k}" for k in range(len(layout.names)))
    try:
        table = pl.read_csv(
            header.encode() + b"\n" + body,
            columns=wanted,
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return _parse_slowly(body.decode(), layout, columns, line)
    return table.select(pl.col(w).alias(c) for w, c in zip(wanted, columns, strict=True))


def _parse_slowly(text: str, layout: Layout, columns: Sequence[str], line: int) -> pl.DataFrame:
    """Parse what the fast reader refuses (a quote inside a field), or say which line is wrong."""
    quoting = csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.separator, quoting=quoting)
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


def _refuse_second_header(table: pl.DataFrame, layout: Layout, columns: Sequence[str], line: int) -> None:
    if not layout.has_header:
        return
    same = table.select(pl.all_horizontal(pl.col(c) == c for c in columns).fill_null(False)).to_series()
    if same.any():
        raise DataError(f"line {line + int(same.arg_max() or 0):,} repeats the header", "drop that line")
