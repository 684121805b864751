"""Rows of one table in a MySQL dump, read as a stream.

A dump defines the table (CREATE TABLE, one column a line) and fills it (INSERT INTO … VALUES (…),(…);). Text stands
between single quotes with the backslash as escape character; a row ends at the first ) outside quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO

from taylorank.errors import DataError

BLOCK = 1 << 20
_OVERLAP = 1 << 16
_LONGEST_ROW = 1 << 26
_VALUE = rb"(?:(?:_binary )?'(?:[^'\\]|\\.|'')*+'|[^',()]++)"
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)

Row = tuple[bytes, ...]


def table_rows(stream: IO[bytes], table: str, *, columns: Sequence[str], block: int = BLOCK) -> Iterator[list[Row]]:
    """Yield lists of rows; a row holds the given columns as they are written (`int` or `text` decodes them)."""
    name = re.escape(table.encode())
    window = _Window(stream, table, block)
    definition = window.find(re.compile(rb"CREATE TABLE `" + name + rb"` \((.*?)\n\)", re.DOTALL))
    if definition is None:
        raise DataError(f"the dump does not define table {table}", "check that the file is a MySQL dump of it")
    row, wanted = _row_pattern(definition[1], columns, table)
    insert = re.compile(rb"INSERT INTO `" + name + rb"`(?: \([^)]*\))? VALUES")
    while window.find(insert):
        yield from window.rows(row, wanted)


def text(value: bytes) -> bytes:
    r"""Decode quoted text to the bytes it stands for.

    >>> text(rb"'Neill, O\'Brien (1)'")
    b"Neill, O'Brien (1)"
    """
    inner = value[value.index(b"'") + 1 : -1]
    if b"\\" not in inner and b"''" not in inner:
        return inner
    return _ESCAPE.sub(lambda m: b"'" if m[1] is None else _ESCAPES.get(m[1], m[1]), inner)


def _row_pattern(definition: bytes, wanted: Sequence[str], table: str) -> tuple[re.Pattern[bytes], list[int]]:
    """Return the pattern of one row, and the groups that hold the wanted columns and the sign after the row."""
    defined = [column.decode() for column in re.findall(rb"^\s+`(\w+)` ", definition, re.MULTILINE)]
    missing = [column for column in wanted if column not in defined]
    if missing:
        raise DataError(
            f"table {table} has no column {', '.join(missing)} (it has {', '.join(defined)})",
            "use a dump of the version that the data set names",
        )
    captured = [column for column in defined if column in wanted]
    values = [rb"(" + _VALUE + rb")" if column in wanted else _VALUE for column in defined]
    pattern = re.compile(rb"\s*\(" + rb",".join(values) + rb"\)\s*([,;])", re.DOTALL)
    return pattern, [*(captured.index(column) + 1 for column in wanted), len(captured) + 1]


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

    def rows(self, pattern: re.Pattern[bytes], wanted: list[int]) -> Iterator[list[Row]]:
        """Yield the rows of one INSERT, as many at a time as are in memory."""
        ended = False
        while not ended:
            rows: list[Row] = []
            while not ended and (match := pattern.match(self.buffer, self.position)):
                *values, sign = match.group(*wanted)
                rows.append(tuple(values))
                self.position, ended = match.end(), sign == b";"
            if rows:
                yield rows
            if not ended and (len(self.buffer) - self.position > _LONGEST_ROW or not self.more()):
                raise DataError(f"the dump of {self.table} breaks off inside a row", "delete the file and get it again")
