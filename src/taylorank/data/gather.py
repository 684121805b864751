"""Blocks of rows, filtered while they are read, gathered into `Interactions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.data.assemble import LARGEST_STRENGTH, SMALLEST_STRENGTH, from_codes
from taylorank.data.columns import IdColumn, NumberColumn, TimeColumn, UnusedRatings, is_missing
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.data.read_options import Options
from taylorank.data.roles import Roles
from taylorank.errors import DataError


class Gatherer:
    """Takes tables with the columns of `roles`; keeps rows without missing values and with rating ≥ `min_rating`."""

    def __init__(self, roles: Roles, min_rating: float | None, *, drop_missing: bool, text: bool) -> None:
        self.roles = roles
        self.min_rating = min_rating
        self.drop_missing = drop_missing
        self.users = IdColumn("user", text_only=text)
        self.items = IdColumn("item", text_only=text)
        self.ratings = NumberColumn("rating")
        self.strengths = NumberColumn("strength", low=0, smallest=SMALLEST_STRENGTH, largest=LARGEST_STRENGTH)
        self.times = TimeColumn()
        self.unused_ratings = UnusedRatings()
        self.time_column = roles.timestamp
        self.time_note = ""
        self.rows_read = self.rows_below = 0
        self.rows_without: Counter[str] = Counter()  # rows dropped, by what they lack

    def add(self, table: pl.DataFrame, rows: NDArray[np.int64], *, from_text_file: bool) -> None:
        """Take the next rows; `rows` are their numbers, for messages."""
        self.rows_read += len(table)
        if self.roles.unused_rating is not None and self.roles.unused_rating in table.columns:
            self.unused_ratings.add(table[self.roles.unused_rating])
        keep = self._with_ids(table, rows)
        if self.roles.rating is not None and self.min_rating is not None:
            ratings, good = self.ratings.parse(table[self.roles.rating])
            keep = self._present("rating", self.ratings.kind, table[self.roles.rating], good, rows, keep)
            below = keep & (ratings < self.min_rating)
            self.rows_below += int(below.sum())
            keep &= ~below
        strengths = None
        if self.roles.strength is not None:
            strengths, good = self.strengths.parse(table[self.roles.strength])
            keep = self._present("strength", self.strengths.kind, table[self.roles.strength], good, rows, keep)
        keep = self._add_times(table, rows, keep)
        if strengths is not None:
            self.strengths.add(strengths[keep])
        everything, mask = bool(keep.all()), pl.Series(keep)
        for ids, name in ((self.users, self.roles.user), (self.items, self.roles.item)):
            ids.add(table[name] if everything else table[name].filter(mask), from_text_file=from_text_file)

    def _with_ids(self, table: pl.DataFrame, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        keep = np.ones(len(table), dtype=bool)
        for role, name in (("user", self.roles.user), ("item", self.roles.item)):
            column = table[name]
            if column.null_count() or column.dtype.is_float():
                present = ~(column.is_null() | (column.is_nan().fill_null(True) if column.dtype.is_float() else False))
                keep = self._present(role, "an id", column, present.to_numpy(), rows, keep)
        return keep

    def _present(
        self,
        role: str,
        kind: str,
        column: pl.Series,
        good: NDArray[np.bool_],
        rows: NDArray[np.int64],
        keep: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return `keep` without rows whose value is missing; raise if they may not be dropped, or a value is wrong."""
        bad = keep & ~good
        if not bad.any():
            return keep
        wrong = bad & ~is_missing(column)
        leave_out = ', or leave times out with timestamp=""' if role == "timestamp" else ""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{role} {column[row]!r} in row {rows[row]:,} is not {kind}", f"drop or correct such rows{leave_out}"
            )
        if not self.drop_missing:
            row = rows[int(np.argmax(bad))]
            raise DataError(f"row {row:,} has no {role}", f'drop such rows, or pass missing="drop"{leave_out}')
        self.rows_without["id" if role in ("user", "item") else role] += int(bad.sum())
        return keep & good

    def _add_times(self, table: pl.DataFrame, rows: NDArray[np.int64], keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Take the times of the rows in `keep`; return `keep` without those that have none."""
        if self.time_column is None:
            return keep
        column = table[self.time_column]
        try:
            times, good = self.times.parse(column)
            if self._is_only_a_name(column, good):
                raise DataError("no times", "")
        except DataError:
            if "timestamp" not in self.roles.guessed:
                raise
            # The column was only guessed to hold times, so that it holds something else is not an error.
            where = "" if self.rows_read == len(table) else f" up to row {rows[-1]:,}"
            self.time_note = f"column {self.time_column} ignored, it holds no times{where}"
            self.time_column = None
            return keep
        keep = self._present("timestamp", "a time", column, good, rows, keep)
        self.times.add(times[keep])
        return keep

    def _is_only_a_name(self, column: pl.Series, good: NDArray[np.bool_]) -> bool:
        """Whether a column called like a time holds other things: in its first block, most values are no times."""
        if "timestamp" not in self.roles.guessed or not self.times.is_empty or (len(good) and good.all()):
            return False
        return not good.any() or 2 * int(good.sum()) < int((~is_missing(column)).sum())

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
        if self.rows_read > self.rows_without.total() + self.rows_below:
            return
        cause = ", ".join([f"no rows left: {self.rows_read:,} read", *self._dropped()])
        cause += f", {self.rows_below:,} rated below {self.min_rating:g} removed" if self.rows_below else ""
        raise DataError(cause, "lower min_rating" if self.rows_below else "check the columns")

    def _dropped(self) -> list[str]:
        return [f"{count:,} without {what} dropped" for what, count in self.rows_without.items()]

    def _record(self, action: str) -> str:
        notes = [f"{action}: {self.rows_read:,} rows", self.roles.note, self.time_note]
        if self.roles.unused_rating is not None:
            notes.append(self.unused_ratings.note(self.roles.unused_rating))
        notes += self._dropped()
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
