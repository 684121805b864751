r"""What a line of a text file is, for its layout and for its body: it ends with \n, \r\n or \r.

With quotes, a line break between quotes belongs to a field and does not end a line. `edges` are the bytes that can
stand before a quote which opens a field; b"" says that quotes mean nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LF, CR, QUOTE = b"\n"[0], b"\r"[0], b'"'[0]
BLANKS = b"\r\n\t "


def edges_of(separator: str | None) -> bytes:
    """Return the bytes before which a field begins or ends: line breaks and separators (None: all usual ones)."""
    return b"\r\n" + (b",;\t|" if separator is None else separator.encode())


def end_of_last_line(text: bytes, edges: bytes) -> int:
    r"""Return where the last whole line ends; a \r at the very end may be half of a line break, and ends none."""
    if edges and b'"' in text:
        ends = _line_ends(np.frombuffer(text, dtype=np.uint8), edges)
        if len(ends) and ends[-1] == len(text) - 1 and text.endswith(b"\r"):
            ends = ends[:-1]
        return int(ends[-1]) + 1 if len(ends) else 0
    return max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1


def first_line(text: bytes, edges: bytes) -> tuple[int, int]:
    """Return where the first line that is not blank begins, and where the next one begins."""
    blank = len(text) - len(text.lstrip(BLANKS))
    start = max(text.rfind(b"\n", 0, blank), text.rfind(b"\r", 0, blank)) + 1
    size = 1 << 12
    while True:  # the line is short, the text may be not
        piece = text[start : start + size]
        ends = _line_ends(np.frombuffer(piece, dtype=np.uint8), edges)
        if len(ends) and (ends[0] < len(piece) - 1 or start + size >= len(text)):
            return start, start + int(ends[0]) + 1
        if start + size >= len(text):
            return start, len(text)
        size *= 4


def with_line_feeds(text: bytes, edges: bytes) -> bytes:
    r"""Return the text with \n in the place of every \r that ends a line; \r\n, and what stands in quotes, stays.

    >>> with_line_feeds(b'a\rb\r\n"c\rd"\r', edges_of(","))
    b'a\nb\r\n"c\rd"\n'
    """
    if b"\r" not in text or text.count(b"\r") == text.count(b"\r\n"):
        return text
    symbols = np.frombuffer(text, dtype=np.uint8).copy()
    ends = _line_ends(symbols, edges)
    symbols[ends] = LF
    return symbols.tobytes()


def lines_in(text: bytes) -> int:
    """Return how many lines there are; the last may lack its line break, and those in quotes count."""
    breaks = text.count(b"\n") + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)
    return breaks + (len(text) > 0 and not text.endswith((b"\n", b"\r")))


def lines_of_rows(text: bytes, edges: bytes) -> NDArray[np.int64]:
    """Return the line in which each row begins, counted from 0; rows with line breaks in quotes take several lines."""
    symbols = np.frombuffer(text, dtype=np.uint8)
    ends = _line_ends(symbols, edges)
    starts = np.concatenate(([0], ends + 1))
    breaks = _line_ends(symbols, b"")
    return np.searchsorted(breaks, starts[starts < len(symbols)])


def _line_ends(symbols: NDArray[np.uint8], edges: bytes) -> NDArray[np.int64]:
    r"""Return the place of the last byte of every line break: \n, or a \r without \n behind it."""
    is_end = symbols == LF
    lone = symbols == CR
    lone[:-1] &= ~is_end[1:]
    is_end |= lone
    if edges and len(quotes := np.flatnonzero(symbols == QUOTE)):
        turns = np.zeros(len(symbols), dtype=bool)
        turns[_opening_or_closing(symbols, quotes, edges)] = True
        is_end &= ~np.logical_xor.accumulate(turns)
    return np.flatnonzero(is_end)


def _opening_or_closing(symbols: NDArray[np.uint8], quotes: NDArray[np.int64], edges: bytes) -> NDArray[np.int64]:
    """Return the quotes that open or close a field, and both of those doubled within one.

    As a rule all do: even ones, counted from 0, open a field or are the second of a double, odd ones close it or are
    the first. One in the middle of a field, as in 5" disk, does neither; then they are looked at one after the other.
    """
    borders = np.frombuffer(edges, dtype=np.uint8)
    opens, closes = np.ones(len(quotes), dtype=bool), np.ones(len(quotes), dtype=bool)
    opens[quotes > 0] = np.isin(symbols[quotes[quotes > 0] - 1], borders)
    closes[quotes < len(symbols) - 1] = np.isin(symbols[quotes[quotes < len(symbols) - 1] + 1], borders)
    doubled = np.append(np.diff(quotes) == 1, False)  # the next one follows at once
    if opens[0] and np.all(opens[2::2] | doubled[1:-1:2]) and np.all(closes[1::2] | doubled[1::2]):
        return quotes
    return quotes[_turns(opens.tolist(), doubled.tolist())]


def _turns(opens: list[bool], doubled: list[bool]) -> list[int]:
    """Return which quotes open or close a field, one after the other."""
    turns, inside, passes = [], False, False
    for k, may_open in enumerate(opens):
        if passes:
            passes = False
        elif inside and doubled[k]:
            passes = True
        elif inside or may_open:
            inside = not inside
            turns.append(k)
    return turns
