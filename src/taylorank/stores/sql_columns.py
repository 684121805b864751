"""Columns of a table as PostgreSQL takes them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column: its name, its type in SQL, and its values, None where there is none."""

    name: str
    kind: str
    values: list[Any]


def column_of(series: Any) -> Column:
    """Return a polars column as whole numbers, numbers, truth values, or text; lists and structures as text in JSON.

    >>> import polars as pl
    >>> column_of(pl.Series("price", [1.5, None])), column_of(pl.Series("tags", [["a", "b"]])).values
    (Column(name='price', kind='float8', values=[1.5, None]), ['["a", "b"]'])
    """
    import polars as pl

    kind = series.dtype
    if kind == pl.Boolean():
        return Column(series.name, "bool", series.to_list())
    if kind.is_integer():
        return Column(series.name, "int8", series.cast(pl.Int64()).to_list())
    if kind.is_numeric():
        return Column(series.name, "float8", series.cast(pl.Float64()).to_list())
    values = series.to_list()
    if kind.is_nested():
        return Column(series.name, "text", [_json(value) for value in values])
    return Column(series.name, "text", [None if value is None else str(value) for value in values])


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
