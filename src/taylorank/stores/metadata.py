"""What is known of the items beside their vectors: titles, categories, prices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from taylorank.data import Ids
from taylorank.errors import DataError
from taylorank.output import path_of

OURS = ("key", "id", "popularity", "vector")
ID_COLUMNS = ("id", "item", "item_id")


def metadata_of(given: Any, items: Ids) -> Any:
    """Return the rows of a table for these items, in their order, without the ids; null where it has no row.

    `given` is a csv or Parquet file, or a table of polars, pandas or pyarrow; its ids are in the column id, item or
    item_id.
    """
    import polars as pl

    table = _table(given)
    column = next((name for name in ID_COLUMNS if name in table.columns), None)
    if column is None:
        raise DataError(
            "the metadata have no ids", f"name their column {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}"
        )
    _refuse([name for name in table.columns if name in OURS and name != column])
    kind = pl.String() if items.is_text else pl.Int64()
    try:
        table = table.with_columns(pl.col(column).cast(kind)).drop_nulls(column)
    except pl.exceptions.PolarsError:
        raise DataError(f"the ids of the metadata are no {kind}", "give them as the model has them") from None
    if table[column].is_duplicated().any():
        twice = table[column].filter(table[column].is_duplicated())[0]
        raise DataError(f"the metadata have item {twice!r} twice", "keep one row for each item")
    wanted = pl.DataFrame({column: pl.Series(items.values.tolist(), dtype=kind)})
    if wanted.join(table, on=column, how="semi").is_empty():
        raise DataError("the metadata have none of the model's items", "check that both use the same ids")
    return wanted.join(table, on=column, how="left", maintain_order="left").drop(column)


def _refuse(names: Sequence[str]) -> None:
    if names:
        raise DataError(f"the metadata have a column {names[0]!r}, which the export writes", "rename it")


def _table(given: Any) -> Any:
    import narwhals as nw
    import polars as pl

    if not isinstance(given, str | os.PathLike):
        try:
            frame = nw.from_native(given, eager_only=True)
        except TypeError:
            raise DataError(
                f"metadata are a {type(given).__name__}", "give a table, or a csv or Parquet file"
            ) from None
        return frame.to_polars()
    path = path_of(given)
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"cannot read {path} ({str(error).splitlines()[0]})", "give a csv or Parquet file") from None
