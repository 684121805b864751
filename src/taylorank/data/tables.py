"""Tables (Parquet, polars, pandas, pyarrow, dictionaries, records) as blocks of columns; interactions as a table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.ids import id_array
from taylorank.data.page_headers import check_pages
from taylorank.data.panics import without_panics
from taylorank.data.polars_use import check_polars
from taylorank.errors import DataError, ParameterError, shown

if TYPE_CHECKING:
    from taylorank.data.interactions import Interactions

BATCH_ROWS = 1 << 21
Rows = Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]


def parquet_columns(source: str | Path | IO[bytes]) -> list[str]:
    """Return the column names of a Parquet file; a damaged one is refused."""
    try:
        with without_panics():
            return list(pl.read_parquet_schema(source))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(error) from None


def parquet_rows(source: str | Path | IO[bytes], columns: Sequence[str]) -> Rows:
    """Yield tables of the chosen columns, each with the numbers of its rows, counted from 1."""
    row = 1
    check_pages(source)
    try:
        with without_panics():
            wanted = pl.scan_parquet(source).select(columns)
            batches = iter(wanted.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True))
        while True:
            with without_panics():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, np.arange(row, row + len(batch))
            row += len(batch)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(error) from None


def _damaged(error: BaseException) -> DataError:
    reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    return DataError(f"not a whole Parquet file ({reason})", "write or fetch it again")


def frame_rows(frame: Any, columns: Sequence[str], *, if_possible: str | None = None) -> Rows:
    """Yield the chosen columns of a narwhals DataFrame as one polars table; labels may be numbers.

    The column `if_possible` comes with them unless it cannot be converted.
    """
    label = {str(c): c for c in frame.columns}
    series = [_native_series(frame.get_column(label[c]), c) for c in columns]
    if if_possible is not None:
        with contextlib.suppress(DataError, pl.exceptions.PolarsError, TypeError, ValueError):
            series.append(_native_series(frame.get_column(label[if_possible]), if_possible))
    yield pl.DataFrame(series), np.arange(1, len(frame) + 1)


def _native_series(column: Any, name: str) -> pl.Series:
    """Convert one column; without pyarrow too, which pandas users may lack."""
    if column.implementation.is_polars() or column.implementation.is_pyarrow():
        native: pl.Series = column.to_polars()
        return native.alias(name)
    missing = column.is_null().to_numpy()
    values = column.to_numpy()
    if values.dtype.kind == "M":
        return pl.Series(name, values.astype("datetime64[us]"))  # polars knows no seconds
    if values.dtype != object and not (column.dtype.is_integer() and missing.any()):
        try:
            return pl.Series(name, values)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise DataError(f"column {name!r} holds {column.dtype}", "use numbers, text or dates") from None
    present = iter(column.drop_nulls().to_list())  # NumPy would turn integers with missing values into floats
    return object_series([None if is_missing else next(present) for is_missing in missing], name)


def interactions_table(data: Interactions, library: str) -> Any:
    """Return the interactions as a table of `library`: user, item, strength and, if known, timestamp."""
    check_polars()
    columns = {
        "user": data.users.take(data.by_user.row_of_entry()),
        "item": data.items.take(data.by_user.indices),
        "strength": np.array(data.strengths),
    }
    if data.timestamps is not None:
        columns["timestamp"] = data.timestamps
    schema = {
        side: pl.String if ids.is_text else pl.Int64 for side, ids in (("user", data.users), ("item", data.items))
    }
    frame = pl.DataFrame(columns, schema_overrides=schema)
    convert = {"polars": lambda: frame, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}
    if library not in convert:
        raise ParameterError(f"library={library!r} is unknown", f"choose from {', '.join(convert)}")
    return convert[library]()


def records_table(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a list of dictionaries as a table."""
    names = list(dict.fromkeys(str(key) for record in records for key in record))
    return columns_table({name: [record.get(name) for record in records] for name in names})


def columns_table(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return a dictionary of columns as a table."""
    lonely = next((name for name, values in columns.items() if not np.iterable(values)), None)
    if lonely is not None:
        raise DataError(f"column {shown(lonely)} is no list of values", "give one value per row")
    lists = {str(name): list(values) for name, values in columns.items()}
    if len({len(values) for values in lists.values()}) > 1:
        lengths = {name: len(values) for name, values in lists.items()}
        raise DataError(f"columns of different length: {lengths}", "give one value per row")
    return pl.DataFrame([object_series(values, name) for name, values in lists.items()])


def object_series(values: Sequence[Any], name: str) -> pl.Series:
    """Return Python values as one column; text beside anything else is refused, because it would be altered."""
    present = [v for v in values if v is not None and v == v]
    if any(isinstance(v, str) for v in present) or all(isinstance(v, int | np.integer) for v in present):
        id_array(present)  # all text, or all integers of 64 bits; anything else is an error
        return pl.Series(name, [None if v is None or v != v else v for v in values])
    try:
        return pl.Series(name, list(values), strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise DataError(f"column {name!r} holds {type(present[0]).__name__}", "use numbers or text") from None
