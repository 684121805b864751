"""Reading interactions from files, tables, matrices and lists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from scipy import sparse

from taylorank.data.assemble import from_matrix
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.data.polars_use import check_polars
from taylorank.data.read_options import Format, Options
from taylorank.errors import MissingExtraError
from taylorank.progress import Show, narrated


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
    quote: str = '"',
    columns: Sequence[str] | None = None,
    progress: Show = None,
) -> Interactions:
    """Read a log of (user, item) rows, one per interaction, into `Interactions`.

    `source` is a path or an open binary file (csv, tsv, `::`-separated .dat, RecBole .inter, LightGCN adjacency
    text, each plain, .gz or .zst; Parquet), a table (polars, pandas, pyarrow, …), a SciPy sparse matrix
    (users × items), or a list of (user, item[, strength[, timestamp]]).

    Parameters
    ----------
    user, item, rating, strength, timestamp
        Columns, by name or number. Those not given are guessed from the usual names; what was guessed and which columns
        are ignored is part of the result's record (`print(data)`). `rating` only filters, by `min_rating`; ratings
        that are not used are counted in the record. `strength` sets r_xy, which is 1 without it. Times may be numbers,
        dates, or the place in the user's history; `timestamp=""` leaves times out.
    min_rating
        Keep rows rated at least this.
    duplicates
        What a repeated (user, item) becomes: the "last" row (by time, then by place in the source), the "sum" of
        the strengths (without strengths: the number of rows), or the row of "max" strength. The latest time is kept.
    missing
        Rows without user, item, or a value in a column that is used (rating, strength, timestamp) are an "error" that
        names the first, or "drop" them.
    ids
        "auto": text that spells integers in every row becomes integers ("007" does not); "text": keep text.
    separator, format, encoding, quote, columns
        How a file is written, where that is not recognised. `columns` names the columns of a file without header;
        `quote=""` says that quotes are ordinary characters.
    progress
        Of the bytes of a file: by default a line on a terminal once it takes long; True, False, or a function of a
        `Report`.

    >>> read_interactions([("ann", "tea"), ("bob", "tea"), ("bob", "milk")]).nnz
    3
    """
    options = Options(
        user, item, rating, strength, timestamp, min_rating, duplicates, missing, ids, separator, format, encoding,
        quote, columns,
    )  # fmt: skip
    if isinstance(source, Interactions):
        options.allow_only(what="interactions that were read before")
        return source
    if sparse.issparse(source):
        options.allow_only(what="a matrix")
        return from_matrix(source)
    try:
        if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
            check_polars()
            from taylorank.data.read_file import read_file

            with narrated(f"reading {getattr(source, 'name', source)}", progress):
                return read_file(source, options)
        from taylorank.data.read_memory import read_memory

        return read_memory(source, options)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"reading this needs {error.name}, which is not installed",
            "install taylorank with pip, or bring the data as .npz (Interactions.save_npz)",
        ) from error
