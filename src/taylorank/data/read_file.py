"""Reading files of every format."""

from __future__ import annotations

import codecs
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from taylorank.data.adjacency import adjacency_pairs, blank_separated_integers
from taylorank.data.assemble import encode_integers, from_codes
from taylorank.data.bytesource import LONGEST_LINE, PARQUET, open_binary, read_chunk, text_blocks
from taylorank.data.gather import collect
from taylorank.data.interactions import Interactions
from taylorank.data.layout import TextFormat, detect_layout, find_separator
from taylorank.data.lines import edges_of
from taylorank.data.read_options import Format, Options
from taylorank.data.roles import assign_roles
from taylorank.data.tables import parquet_columns, parquet_rows
from taylorank.data.text import text_rows
from taylorank.errors import DataError, TaylorankError
from taylorank.output import path_of
from taylorank.progress import report

LONGEST_ADJACENCY = 1 << 28  # a line holds all items of a user


def read_file(source: Any, options: Options) -> Interactions:
    """Read a path or an open binary file; errors name it."""
    is_path = isinstance(source, str | os.PathLike)
    where = os.fspath(source) if is_path else str(getattr(source, "name", "the file"))
    try:
        return _read_opened(path_of(source) if is_path else source, Path(where).name, options)
    except TaylorankError as error:
        raise type(error)(f"{where}: {error.cause}", error.remedy) from None
    except MemoryError:
        raise DataError(f"{where}: not enough memory", "read fewer columns or a part of the file") from None


def _read_opened(source: Any, name: str, options: Options) -> Interactions:
    with open_binary(source) as file:
        head = read_chunk(file, 1 << 16)
        while head and not head.strip():
            head = read_chunk(file, 1 << 16)
        file.seek(0)
        if not head:
            raise DataError("the file is empty", "check the export")
        kind = options.format or _format_of(name, head)
        if kind == "parquet":
            if not head.startswith(PARQUET):
                raise DataError("not a Parquet file", "check the file, or pass its format")
            return _read_parquet(source if isinstance(source, Path) else file, name, options)
        blocks = text_blocks(
            file,
            edges=_edges(head, kind, options),
            encoding=options.encoding,
            fallback="latin-1" if kind == "dat" else None,
            longest=LONGEST_ADJACENCY if kind == "adjacency" else LONGEST_LINE,
        )
        blocks = _with_progress(blocks, file, source)
        if kind == "adjacency":
            options.allow_only("format", "encoding", what="adjacency text")
            return _read_adjacency(blocks, name)
        return _read_text(blocks, kind, name, options)


def _edges(head: bytes, kind: Format, options: Options) -> bytes:
    """Return what can stand beside quotes; b"" where they mean nothing."""
    if kind not in ("csv", "tsv") or not options.quote:
        return b""
    if options.separator is None and options.encoding is not None:  # in which these bytes are
        return edges_of(None)
    head = head.removeprefix(codecs.BOM_UTF8)
    separator = find_separator(head, kind=cast(TextFormat, kind), separator=options.separator, quote=options.quote)
    return edges_of(separator)


def _format_of(name: str, head: bytes) -> Format:
    if head.startswith(PARQUET):
        return "parquet"
    ending = Path(name.removesuffix(".gz").removesuffix(".zst").removesuffix(".zstd")).suffix[1:].lower()
    if ending in ("parquet", "pq"):
        return "parquet"
    if ending in ("csv", "tsv", "dat", "inter"):
        return cast(Format, ending)
    counts = blank_separated_integers(head)
    if len(counts) > 1:
        return "adjacency"
    if counts and min(counts) > 2:
        raise DataError(
            f"lines of {min(counts)} integers could be columns, or a user and its items",
            'say which: format="csv" or format="adjacency"',
        )
    return "csv"


def _with_progress(blocks: Iterator[bytes], file: IO[bytes], source: Any) -> Iterator[bytes]:
    """Yield the blocks, and tell how much of the file on disk has been read."""
    if not isinstance(source, Path):
        yield from blocks
        return
    total = source.stat().st_size
    raw = getattr(file, "fileobj", None) or getattr(file, "_fp", None) or file
    for block in blocks:
        report("read", done=min(raw.tell(), total), total=total, unit="bytes")
        yield block


def _read_text(blocks: Iterator[bytes], kind: Format, name: str, options: Options) -> Interactions:
    first = next(blocks, b"")
    while not first.strip() and (more := next(blocks, b"")):  # blank lines are lines, for messages
        first += more
    layout = detect_layout(
        first,
        kind=cast(TextFormat, kind),
        separator=options.separator,
        columns=options.columns,
        quote=options.quote,
        by_number=isinstance(options.user, int) and isinstance(options.item, int),
    )
    roles = assign_roles(layout.names, options.wanted, needs_rating=options.needs_rating)
    rows = text_rows(itertools.chain([first], blocks), layout, roles)
    action = f"read {name}" if layout.has_header else f"read {name} (no header)"
    return collect(rows, roles, action, options, from_text_file=True)


def _read_parquet(source: Any, name: str, options: Options) -> Interactions:
    roles = assign_roles(parquet_columns(source), options.wanted, needs_rating=options.needs_rating)
    return collect(parquet_rows(source, roles.columns), roles, f"read {name}", options, from_text_file=False)


def _read_adjacency(blocks: Iterator[bytes], name: str) -> Interactions:
    users, items, listed = adjacency_pairs(blocks)
    user_ids, _ = encode_integers(listed)
    if not len(users):
        raise DataError("no user has an item", "check the format")
    codes = user_ids.positions(users).astype(np.int32)
    action = f"read {name} as adjacency text"
    return from_codes((user_ids, codes), encode_integers(items), None, None, duplicates="last", action=action)
