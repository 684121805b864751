"""Tables (Parquet files, polars, pandas, pyarrow and the like) as blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from taylorank.data.ids import id_array
from taylorank.errors import DataError

BATCH_ROWS = 1 << 21


def parquet_columns(source: str | Path | IO[bytes]) -> list[str]:
    """Return the column names of a Parquet file; a damaged one is refused."""
    try:
        return list(pl.read_parquet_schema(source))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(error) from None


def parquet_rows(source: str | Path | IO[bytes], columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables of the chosen columns, each with the number of its first row, counted from 1."""
    row = 1
    try:
        for batch in (
            pl.scan_parquet(source).select(columns).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
        ):
            yield batch, row
            row += len(batch)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(error) from None


def _damaged(error: BaseException) -> DataError:
    reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    return DataError(f"not a whole Parquet file ({reason})", "write or fetch it again")


def frame_rows(frame: Any, columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield the chosen columns of a narwhals DataFrame as one polars table."""
    yield pl.DataFrame([_series(frame[c], c) for c in columns]), 1


def _series(column: Any, name: str) -> pl.Series:
    """Convert one column; without pyarrow too, which pandas users may lack."""
    if column.implementation.is_polars() or column.implementation.is_pyarrow():
        native: pl.Series = column.to_polars()
        return native.alias(name)
    values = column.to_numpy()
    if values.dtype != object:
        return pl.Series(name, values)
    missing = column.is_null().to_numpy()
    present = values[~missing]
    if len(present) and not isinstance(present[0], int | np.integer | str):
        return pl.Series(name, list(values), strict=False)
    out = np.empty(len(values), dtype=object)
    out[~missing] = id_array(list(present)).tolist()
    return pl.Series(name, out.tolist())
