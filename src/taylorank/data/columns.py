"""Columns that are read block by block and returned as arrays: ids, numbers, times."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.assemble import check_count, encode_integers
from taylorank.data.ids import Ids
from taylorank.errors import DataError

INT32 = np.iinfo(np.int32)


class IdColumn:
    """Ids of users or of items. Text that spells integers in every row, each in its one usual way, becomes integers.

    "007", "+7" and " 7" are text, because 7 would not give them back. A column is all integers or all text.
    """

    def __init__(self, role: str, *, text_only: bool) -> None:
        self.role = role
        self.text_only = text_only
        self.is_text = text_only
        self._integers: list[NDArray[Any]] = []
        self._texts: list[pl.Series] = []

    def add(self, block: pl.Series, *, from_text_file: bool) -> None:
        """Take the next block; it has no missing values. In a text file, integers may turn out to be text later."""
        if block.dtype.is_float():
            block = self._integers_again(block)
        if block.dtype.is_integer():
            self._add_integers(block, may_be_text=from_text_file)
        elif block.dtype in (pl.String, pl.Categorical, pl.Enum):
            if self._integers and not from_text_file:
                raise DataError(f"the {self.role} column mixes integers and text", "convert it to text")
            self._add_text(block.cast(pl.String))
        else:
            raise DataError(f"the {self.role} column holds {block.dtype}", "use integers or text as ids")

    def _add_text(self, block: pl.Series) -> None:
        earlier = [pl.Series(values).cast(pl.String) for values in self._integers]
        self._integers.clear()
        self.is_text = True
        self._texts += [*earlier, block]

    def _add_integers(self, block: pl.Series, *, may_be_text: bool) -> None:
        if self.text_only or (self.is_text and may_be_text):
            self._add_text(block.cast(pl.String))
            return
        if self.is_text:
            raise DataError(f"the {self.role} column mixes integers and text", "convert it to text")
        if block.dtype == pl.UInt64 and len(block) and int(block.max()) >= 2**63:  # type: ignore[arg-type]
            raise DataError(f"{self.role} id {block.max()!r} does not fit 64 bits", 'read with ids="text"')
        self._integers.append(_narrow(block.cast(pl.Int64).to_numpy()))

    def _integers_again(self, block: pl.Series) -> pl.Series:
        """Convert floats back to the integers they were before a missing value turned the column into floats."""
        values = block.to_numpy()
        odd = ~((np.floor(values) == values) & (np.abs(values) < 2**53))
        if odd.any():
            raise DataError(f"{self.role} id {values[np.argmax(odd)]} is not an integer", "use integers or text as ids")
        return block.cast(pl.Int64)

    def encoded(self) -> tuple[Ids, NDArray[np.int32]]:
        """Return the distinct ids in order, and each row's position among them."""
        if self.is_text:
            return encode_text(pl.concat(self._texts) if self._texts else pl.Series(dtype=pl.String))
        values = np.concatenate(self._integers) if self._integers else np.empty(0, dtype=np.int64)
        self._integers.clear()  # the blocks would otherwise stay alive beside their copy
        return encode_integers(values)


def encode_text(values: pl.Series) -> tuple[Ids, NDArray[np.int32]]:
    """Encode text ids as positions in ascending order (by code point, as Python sorts)."""
    distinct = values.unique().sort()
    check_count(len(distinct))
    array = np.empty(len(distinct), dtype=object)
    array[:] = distinct.to_list()
    codes = values.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32)
    return Ids(array), codes.to_numpy()


def integers_or_text(texts: pl.Series) -> pl.Series:
    """Return the integers that `texts` spell, or `texts` if one of them is not an integer's usual spelling."""
    integers = texts.cast(pl.Int64, strict=False)
    if integers.null_count() > texts.null_count():
        return texts
    # What parses is at least as long as its usual spelling, so equal totals mean equal spellings.
    spelled = _spelled_length(integers.drop_nulls().to_numpy())
    return integers if int(texts.str.len_bytes().sum()) == spelled else texts


POWERS_OF_TEN = 10 ** np.arange(1, 20, dtype=np.uint64)


def _spelled_length(values: NDArray[np.int64]) -> int:
    """Return the number of characters that all `values` take in decimal."""
    signs = int(np.count_nonzero(values < 0))
    size = np.abs(values).view(np.uint64)  # |-2⁶³| wraps to 2⁶³ when seen as unsigned
    largest = int(size.max()) if len(size) else 0
    digits = len(values)
    for power in POWERS_OF_TEN:
        if power > largest:
            break
        digits += int(np.count_nonzero(size >= power))
    return digits + signs


def _narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    if len(values) and values.min() >= INT32.min and values.max() <= INT32.max:
        return values.astype(np.int32)
    return values


class NumberColumn:
    """Finite numbers; `low` is the smallest allowed."""

    def __init__(self, role: str, *, low: float = -np.inf) -> None:
        self.role = role
        self.low = low
        self._blocks: list[NDArray[np.float32]] = []

    def parse(self, block: pl.Series, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the block as float64; a value that is not a finite number ≥ `low` is an error that names its row."""
        values = block.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        bad = ~((values >= self.low) & (np.abs(values) <= np.finfo(np.float32).max))
        if bad.any():
            row = int(np.argmax(bad))
            limit = "" if self.low == -np.inf else f" ≥ {self.low:g}"
            raise DataError(
                f"{self.role} {block[row]!r} in row {rows[row]:,} is not a finite number{limit}",
                "drop or correct such rows",
            )
        return values

    def add(self, values: NDArray[np.float64]) -> None:
        """Take parsed values, or those of them that were kept."""
        self._blocks.append(values.astype(np.float32))

    def values(self) -> NDArray[np.float32]:
        """Return all values taken."""
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.float32)


class TimeColumn:
    """Times: whole numbers (int64), numbers (float64), or dates (datetime64[us])."""

    def __init__(self) -> None:
        self._blocks: list[NDArray[Any]] = []

    def parse(self, block: pl.Series, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the block as int64, float64 or datetime64[us]."""
        times = _times(block)
        if times.null_count():
            row = int(times.is_null().arg_max() or 0)
            raise DataError(f"timestamp {block[row]!r} in row {rows[row]:,} is not a time", _DROP_TIMES)
        values = times.to_numpy()
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmax(~np.isfinite(values)))
            raise DataError(f"timestamp {values[row]} in row {rows[row]:,} is not a time", _DROP_TIMES)
        return values.astype("datetime64[us]") if values.dtype.kind == "M" else values

    def add(self, values: NDArray[Any]) -> None:
        """Take parsed values, or those of them that were kept."""
        if self._blocks and (self._blocks[0].dtype.kind == "M") != (values.dtype.kind == "M"):
            raise DataError("the timestamp column mixes dates and numbers", _DROP_TIMES)
        self._blocks.append(values)

    def values(self) -> NDArray[Any]:
        """Return all times taken; float64 if any block needed it."""
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.int64)


_DROP_TIMES = 'drop or correct such rows, or leave times out with timestamp=""'


def _times(block: pl.Series) -> pl.Series:
    if block.dtype.is_integer():
        return block.cast(pl.Int64)
    if block.dtype.is_float():
        return block.cast(pl.Float64)
    if block.dtype in (pl.Date, pl.Datetime):
        return block.cast(pl.Datetime("us"))
    if block.dtype != pl.String:
        raise DataError(f"the timestamp column holds {block.dtype}", "give numbers, dates or ISO text")
    for kind in (pl.Int64, pl.Float64):
        numbers = block.cast(kind, strict=False)
        if numbers.null_count() == block.null_count():
            return numbers
    return _dates(block)


def _dates(block: pl.Series) -> pl.Series:
    formats = (
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.fZ",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%d",
    )
    best = None
    for form in formats:
        dates = block.str.to_datetime(form, time_unit="us", strict=False)
        if dates.null_count() == 0:
            return dates
        best = dates if best is None or dates.null_count() < best.null_count() else best
    assert best is not None
    return best
