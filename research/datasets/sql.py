"""Columns of one table in a MySQL dump, read as a stream.

A dump defines the table (CREATE TABLE, one column a line) and fills it (INSERT INTO … VALUES (…),(…);). Text stands
between single quotes with the backslash as escape character; a row ends at the first ) outside quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError

BLOCK = 1 << 20
_OVERLAP = 1 << 16
_LONGEST_ROW = 1 << 26
_SEMICOLON = ord(";")
# no possessive repeats: Python before 3.11.5 gets them wrong where they stand in a group
_VALUE = rb"(?:(?:_binary )?'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|[^',()]+)"
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)

Column = tuple[bytes, ...]


def table_columns(
    stream: IO[bytes], table: str, *, columns: Sequence[str], block: int = BLOCK
) -> Iterator[list[Column]]:
    """Yield the given columns of the next rows, as they are written; `integers` and `text` decode them."""
    name = re.escape(table.encode())
    window = _Window(stream, table, block)
    definition = window.find(re.compile(rb"CREATE TABLE `" + name + rb"` \((.*?)\n\)", re.DOTALL))
    if definition is None:
        raise DataError(f"the dump does not define table {table}", "check that the file is a MySQL dump of it")
    defined = [column.decode() for column in re.findall(rb"^\s+`(\w+)` ", definition[1], re.MULTILINE)]
    places = _places(columns, defined, table)
    insert = re.compile(rb"INSERT INTO `" + name + rb"`(?: \([^)]*\))? VALUES")
    while window.find(insert):
        for rows in window.rows(len(defined)):
            values = list(zip(*rows, strict=True))
            yield [values[place] for place in places]


def integers(column: Column) -> NDArray[np.int64]:
    """Decode a column of numbers."""
    try:
        return np.array(column, dtype=bytes).astype(np.int64)
    except (ValueError, OverflowError):
        raise DataError("a column of numbers holds something else", "check the version of the dump") from None


def text(value: bytes) -> bytes:
    r"""Decode quoted text to the bytes it stands for.

    >>> text(rb"'Neill, O\'Brien (1)'")
    b"Neill, O'Brien (1)"
    """
    inner = value[value.index(b"'") + 1 : -1]
    if b"\\" not in inner and b"''" not in inner:
        return inner
    return _ESCAPE.sub(lambda m: b"'" if m[1] is None else _ESCAPES.get(m[1], m[1]), inner)


def _places(wanted: Sequence[str], defined: list[str], table: str) -> list[int]:
    missing = [column for column in wanted if column not in defined]
    if missing:
        raise DataError(
            f"table {table} has no column {', '.join(missing)} (it has {', '.join(defined)})",
            "use a dump of the version that the data set names",
        )
    return [defined.index(column) for column in wanted]


class _Window:
    """The part of a stream that is in memory: `buffer` from `position` on is not yet used."""

    def __init__(self, stream: IO[bytes], table: str, block: int) -> None:
        self.stream, self.table, self.block = stream, table, block
        self.buffer, self.position = b"", 0

    def more(self) -> bool:
        data = self.stream.read(self.block)
        self.buffer, self.position = self.buffer[self.position :] + data, 0
        return bool(data)

    def find(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Go forward to just after the next match; None if the stream ends before."""
        while not (match := pattern.search(self.buffer, self.position)):
            self.position = max(self.position, len(self.buffer) - _OVERLAP)
            if not self.more():
                return None
        self.position = match.end()
        return match

    def rows(self, width: int) -> Iterator[list[Column]]:
        """Yield the rows of one INSERT, as many at a time as are in memory."""
        row = rb"\s*\(" + rb",".join([_VALUE] * width) + rb"\)\s*"
        several = re.compile(rb"(?:" + row + rb",)*(?:" + row + rb";)?", re.DOTALL)
        values = rb",".join([rb"(" + _VALUE + rb")"] * width)
        one = re.compile(rb"\s*\(" + values + rb"\)\s*()[,;]", re.DOTALL)  # two groups or more make tuples
        while True:
            match = several.match(self.buffer, self.position)
            start, self.position = self.position, match.end() if match else self.position
            if self.position > start:
                # the stretch is rows and nothing else, so that searching it finds each of them
                yield one.findall(self.buffer, start, self.position)
                if self.buffer[self.position - 1] == _SEMICOLON:
                    return
            if len(self.buffer) - self.position > _LONGEST_ROW or not self.more():
                raise DataError(f"the dump of {self.table} breaks off inside a row", "delete the file and get it again")
