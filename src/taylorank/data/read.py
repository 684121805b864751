"""Reading interactions from files, tables, matrices and lists."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import numpy as np
from scipy import sparse

from taylorank.data.assemble import from_codes, from_columns, from_matrix, number_integers
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.errors import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from taylorank.data.bytesource import Progress
    from taylorank.data.roles import Roles, Wanted

Format = Literal["csv", "tsv", "dat", "inter", "adjacency", "parquet"]
FORMATS = ("csv", "tsv", "dat", "inter", "adjacency", "parquet")
Rows = Iterator[tuple["pl.DataFrame", int]]


@dataclass(frozen=True)
class Options:
    """What the caller of `read_interactions` asked for."""

    wanted: dict[str, Wanted]
    min_rating: float | None
    duplicates: Duplicates
    missing: Literal["error", "drop"]
    ids: Literal["auto", "text"]
    separator: str | None
    format: Format | None
    encoding: str | None
    columns: Sequence[str] | None
    progress: Progress | None


def read_interactions(
    source: Any,
    *,
    user: str | int | None = None,
    item: str | int | None = None,
    rating: str | int | None = None,
    strength: str | int | None = None,
    timestamp: str | int | None = None,
    min_rating: float | None = None,
    duplicates: Duplicates = "last",
    missing: Literal["error", "drop"] = "error",
    ids: Literal["auto", "text"] = "auto",
    separator: str | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Interactions:
    """Read a log of (user, item) rows, one per interaction, into `Interactions`.

    `source` is a path or an open binary file (csv, tsv, `::`-separated .dat, RecBole .inter, LightGCN adjacency
    text, each plain, .gz or .zst; Parquet), a table (polars, pandas, pyarrow, …), a SciPy sparse matrix
    (users × items), or a list of (user, item[, strength[, timestamp]]).

    Parameters
    ----------
    user, item, rating, strength, timestamp
        Columns, by name or number. Those not given are guessed from the usual names, and the guess is part of
        the result's record (`print(data)`). `rating` only filters; `strength` sets r_xy, which is 1 without it.
        `timestamp=""` leaves times out.
    min_rating
        Keep rows rated at least this.
    duplicates
        What a repeated (user, item) becomes: the "last" row (by time, then by place in the source), the "sum" of
        the strengths (without strengths: the number of rows), or the row of "max" strength. The latest time is kept.
    missing
        Rows without user or item are an "error", or "drop" them.
    ids
        "auto": text that spells integers in every row becomes integers ("007" does not); "text": keep text.
    separator, format, encoding, columns
        For files that do not show it themselves. `columns` names the columns of a file without header.
    progress
        Called with (bytes read, bytes in all) now and then.

    >>> read_interactions([("ann", "tea"), ("bob", "tea"), ("bob", "milk")]).nnz
    3
    """
    wanted: dict[str, Wanted] = {
        "user": user, "item": item, "rating": rating, "strength": strength, "timestamp": timestamp
    }  # fmt: skip
    options = Options(wanted, min_rating, duplicates, missing, ids, separator, format, encoding, columns, progress)
    _check_options(options)
    if sparse.issparse(source):
        return from_matrix(source)
    if isinstance(source, Interactions):
        return source
    try:
        if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
            return _read_file(source, options)
        return _read_in_memory(source, options)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"reading this needs {error.name}, which is not installed",
            "install taylorank with pip, or bring the data as .npz (Interactions.save_npz)",
        ) from error


def _check_options(options: Options) -> None:
    choices = {"duplicates": ("last", "sum", "max"), "missing": ("error", "drop"), "ids": ("auto", "text"),
               "format": (None, *FORMATS)}  # fmt: skip
    for name, allowed in choices.items():
        value = getattr(options, name)
        if value not in allowed:
            raise ParameterError(f"{name}={value!r} is unknown", f"choose from {[a for a in allowed if a]}")
    if options.min_rating is not None and not np.isfinite(options.min_rating):
        raise ParameterError(f"min_rating={options.min_rating} is not a number", "give a finite number")


def _read_file(source: Any, options: Options) -> Interactions:
    name = Path(source).name if isinstance(source, str | os.PathLike) else getattr(source, "name", "the file")
    name = Path(str(name)).name
    try:
        return _read_opened(source, name, options)
    except DataError as error:
        where = str(source) if isinstance(source, str | os.PathLike) else name
        raise DataError(f"{where}: {error.cause}", error.remedy) from None
    except MemoryError:
        raise DataError(f"{source}: not enough memory", "read fewer columns or a part of the file") from None


def _read_opened(source: Any, name: str, options: Options) -> Interactions:
    from taylorank.data.bytesource import PARQUET, open_binary, read_chunk, text_blocks

    with open_binary(source) as file:
        head = read_chunk(file, 1 << 16)
        file.seek(0)
        if not head.strip():
            raise DataError("the file is empty", "check the export")
        kind = options.format or _format_of(name, head)
        if kind == "parquet":
            if not head.startswith(PARQUET):
                raise DataError("not a Parquet file", "check the file, or pass its format")
            return _read_parquet(source if isinstance(source, str | os.PathLike) else file, name, options)
        fallback = "latin-1" if kind == "dat" else None
        blocks = text_blocks(file, quotes=kind in ("csv", "tsv"), encoding=options.encoding, fallback=fallback)
        blocks = _watched(blocks, file, source, options)
        if kind == "adjacency":
            return _read_adjacency(blocks, name)
        return _read_text(blocks, kind, name, options)


def _format_of(name: str, head: bytes) -> Format:
    from taylorank.data.adjacency import looks_like_adjacency
    from taylorank.data.bytesource import PARQUET

    if head.startswith(PARQUET):
        return "parquet"
    ending = Path(name.removesuffix(".gz").removesuffix(".zst").removesuffix(".zstd")).suffix[1:].lower()
    if ending in ("parquet", "pq"):
        return "parquet"
    if ending in ("tsv", "dat", "inter"):
        return cast(Format, ending)
    if ending != "csv" and looks_like_adjacency(head):
        return "adjacency"
    return "csv"


def _watched(blocks: Iterator[bytes], file: IO[bytes], source: Any, options: Options) -> Iterator[bytes]:
    """Pass blocks on; tell `progress` how far the file on disk has been read."""
    if options.progress is None or not isinstance(source, str | os.PathLike):
        yield from blocks
        return
    total = os.path.getsize(source)
    raw = getattr(file, "fileobj", None) or getattr(file, "_fp", None) or file
    for block in blocks:
        options.progress(min(raw.tell(), total), total)
        yield block


def _read_text(blocks: Iterator[bytes], kind: Format, name: str, options: Options) -> Interactions:
    from taylorank.data.roles import assign_roles
    from taylorank.data.text import TextFormat, detect_layout, text_rows

    first = next(blocks, b"")
    layout = detect_layout(
        first[: 1 << 20], kind=cast(TextFormat, kind), separator=options.separator, columns=options.columns
    )
    wanted, needs_rating = _wanted(options)
    roles = assign_roles(layout.names, wanted, needs_rating=needs_rating)
    rows = text_rows(itertools.chain([first], blocks), layout, roles)
    return _collect(rows, roles, f"read {name}", options, from_text_file=True)


def _read_parquet(source: Any, name: str, options: Options) -> Interactions:
    from taylorank.data.roles import assign_roles
    from taylorank.data.tables import parquet_columns, parquet_rows

    wanted, needs_rating = _wanted(options)
    roles = assign_roles(parquet_columns(source), wanted, needs_rating=needs_rating)
    return _collect(parquet_rows(source, roles.columns), roles, f"read {name}", options, from_text_file=False)


def _wanted(options: Options) -> tuple[dict[str, Wanted], bool]:
    wanted = dict(options.wanted)
    if options.min_rating is None:
        wanted["rating"] = None
    return wanted, options.min_rating is not None


def _read_adjacency(blocks: Iterator[bytes], name: str) -> Interactions:
    from taylorank.data.adjacency import adjacency_pairs

    users, items, listed = adjacency_pairs(blocks)
    user_ids, _ = number_integers(listed)
    if not len(users):
        raise DataError("no user has an item", "check the format")
    codes = user_ids.positions(users).astype(np.int32)
    return from_codes((user_ids, codes), number_integers(items), None, None, duplicates="last", action=f"read {name}")


def _read_in_memory(source: Any, options: Options) -> Interactions:
    import narwhals as nw

    if isinstance(source, dict):
        import polars as pl

        source = pl.DataFrame({str(k): list(v) for k, v in source.items()}, strict=False)
    try:
        frame = nw.from_native(source)
    except TypeError:
        return _read_pairs(source, options)
    return _read_frame(frame, options)


def _read_frame(frame: Any, options: Options) -> Interactions:
    import narwhals as nw

    from taylorank.data.roles import assign_roles
    from taylorank.data.tables import frame_rows

    wanted, needs_rating = _wanted(options)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend="polars")
    roles = assign_roles([str(c) for c in frame.columns], wanted, needs_rating=needs_rating)
    return _collect(frame_rows(frame, roles.columns), roles, "read a table", options, from_text_file=False)


def _read_pairs(source: Any, options: Options) -> Interactions:
    if options.min_rating is not None:
        raise ParameterError("min_rating needs a rating column", "give a table or a file")
    if isinstance(source, np.ndarray):
        source = source.tolist() if source.ndim == 2 else [source]
    try:
        rows = [tuple(row) for row in source]
    except TypeError:
        raise DataError(
            f"cannot read a {type(source).__name__}",
            "give a path, a table, a sparse matrix or a list of pairs",
        ) from None
    widths = {len(row) for row in rows}
    if not rows:
        raise DataError("the list is empty", "give at least one pair")
    if len(widths) > 1 or not 2 <= (width := widths.pop()) <= 4:
        raise DataError("rows are not all (user, item[, strength[, timestamp]])", "give two to four values in each")
    values = [list(column) for column in zip(*rows, strict=True)]
    strengths, times = (values[k] if width > k else None for k in (2, 3))
    return from_columns(values[0], values[1], strengths, times, duplicates=options.duplicates, action="read a list")


def _collect(rows: Rows, roles: Roles, action: str, options: Options, *, from_text_file: bool) -> Interactions:
    """Gather blocks of rows into columns, then number, sort and merge them."""
    from taylorank.data.gather import Gatherer

    gatherer = Gatherer(roles, options.min_rating, drop_missing=options.missing == "drop", text=options.ids == "text")
    for table, first_row in rows:
        gatherer.add(table, first_row, from_text_file=from_text_file)
    return gatherer.interactions(action, options.duplicates)
