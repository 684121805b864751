"""Delimited text (csv, tsv, `::`-separated .dat, RecBole .inter) as blocks of columns."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.columns import integers_or_text
from taylorank.data.layout import JOINT, Layout
from taylorank.data.lines import first_line, lines_in, lines_of_rows, with_line_feeds
from taylorank.data.roles import Roles
from taylorank.data.threads import map_in_threads
from taylorank.errors import DataError

STRIP = 1 << 18  # bytes looked at together; they and what is computed from them fit the cache
Lines = NDArray[np.int64]


def text_rows(blocks: Iterator[bytes], layout: Layout, roles: Roles) -> Iterator[tuple[pl.DataFrame, Lines]]:
    """Yield tables of the columns of `roles`, each with the line numbers of its rows.

    Fields are text, or numbers already where that loses nothing. Missing and empty fields are null; blank lines
    are dropped. Blocks are parsed in threads.
    """
    first = next(blocks, b"")
    start, end = first_line(first, layout.edges)
    body = first[end:] if layout.has_header else first[start:]
    line = 1 + lines_in(first[: len(first) - len(body)])
    parser = BlockParser(layout, roles)
    try:
        for table, lines, count in map_in_threads(parser.parse, itertools.chain([body], blocks)):
            yield _without_blank_lines(table, line + lines, roles)
            line += count
    except LineError as error:
        raise DataError(f"line {line + error.line:,} {error.fault}", error.remedy) from None


def _without_blank_lines(table: pl.DataFrame, lines: Lines, roles: Roles) -> tuple[pl.DataFrame, Lines]:
    if all(column.null_count() for column in table):
        blank = table.select(pl.all_horizontal(pl.all().is_null())).to_series()
        table, lines = table.filter(~blank), lines[~blank.to_numpy()]
    return table.select(roles.columns), lines


class LineError(Exception):
    """What is wrong with a line, counted from 0 within its block."""

    def __init__(self, line: int, fault: str, remedy: str) -> None:
        super().__init__(fault)
        self.line, self.fault, self.remedy = line, fault, remedy


class BlockParser:
    """Parses blocks of one file, straight into numbers where the fast reader can and nothing is lost.

    Every column is read, also those that are not needed: the fast reader checks the number of fields of a line, and
    where quotes stand, only in columns that it reads.
    """

    def __init__(self, layout: Layout, roles: Roles) -> None:
        self.layout = layout
        self.roles = roles
        numbers = dict.fromkeys(filter(None, (roles.rating, roles.strength)), pl.Float64)
        ids = dict.fromkeys((roles.user, roles.item), pl.Int64)
        others: dict[str, type[pl.DataType]] = {name: pl.Int64 for name in layout.names if name not in roles.columns}
        if roles.unused_rating is not None:
            others[roles.unused_rating] = pl.Float64
        self.attempts: list[Mapping[str, type[pl.DataType]]] = [
            {**others, **numbers, **ids},
            {**numbers, **ids},
            {**numbers},
            {},
        ]
        self.first_attempt = 0  # what failed in one block is not tried in the next
        self.first_exact_attempt = 2  # those before it read ids as integers

    def parse(self, block: bytes) -> tuple[pl.DataFrame, Lines, int]:
        """Return all columns of a block of whole lines, the line of each row, from 0, and the number of lines."""
        body = block.replace(b"::", JOINT.encode()) if self.layout.is_double_colon else block
        table = self._parse_fast(body)
        if table is None:
            table, lines = self._parse_slowly(body.decode())
        elif b'"' in body and lines_in(body) != len(table):
            lines = lines_of_rows(body, self.layout.edges)[: len(table)]
        else:
            lines = np.arange(len(table))
        return self._with_ids(table, body), lines, lines_in(body)

    def _with_ids(self, table: pl.DataFrame, body: bytes) -> pl.DataFrame:
        """Return the table with ids as integers where all of a column are."""
        user, item = self.roles.user, self.roles.item
        if table[user].dtype != pl.String:
            return table
        if self.layout.has_header:
            same = (table[user] == user) & (table[item] == item)
            if same.any():
                raise LineError(int(same.arg_max() or 0), "repeats the header", "drop that line")
        if b'""' in body:  # the fast reader takes "" for a text of no characters
            table = table.with_columns(pl.col(user, item).replace("", None))
        return table.with_columns(integers_or_text(table[name]) for name in (user, item))

    def _parse_fast(self, body: bytes) -> pl.DataFrame | None:
        """Parse with the first set of types that fits; None if the fast reader refuses the block."""
        if self.layout.quote is not None and not quotes_are_regular(body, self.layout.separator):
            return None  # it would parse them wrongly, without an error
        body = with_line_feeds(body, self.layout.edges)
        plain = spells_integers_plainly(body, self.layout.separator)
        start = self.first_attempt if plain else max(self.first_attempt, self.first_exact_attempt)
        for number in range(start, len(self.attempts)):
            table = self._read(body, self.attempts[number])
            if table is not None:
                return table
            if plain:
                self.first_attempt = max(self.first_attempt, min(number + 1, len(self.attempts) - 1))
        return None

    def _read(self, body: bytes, types: Mapping[str, type[pl.DataType]]) -> pl.DataFrame | None:
        names = self.layout.names
        header = self.layout.separator.join(f"c{k}" for k in range(len(names)))
        try:
            table = pl.read_csv(
                b"".join((header.encode(), b"\n", body)),
                separator=self.layout.separator,
                quote_char=self.layout.quote,
                infer_schema=False,
                schema_overrides={f"c{k}": types.get(name, pl.String) for k, name in enumerate(names)},
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        table.columns = list(names)
        return table

    def _parse_slowly(self, text: str) -> tuple[pl.DataFrame, Lines]:
        """Parse what the fast reader refuses (a quote inside a field), or say which line is wrong."""
        names = self.layout.names
        reader = self.layout.reader(io.StringIO(text, newline=""))
        rows, lines = [], []
        begins = 0  # the line in which the row at hand begins
        try:
            for fields in reader:
                if len(fields) > len(names):
                    fault = f"has {len(fields)} fields, not {len(names)}"
                    raise LineError(begins, fault, "quote fields that contain the separator")
                rows.append([field or None for field in fields] + [None] * (len(names) - len(fields)))
                lines.append(begins)
                begins = reader.line_num
        except csv.Error as error:
            remedy = 'correct that line, or pass quote="" if quotes mean nothing in this file'
            raise LineError(begins, f"cannot be parsed ({error})", remedy) from None
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"), np.array(lines, dtype=np.int64)


def quotes_are_regular(body: bytes, separator: str) -> bool:
    """Whether quotes stand only around whole fields, or doubled within them (RFC 4180).

    Counted from 0, even quotes then open a field, or are the second of a double; odd ones close it, or are the first.
    """
    if b'"' not in body:
        return True
    symbols = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)  # the ends of a block are ends of fields
    quotes = np.flatnonzero(symbols == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    edges = np.frombuffer(b"\r\n" + separator.encode(), dtype=np.uint8)
    doubled = closing[:-1] + 1 == opening[1:]
    opens = np.isin(symbols[opening - 1], edges)
    closes = np.isin(symbols[closing + 1], edges)
    return bool(np.all(opens[1:] | doubled) and np.all(closes[:-1] | doubled) and opens[0] and closes[-1])


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
    return not any(_has_leading_zero(symbols[k : k + STRIP + 2]) for k in starts)


def _has_leading_zero(symbols: NDArray[np.uint8]) -> bool:
    """Whether a number has a leading zero: a 0 between a character that is not a digit and a digit."""
    is_digit = symbols - np.uint8(ord("0")) < 10
    return bool(np.any((symbols[1:-1] == ord("0")) & (is_digit[2:] > is_digit[:-2])))
