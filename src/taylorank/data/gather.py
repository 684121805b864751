"""Blocks of rows, filtered while they are read, gathered into `Interactions`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.assemble import from_codes
from taylorank.data.columns import IdColumn, NumberColumn, TimeColumn
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.data.read_options import Options
from taylorank.data.roles import Roles
from taylorank.errors import DataError


class Gatherer:
    """Takes tables with the columns of `roles`; keeps rows with ids and with rating ≥ `min_rating`."""

    def __init__(self, roles: Roles, min_rating: float | None, *, drop_missing: bool, text: bool) -> None:
        self.roles = roles
        self.min_rating = min_rating
        self.drop_missing = drop_missing
        self.users = IdColumn("user", text_only=text)
        self.items = IdColumn("item", text_only=text)
        self.ratings = NumberColumn("rating")
        self.strengths = NumberColumn("strength", low=0)
        self.times = TimeColumn()
        self.time_column = roles.timestamp
        self.time_note = ""
        self.rows_read = self.rows_without_id = self.rows_below = 0

    def add(self, table: pl.DataFrame, rows: NDArray[np.int64], *, from_text_file: bool) -> None:
        """Take the next rows; `rows` are their numbers, for messages."""
        self.rows_read += len(table)
        keep = self._with_ids(table, rows)
        if self.roles.rating is not None and self.min_rating is not None:
            ratings = self.ratings.parse(table[self.roles.rating], rows)
            below = keep & (ratings < self.min_rating)
            self.rows_below += int(below.sum())
            keep &= ~below
        everything = bool(keep.all())
        if self.roles.strength is not None:
            strengths = self.strengths.parse(table[self.roles.strength], rows)
            self.strengths.add(strengths[keep])
        self._add_times(table, rows, keep)
        mask = pl.Series(keep)
        for ids, name in ((self.users, self.roles.user), (self.items, self.roles.item)):
            ids.add(table[name] if everything else table[name].filter(mask), from_text_file=from_text_file)

    def _with_ids(self, table: pl.DataFrame, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        keep = np.ones(len(table), dtype=bool)
        for role, name in (("user", self.roles.user), ("item", self.roles.item)):
            column = table[name]
            missing = column.is_null()
            if column.dtype.is_float():
                missing |= column.is_nan().fill_null(True)
            if not missing.any():
                continue
            if not self.drop_missing:
                row = rows[int(missing.arg_max() or 0)]
                raise DataError(f"row {row:,} has no {role}", 'drop such rows, or pass missing="drop"')
            keep &= ~missing.to_numpy()
        self.rows_without_id += len(table) - int(keep.sum())
        return keep

    def _add_times(self, table: pl.DataFrame, rows: NDArray[np.int64], keep: NDArray[np.bool_]) -> None:
        if self.time_column is None:
            return
        try:
            self.times.add(self.times.parse(table[self.time_column], rows)[keep])
        except DataError:
            if "timestamp" not in self.roles.guessed:
                raise
            # The column was only guessed to hold times, so that it holds something else is not an error.
            self.time_note = f"column {self.time_column} ignored, it holds no times"
            self.time_column = None

    def interactions(self, action: str, duplicates: Duplicates) -> Interactions:
        """Encode the ids, sort the pairs and merge repeated ones."""
        self._refuse_empty()
        times: Any = self.times.values() if self.time_column is not None else None
        strengths = self.strengths.values() if self.roles.strength is not None else None
        users, items = self.users.encoded(), self.items.encoded()
        return from_codes(users, items, strengths, times, duplicates=duplicates, action=self._record(action))

    def _refuse_empty(self) -> None:
        if not self.rows_read:
            raise DataError("there are no rows", "check the export")
        if self.rows_read > self.rows_without_id + self.rows_below:
            return
        cause = f"no rows left: {self.rows_read:,} read"
        cause += f", {self.rows_without_id:,} without id dropped" if self.rows_without_id else ""
        cause += f", {self.rows_below:,} rated below {self.min_rating:g} removed" if self.rows_below else ""
        raise DataError(cause, "lower min_rating" if self.rows_below else "check the columns")

    def _record(self, action: str) -> str:
        notes = [f"{action}: {self.rows_read:,} rows", self.roles.note, self.time_note]
        if self.rows_without_id:
            notes.append(f"{self.rows_without_id:,} without id dropped")
        if self.min_rating is not None:
            notes.append(f"{self.rows_below:,} rated below {self.min_rating:g} removed")
        return "; ".join(note for note in notes if note)


def collect(
    blocks: Iterator[tuple[pl.DataFrame, NDArray[np.int64]]],
    roles: Roles,
    action: str,
    options: Options,
    *,
    from_text_file: bool,
) -> Interactions:
    """Gather blocks of rows, each with their numbers, into interactions."""
    drop, text = options.missing == "drop", options.ids == "text"
    gatherer = Gatherer(roles, options.min_rating, drop_missing=drop, text=text)
    for table, rows in blocks:
        gatherer.add(table, rows, from_text_file=from_text_file)
    return gatherer.interactions(action, options.duplicates)
