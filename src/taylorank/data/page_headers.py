"""The sizes that a Parquet file declares, looked at before they are believed.

The reader below us takes memory for as many values as the header of a page declares. Where there is not so much, the
process ends: an allocation that fails in Rust is no exception. So whatever is negative, larger than the bytes it stands
for, or larger than the memory at hand, is refused here. All else is left to that reader.

Headers are in Thrift's compact protocol: fields of (number, type, value), where numbers are zigzag varints.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from taylorank.errors import DataError
from taylorank.system import available_memory

FOOTER_END = 8  # bytes: the length of the footer, and PAR1
MOST_OF_A_HEADER = 1 << 16
MOST_DEPTH = 32
VALUE_BYTES = 4  # that a decoded value takes at least, where it is not a bit
SMALL = 1 << 16  # values for which there is always memory
UNKNOWN = 1 << 40  # bytes, where the system does not say how much memory is left


class Unreadable(Exception):
    """Bytes that are no header."""


def check_pages(source: str | Path | IO[bytes]) -> None:
    """Raise DataError if a page of a Parquet file declares sizes that cannot be true."""
    try:
        if isinstance(source, str | Path):
            with open(source, "rb") as file:
                _check_file(file)
        else:
            place = source.tell()
            try:
                _check_file(source)
            finally:
                source.seek(place)
    except (Unreadable, OSError):
        return  # the reader says it in its own words


def _check_file(file: IO[bytes]) -> None:
    size = file.seek(0, 2)
    file.seek(max(size - FOOTER_END, 0))
    length = int.from_bytes(file.read(FOOTER_END)[:4], "little")
    if length + FOOTER_END > size:
        return
    file.seek(size - FOOTER_END - length)
    footer = Compact(file.read(length)).struct()
    memory = available_memory() or UNKNOWN
    for group in _structs(footer, 4):
        _check_count(group.get(3, 0), "a group of rows", memory)
        for column in _structs(group, 1):
            _check_column(file, _struct(column, 3), size=size, memory=memory)


def _check_column(file: IO[bytes], column: dict[int, Any], *, size: int, memory: int) -> None:
    _check_count(column.get(5, 0), "a column", memory)
    begin = min(_number(column, 11) or _number(column, 9), _number(column, 9))
    end = min(begin + _number(column, 7), size)
    while 0 < begin < end:
        file.seek(begin)
        reader = Compact(file.read(min(MOST_OF_A_HEADER, size - begin)))
        header = reader.struct()
        _check_page(header, memory)
        begin += reader.place + _number(header, 3)


def _check_page(header: dict[int, Any], memory: int) -> None:
    plain, packed = _number(header, 2), _number(header, 3)
    if min(plain, packed) < 0 or plain > memory:
        raise _damaged(f"a page of {plain:,} bytes")
    for kind in (5, 7, 8):  # a page of data, a dictionary, a page of data in the second version
        page = _struct(header, kind)
        _check_count(page.get(1, 0), "a page", memory)
        if kind == 7 and _number(page, 1) > max(plain, 0):
            raise _damaged(f"a dictionary of {_number(page, 1):,} values in {plain:,} bytes")
        if kind == 8:
            levels = [_number(page, field) for field in (2, 3, 5, 6)]
            if min(levels) < 0 or levels[2] + levels[3] > plain:
                raise _damaged("a page whose levels take more than the page")


def _check_count(count: Any, what: str, memory: int) -> None:
    if not isinstance(count, int) or not 0 <= count <= max(memory // VALUE_BYTES, SMALL):
        raise _damaged(f"{what} of {count!s:.30} values")


def _damaged(what: str) -> DataError:
    return DataError(f"not a whole Parquet file (it declares {what})", "write or fetch it again")


def _number(fields: dict[int, Any], field: int) -> int:
    value = fields.get(field, 0)
    return value if isinstance(value, int) else 0


def _struct(fields: dict[int, Any], field: int) -> dict[int, Any]:
    value = fields.get(field)
    return value if isinstance(value, dict) else {}


def _structs(fields: dict[int, Any], field: int) -> list[dict[int, Any]]:
    value = fields.get(field)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


class Compact:
    """Reads Thrift's compact protocol; a struct becomes a dictionary by field number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read fields up to the stop."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > MOST_DEPTH:
            raise Unreadable
        if kind in (1, 2, 3):  # in a list a truth value takes a byte, as an integer of 8 bits does
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            return self._list(depth + 1)
        if kind == 11:
            return self._map(depth + 1)
        if kind == 12:
            return self.struct(depth + 1)
        raise Unreadable

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        self._check_room(count)
        return [self._value(head & 15, depth) for _ in range(count)]

    def _map(self, depth: int) -> list[Any]:
        count = self._varint()
        if count == 0:
            return []
        self._check_room(count)
        kinds = self._byte()
        return [(self._value(kinds >> 4, depth), self._value(kinds & 15, depth)) for _ in range(count)]

    def _check_room(self, count: int) -> None:
        if count > len(self.data) - self.place:
            raise _damaged(f"a list of {count:,} entries")

    def _byte(self) -> int:
        if self.place >= len(self.data):
            raise Unreadable
        self.place += 1
        return self.data[self.place - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self.data) - self.place:
            raise Unreadable
        self.place += count
        return self.data[self.place - count : self.place]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise Unreadable

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
