"""How the lines of a delimited text file are laid out, recognised from its first line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from taylorank.data.lines import edges_of, first_line
from taylorank.data.roles import POSITIONS, is_usual_name
from taylorank.errors import DataError

if TYPE_CHECKING:
    import _csv

TextFormat = Literal["csv", "tsv", "dat", "inter"]
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
JOINT = "\x1f"  # stands for "::" where one byte is needed; the character made for separating units


@dataclass(frozen=True)
class Layout:
    """Names of the columns, what separates them, and whether the first line is a header."""

    names: tuple[str, ...]
    separator: str  # one byte
    is_double_colon: bool
    has_header: bool
    quote: str | None

    @property
    def edges(self) -> bytes:
        """What can stand beside a quote that opens or closes a field."""
        return b"" if self.quote is None else edges_of(":" + JOINT if self.is_double_colon else self.separator)

    def parse_line(self, line: str) -> list[str]:
        """Return the fields of one line, which a field in quotes may break."""
        if self.is_double_colon:
            line = line.replace("::", JOINT)
        try:
            return next(self.reader(io.StringIO(line.rstrip("\r\n"), newline="")), [])
        except csv.Error as error:
            raise DataError(f"line 1 cannot be parsed ({error})", 'correct it, or pass quote=""') from None

    def reader(self, lines: Iterable[str]) -> _csv.Reader:
        """Return a slow and exact reader of such lines."""
        return csv.reader(
            lines,
            delimiter=self.separator,
            quotechar=self.quote,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            strict=True,
        )


def detect_layout(
    head: bytes,
    *,
    kind: TextFormat,
    separator: str | None,
    columns: Sequence[str] | None,
    quote: str,
    by_number: bool,
) -> Layout:
    """Find the separator and the column names from the first line.

    The first line is a header unless `columns` names the columns, all its fields are numbers, or the caller asks for
    columns `by_number` and none of its fields is a usual name.
    """
    marks = None if kind in ("dat", "inter") else quote or None
    mark = find_separator(head, kind=kind, separator=separator, quote=marks or "")
    start, end = first_line(head, edges_of(mark) if marks else b"")
    first = head[start:end].decode(errors="replace")
    if not first.strip():
        raise DataError("the file is empty", "check the export")
    double = mark == "::"
    if len(mark.encode()) != 1 and not double:
        raise DataError(f"separator {mark!r} is not a single character", 'use one character, or "::"')
    draft = Layout((), JOINT if double else mark, double, True, marks)
    fields = [field.strip() for field in draft.parse_line(first)]
    if len(fields) < 2:
        raise DataError(f"the first line has a single column ({first[:60]!r})", "give separator=… if it is another")
    names, has_header = _names(fields, kind, columns, by_number)
    return Layout(names, draft.separator, double, has_header, marks)


def find_separator(head: bytes, *, kind: TextFormat, separator: str | None, quote: str) -> str:
    """Return what separates the fields of the first line, unless it is given."""
    if separator is not None:
        return separator
    start, end = first_line(head, edges_of(None) if quote else b"")
    return _separator(head[start:end].decode(errors="replace"), kind)


def _names(
    fields: list[str], kind: TextFormat, columns: Sequence[str] | None, by_number: bool
) -> tuple[tuple[str, ...], bool]:
    if columns is not None:
        return _given_names(columns, fields), False
    if all(NUMBER.fullmatch(field) for field in fields) or (by_number and not any(map(is_usual_name, fields))):
        return tuple(POSITIONS[k] if k < len(POSITIONS) else f"column {k}" for k in range(len(fields))), False
    return tuple(field.split(":")[0] if kind == "inter" else field for field in fields), True


def _separator(first: str, kind: TextFormat) -> str:
    if kind in ("tsv", "inter"):
        return "\t"
    if kind == "dat" and "::" in first:
        return "::"
    found = max((",", "\t", ";", "|"), key=first.count)
    if found in first:
        return found
    return "::" if "::" in first else " "


def _given_names(columns: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
    if len(columns) > len(fields):
        raise DataError(f"{len(columns)} columns named, but the lines have {len(fields)}", "name fewer")
    return (*columns, *(f"column {k}" for k in range(len(columns), len(fields))))
