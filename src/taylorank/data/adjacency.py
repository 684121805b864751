"""LightGCN's adjacency text: each line is a user followed by the items of its interactions, all integers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taylorank.data.lines import with_line_feeds
from taylorank.errors import DataError

DIGITS = frozenset(b"0123456789")
BLANKS = frozenset(b" \t\r\n")


def blank_separated_integers(head: bytes) -> set[int]:
    """Return how many integers the first lines hold, if they hold nothing else between blanks; else nothing."""
    if set(head) - DIGITS - BLANKS or b"\t" in head:
        return set()
    whole = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head  # the last line may be cut
    return {len(line.split()) for line in whole.splitlines() if line.strip()}


def adjacency_pairs(
    blocks: Iterator[bytes],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (user of each pair, item of each pair, all users), users without items included in the last."""
    pairs = []
    line = 1
    for block in blocks:
        block = with_line_feeds(block, b"")
        pairs.append(_pairs_of_block(block, line))
        line += block.count(b"\n")
    users, items, listed = (np.concatenate(parts) for parts in zip(*pairs, strict=True)) if pairs else _NOTHING
    return users, items, listed


_NOTHING = tuple(np.empty(0, dtype=np.int64) for _ in range(3))


def _pairs_of_block(block: bytes, first_line: int) -> tuple[NDArray[np.int64], ...]:
    symbols = np.frombuffer(block, dtype=np.uint8)
    is_digit = (symbols >= ord("0")) & (symbols <= ord("9"))
    is_blank = np.isin(symbols, list(BLANKS))
    if not np.all(is_digit | is_blank):
        where = int(np.argmax(~(is_digit | is_blank)))
        line = first_line + block[:where].count(b"\n")
        raise DataError(f"line {line:,} holds {chr(symbols[where])!r}, not only integers", "check the format")
    starts = np.flatnonzero(is_digit & np.concatenate(([True], ~is_digit[:-1])))  # of each number
    ends = np.flatnonzero(is_digit & np.concatenate((~is_digit[1:], [True])))
    if not len(starts):
        return _NOTHING
    if (ends - starts).max() >= 18:
        line = first_line + block[: starts[np.argmax(ends - starts)]].count(b"\n")
        raise DataError(f"a number in line {line:,} does not fit 64 bits", "check the file")
    numbers = np.fromstring(block, dtype=np.int64, sep=" ")
    breaks = np.flatnonzero(symbols == ord("\n"))
    line_of = np.searchsorted(breaks, starts)
    opens_line = np.concatenate(([True], line_of[1:] != line_of[:-1]))
    users = numbers[opens_line]
    owner = users[np.cumsum(opens_line) - 1]
    return owner[~opens_line], numbers[~opens_line], users
