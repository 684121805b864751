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
STRIP = 1 << 15  # values looked at together; they and what is computed from them fit the cache


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
        if (outside := _beyond_64_bits(block)) is not None:
            raise DataError(f"{self.role} id {outside} does not fit 64 bits", 'read with ids="text"')
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


def _beyond_64_bits(block: pl.Series) -> int | None:
    """Return an integer of the block that int64 does not hold, if there is one."""
    if block.dtype in (pl.Int8, pl.Int16, pl.Int32, pl.Int64) or not block.count():
        return None
    ends = int(block.min()), int(block.max())  # type: ignore[arg-type]
    return next((end for end in ends if not -(2**63) <= end < 2**63), None)


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


MISSING_WORDS = ("", "na", "n/a", "nan", "nat", "null", "none", "\\n")  # what exports write where a value is missing


def is_missing(block: pl.Series) -> NDArray[np.bool_]:
    """Return which values are missing: null, NaN, or text that says so."""
    missing = block.is_null()
    if block.dtype.is_float():
        missing |= block.is_nan().fill_null(True)
    if block.dtype == pl.String:
        missing |= block.str.strip_chars().str.to_lowercase().is_in(MISSING_WORDS).fill_null(True)
    return missing.to_numpy()


class NumberColumn:
    """Finite numbers; `low` is the smallest allowed, and what is not 0 has a size from `smallest` to `largest`."""

    def __init__(
        self,
        role: str,
        *,
        low: float = -np.inf,
        smallest: float = 0.0,
        largest: float = float(np.finfo(np.float32).max),
    ) -> None:
        self.role = role
        self.low, self.smallest, self.largest = low, smallest, largest
        self.kind = "a finite number" if low == -np.inf else f"a finite number ≥ {low:g}"
        self.kind += f" (0, or from {smallest:g} to {largest:g})" if smallest else ""
        self._blocks: list[NDArray[np.float32]] = []

    def parse(self, block: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the block as float64, and which values are numbers as they must be."""
        try:
            values = block.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        except pl.exceptions.PolarsError:
            raise DataError(f"the {self.role} column holds {block.dtype}", "give a column of numbers") from None
        size = np.abs(values)
        return values, (values >= self.low) & (size <= self.largest) & ((size >= self.smallest) | (size == 0))

    def add(self, values: NDArray[np.float64]) -> None:
        """Take parsed values, or those of them that were kept."""
        self._blocks.append(values.astype(np.float32))

    def values(self) -> NDArray[np.float32]:
        """Return all values taken."""
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.float32)


class UnusedRatings:
    """Counts the ratings that filter nothing, in halves of a point from 0 to 100, so that the record can name them."""

    def __init__(self) -> None:
        self._counts = np.zeros(202, dtype=np.int64)  # the last: more than 100, less than 0, or no number

    def add(self, block: pl.Series) -> None:
        """Count the next block; what is no rating does no harm."""
        try:
            values = block.cast(pl.Float32, strict=False).fill_null(-1.0).to_numpy()
        except pl.exceptions.PolarsError:
            return
        for start in range(0, len(values), STRIP):
            halves = 2 * values[start : start + STRIP]
            places = np.where((halves >= 0) & (halves <= 200), halves, 201).astype(np.int64)
            self._counts += np.bincount(places, minlength=202)

    def note(self, column: str) -> str:
        """Return how many ratings are 0, or in the lower half of the scale."""
        counts = self._counts[:-1]
        given, total = np.flatnonzero(counts), int(counts.sum())
        if len(given) < 2:
            return f"ratings in {column} not used"
        low, high = given[[0, -1]] / 2
        below = int(counts[given[given < low + high]].sum())
        found = f"{below:,} of {total:,} ratings are in the lower half of {low:g} to {high:g}"
        if counts[0]:
            found = f"{int(counts[0]):,} of {total:,} ratings are 0"
        remedy = f"pass min_rating=… to keep the positive ones, or strength={column!r}"
        return f"ratings in {column} not used ({found}: {remedy})"


class TimeColumn:
    """Times: whole numbers (int64), numbers (float64), or dates (datetime64[us])."""

    def __init__(self) -> None:
        self._blocks: list[NDArray[Any]] = []

    @property
    def is_empty(self) -> bool:
        """Whether no times were taken yet."""
        return not self._blocks

    def parse(self, block: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the block as int64, float64 or datetime64[us], and which values are times."""
        times = _times(block)
        if self._blocks and (self._blocks[0].dtype.kind == "M") != times.dtype.is_temporal() and times.count():
            raise DataError("the timestamp column mixes dates and numbers", DROP_TIMES)
        is_time = times.is_not_null().to_numpy()
        values = (times.fill_null(0) if times.dtype == pl.Int64 else times).to_numpy()
        if values.dtype.kind == "f":
            is_time = is_time & np.isfinite(values)
        return (values.astype("datetime64[us]") if values.dtype.kind == "M" else values), is_time

    def add(self, values: NDArray[Any]) -> None:
        """Take parsed values, or those of them that were kept."""
        if len(values):
            self._blocks.append(values)

    def values(self) -> NDArray[Any]:
        """Return all times taken; float64 if any block needed it."""
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.int64)


DROP_TIMES = 'drop or correct such rows, or leave times out with timestamp=""'
DATE_FORMATS = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
    "%m %d, %Y",  # Amazon's reviewTime
    "%Y/%m/%d",
)


def _times(block: pl.Series) -> pl.Series:
    if block.dtype.is_integer():
        if (outside := _beyond_64_bits(block)) is not None:
            raise DataError(f"timestamp {outside} does not fit 64 bits", DROP_TIMES)
        return block.cast(pl.Int64)
    if block.dtype.is_float():
        return block.cast(pl.Float64)
    if block.dtype in (pl.Date, pl.Datetime):
        return block.cast(pl.Datetime("us"))
    if block.dtype == pl.Null:
        return block.cast(pl.Int64)
    if block.dtype != pl.String:
        raise DataError(f"the timestamp column holds {block.dtype}", "give numbers, dates or ISO text")
    return _times_of_text(block)


def _times_of_text(block: pl.Series) -> pl.Series:
    """Return the block in the first notation that fits every value, else in the one that fits most."""
    best = None
    for notation in (pl.Int64, pl.Float64, *DATE_FORMATS):
        times = _in_notation(block, notation)
        if times.null_count() == block.null_count():
            return times
        best = times if best is None or times.null_count() < best.null_count() else best
    assert best is not None
    return best


def _in_notation(block: pl.Series, notation: str | type[pl.DataType]) -> pl.Series:
    """Read text as numbers of a type, or as dates of a format; what does not fit is null."""
    if isinstance(notation, str):
        return block.str.to_datetime(notation, time_unit="us", strict=False)
    return block.cast(notation, strict=False)
