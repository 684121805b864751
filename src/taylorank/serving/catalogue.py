"""The items file: a title and columns for the items of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data import Ids
from taylorank.data.roles import USUAL_NAMES
from taylorank.errors import DataError, ParameterError

TITLES = ("title", "name", "label", "titel", "itemname", "producttitle", "productname")


@dataclass(frozen=True, eq=False)
class ItemTable:
    """An items file as it was read: its rows, and which columns hold ids and titles."""

    frame: pl.DataFrame
    item_column: str
    title_column: str | None
    name: str

    def for_items(self, items: Ids) -> Catalogue:
        """Return title and columns of each of `items`; rows of other items are left out."""
        ids = self.frame.get_column(self.item_column)
        rows = items.positions(ids.to_list() if items.is_text else _integers(ids, self.name))
        known = rows >= 0
        if not known.any():
            raise DataError(
                f"{self.name} describes none of the model's {len(items):,} items",
                "check that both use the same ids, and --item-column",
            )
        place = np.full(len(items), -1)
        place[rows[known]] = np.flatnonzero(known)
        return Catalogue(items, self._aligned(place), self.title_column, unknown=int(np.count_nonzero(~known)))

    def _aligned(self, place: NDArray[np.int64]) -> pl.DataFrame:
        """Return one row per item, empty where the file has none."""
        where = pl.Series("row", [None if row < 0 else row for row in place.tolist()], dtype=pl.UInt32)
        columns = [c for c in self.frame.get_columns() if c.name != self.item_column]
        return pl.DataFrame([column.gather(where).alias(column.name) for column in columns])


def _integers(ids: pl.Series, name: str) -> list[int | str]:
    """Return ids as integers; a text that spells none stays, and is then unknown."""
    numbers = ids.cast(pl.Int64, strict=False).to_list()
    return [text if number is None else number for number, text in zip(numbers, ids.to_list(), strict=True)]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Title and columns of every item of a model, by position."""

    items: Ids
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    title_column: str | None = None
    unknown: int = 0  # rows of the file that are of no item of the model

    @cached_property
    def titles(self) -> list[str]:
        """The title of every item; its id where there is none."""
        ids = [str(value) for value in self.items.values.tolist()]
        if self.title_column is None:
            return ids
        given = self.frame.get_column(self.title_column).cast(pl.String).to_list()
        return [title or text for title, text in zip(given, ids, strict=True)]

    @cached_property
    def ids(self) -> list[Any]:
        """The id of every item, as Python values."""
        values: list[Any] = self.items.values.tolist()
        return values

    @cached_property
    def columns(self) -> Mapping[str, pl.Series]:
        """The columns that filters can name."""
        return {column.name: column for column in self.frame.get_columns()}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds: number, text or flag."""
        return {name: kind_of(column) for name, column in self.columns.items()}


def kind_of(column: pl.Series) -> str:
    """Return "number", "flag" or "text".

    >>> kind_of(pl.Series([1.5])), kind_of(pl.Series([True])), kind_of(pl.Series(["a"]))
    ('number', 'flag', 'text')
    """
    if column.dtype.is_numeric():
        return "number"
    return "flag" if column.dtype == pl.Boolean else "text"


def read_items(path: Path, *, item_column: str | None = None, title_column: str | None = None) -> ItemTable:
    """Read an items file (.csv, .tsv or .parquet); refuse one without ids, or with an id twice."""
    frame = _read(path, {item_column, title_column})
    item = _column(frame, item_column, USUAL_NAMES["item"] | {"id"}, "--item-column", path)
    assert item is not None
    title = _column(frame, title_column, frozenset(TITLES), "--title-column", path)
    ids = frame.get_column(item).cast(pl.String)
    if ids.null_count():
        raise DataError(f"{path}: row {int(ids.is_null().arg_max() or 0) + 1} has no id", "drop the row")
    if (twice := ids.filter(ids.is_duplicated())).len():
        raise DataError(f"{path} has item {twice[0]!r} in more than one row", "keep one row per item")
    plain = [_plain_column(c) for c in frame.get_columns() if c.name != item]
    return ItemTable(pl.DataFrame([ids, *plain]), item, title, path.name)


def _read(path: Path, named: set[str | None]) -> pl.DataFrame:
    if not path.is_file():
        raise DataError(f"no such file: {path}", "check the path")
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        header = pl.read_csv(path, separator=_separator(path), n_rows=0, infer_schema=False)
        usual = USUAL_NAMES["item"] | {"id", *TITLES}
        texts = {name: pl.String for name in header.columns if name in named or _spelled(name) in usual}
        return pl.read_csv(path, separator=_separator(path), infer_schema_length=None, schema_overrides=texts)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise DataError(f"cannot read {path} ({reason})", "give a .csv or .tsv with a header, or .parquet") from None


def _separator(path: Path) -> str:
    return "\t" if path.suffix in (".tsv", ".tab") else ","


def _spelled(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _column(frame: pl.DataFrame, given: str | None, usual: frozenset[str], option: str, path: Path) -> str | None:
    if given is not None and given not in frame.columns:
        raise ParameterError(f"{path} has no column {given!r}", f"{option} can be {', '.join(frame.columns[:20])}")
    found = given or next((name for name in frame.columns if _spelled(name) in usual), None)
    if found is None and option == "--item-column":
        raise ParameterError(f"no column of {path} is named like an item's id", f"name one with {option}")
    return found


def _plain_column(column: pl.Series) -> pl.Series:
    """Return a column as numbers, flags or text; dates become text, which sorts as they do."""
    if column.dtype.is_integer() and column.dtype != pl.UInt64:
        return column.cast(pl.Int64)
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if column.dtype in (pl.Boolean, pl.String):
        return column
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series(column.name, [None if value is None else str(value) for value in column.to_list()])
