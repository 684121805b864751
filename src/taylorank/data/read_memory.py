"""Reading tables, dictionaries and lists that are in memory already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taylorank.data.assemble import from_columns
from taylorank.data.ids import is_missing
from taylorank.data.interactions import Interactions
from taylorank.data.polars_use import check_polars
from taylorank.data.read_options import Options
from taylorank.errors import DataError


def read_memory(source: Any, options: Options) -> Interactions:
    """Read a table, a dictionary of columns, a list of dictionaries, or a list of pairs."""
    if isinstance(source, list | tuple | np.ndarray):
        rows = _as_rows(source)
        if not isinstance(rows[0], Mapping):
            return _read_pairs(rows, options)
        from taylorank.data.tables import records_table

        check_polars()
        return _read_table(records_table(rows), options)
    if isinstance(source, Mapping):
        from taylorank.data.tables import columns_table

        check_polars()
        return _read_table(columns_table(source), options)
    return _read_table(source, options)


def _as_rows(source: Any) -> Sequence[Any]:
    rows = source.tolist() if isinstance(source, np.ndarray) and source.ndim != 1 else list(source)
    if not isinstance(rows, list):
        raise DataError("a single value is no list of pairs", "give at least one pair")
    if not rows:
        raise DataError("the list is empty", "give at least one pair")
    kinds = {isinstance(row, Mapping) for row in rows}
    if len(kinds) > 1 or any(isinstance(row, str | bytes) or not hasattr(row, "__len__") for row in rows):
        raise DataError("rows are not all (user, item[, strength[, timestamp]])", "give two to four values in each")
    return rows


def _read_table(table: Any, options: Options) -> Interactions:
    import narwhals as nw

    check_polars()
    from taylorank.data.gather import collect
    from taylorank.data.roles import assign_roles
    from taylorank.data.tables import frame_rows

    options.allow_only(
        "user", "item", "rating", "strength", "timestamp", "min_rating", "duplicates", "missing", "ids", what="a table"
    )
    try:
        frame = nw.from_native(table)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect(backend="polars")
        names = [str(c) for c in frame.columns]
    except TypeError:
        raise DataError(
            f"cannot read a {type(table).__name__}", "give a path, a table, a sparse matrix or a list of pairs"
        ) from None
    except nw.exceptions.DuplicateError:
        raise DataError("two columns of the table have the same name", "rename or drop one of them") from None
    roles = assign_roles(names, options.wanted, needs_rating=options.needs_rating)
    rows = frame_rows(frame, roles.used, if_possible=roles.unused_rating)
    return collect(rows, roles, "read a table", options, from_text_file=False)


def _read_pairs(rows: Sequence[Any], options: Options) -> Interactions:
    options.allow_only("duplicates", "missing", "ids", what="a list")
    widths = {len(row) for row in rows}
    if len(widths) > 1 or not 2 <= (width := widths.pop()) <= 4:
        raise DataError(
            "rows are not all (user, item[, strength[, timestamp]])",
            "give two to four values in each, and a matrix as scipy.sparse.csr_array(matrix)",
        )
    action = "read a list"
    if options.missing == "drop" and (whole := [row for row in rows if not any(map(is_missing, row))]) != rows:
        action += f": {len(rows):,} rows; {len(rows) - len(whole):,} with a missing value dropped"
        rows = whole
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
    if not values[0]:
        raise DataError("no rows left: every one lacks a value", "check the list")
    if options.ids == "text":
        values[:2] = [[v if is_missing(v) else str(v) for v in column] for column in values[:2]]
    strengths, times = (values[k] if width > k else None for k in (2, 3))
    return from_columns(values[0], values[1], strengths, times, duplicates=options.duplicates, action=action)
