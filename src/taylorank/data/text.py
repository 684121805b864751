"""Delimited text (csv, tsv, `::`-separated .dat, RecBole .inter) as blocks of text columns."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.columns import integers_or_text
from taylorank.data.roles import POSITIONS, Roles
from taylorank.data.threads import map_in_threads
from taylorank.errors import DataError

if TYPE_CHECKING:
    import _csv

TextFormat = Literal["csv", "tsv", "dat", "inter"]
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
STRIP = 1 << 18  # bytes looked at together; they and what is computed from them fit the cache
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
    are dropped. Blocks are parsed in threads.
    """
    first = next(blocks, b"")
    body = _after_first_line(first) if layout.has_header else first
    line = 1 + first[: len(first) - len(body)].count(b"\n")
    tables = map_in_threads(lambda block: _parse(block, layout, roles), itertools.chain([body], blocks))
    try:
        for table in tables:
            yield _without_blank_lines(table), line
            line += len(table)
    except LineError as error:
        raise DataError(f"line {line + error.line:,} {error.fault}", error.remedy) from None


def _without_blank_lines(table: pl.DataFrame) -> pl.DataFrame:
    if not all(column.null_count() for column in table):
        return table
    return table.filter(~pl.all_horizontal(pl.all().is_null()))


class LineError(Exception):
    """What is wrong with a line, counted from 0 within its block."""

    def __init__(self, line: int, fault: str, remedy: str) -> None:
        super().__init__(fault)
        self.line, self.fault, self.remedy = line, fault, remedy


def _after_first_line(block: bytes) -> bytes:
    start = len(block) - len(block.lstrip(b"\r\n\t "))
    end = block.find(b"\n", start)
    return block[end + 1 :] if end >= 0 else b""


def _parse(body: bytes, layout: Layout, roles: Roles) -> pl.DataFrame:
    """Parse a block straight into numbers where the fast reader can and nothing is lost, else as text."""
    if layout.is_double_colon:
        body = body.replace(b"::", JOINT.encode())
    numbers = dict.fromkeys(filter(None, (roles.rating, roles.strength)), pl.Float64)
    ids = dict.fromkeys((roles.user, roles.item), pl.Int64)
    attempts: list[dict[str, type[pl.DataType]]] = [{**numbers, **ids}, {**numbers}, {}]
    for types in attempts if spells_integers_plainly(body, layout.separator) else attempts[1:]:
        table = _parse_fast(body, layout, roles.columns, types)
        if table is not None:
            break
    else:
        table = _parse_slowly(body.decode(), layout, roles.columns)
    if table[roles.user].dtype != pl.String:
        return table
    if layout.has_header:
        _refuse_second_header(table, roles)
    return table.with_columns(integers_or_text(table[name]) for name in (roles.user, roles.item))


def spells_integers_plainly(body: bytes, separator: str) -> bool:
    """Whether every field that parses as an integer is that integer's usual spelling, so that none is lost.

    No for "007", "+7", "-0", " 7", and whatever stands in quotes.
    """
    doubtful = [mark for mark in (b'"', b"+", b" ", b"\t") if mark != separator.encode()]
    if any(mark in body for mark in doubtful) or (b"-" in body and b"-0" in body):
        return False
    if body[:1] == b"0" and body[1:2].isdigit():
        return False
    symbols = np.frombuffer(body, dtype=np.uint8)
    starts = range(0, max(len(symbols) - 2, 0), STRIP)
    return not any(_zero_leads(symbols[k : k + STRIP + 2]) for k in starts)


def _zero_leads(symbols: NDArray[np.uint8]) -> bool:
    """Whether a 0 stands between what is no digit and a digit."""
    is_digit = symbols - np.uint8(ord("0")) < 10
    return bool(np.any((symbols[1:-1] == ord("0")) & (is_digit[2:] > is_digit[:-2])))


def _parse_fast(
    body: bytes, layout: Layout, columns: Sequence[str], types: Mapping[str, type[pl.DataType]]
) -> pl.DataFrame | None:
    """Parse a block; None if the fast reader refuses it, or would take an open quote for one long field."""
    if layout.quote is not None and body.count(b'"') % 2 == 1:
        return None
    wanted = {f"c{layout.names.index(c)}": c for c in columns}
    header = layout.separator.join(f"c{k}" for k in range(len(layout.names)))
    try:
        table = pl.read_csv(
            b"".join((header.encode(), b"\n", body)),
            columns=list(wanted),
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
            schema_overrides={place: types.get(c, pl.String) for place, c in wanted.items()},
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return table.select(pl.col(place).alias(c) for place, c in wanted.items())


def _parse_slowly(text: str, layout: Layout, columns: Sequence[str]) -> pl.DataFrame:
    """Parse what the fast reader refuses (a quote inside a field), or say which line is wrong."""
    reader = layout.reader(io.StringIO(text, newline=""))
    wanted = [layout.names.index(c) for c in columns]
    rows = []
    try:
        for fields in reader:
            if len(fields) > len(layout.names):
                fault = f"has {len(fields)} fields, not {len(layout.names)}"
                raise LineError(reader.line_num - 1, fault, "quote fields that contain the separator")
            rows.append([fields[w] or None if w < len(fields) else None for w in wanted])
    except csv.Error as error:
        raise LineError(reader.line_num - 1, f"cannot be parsed ({error})", "mend that line") from None
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _refuse_second_header(table: pl.DataFrame, roles: Roles) -> None:
    same = (table[roles.user] == roles.user) & (table[roles.item] == roles.item)
    if same.any():
        raise LineError(int(same.arg_max() or 0), "repeats the header", "drop that line")
