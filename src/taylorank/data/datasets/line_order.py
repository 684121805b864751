"""The order of a published split: the place of each training pair in the line of its user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from taylorank.data.datasets.formats import intact
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError


def in_line_order(train: Interactions, file: Path) -> Interactions:
    """Return the pairs with their places as times, from a Parquet file of user, item and pos.

    A pair whose place is unknown (null) counts as the user's earliest: what is held back as last is known to be late.
    """
    import polars as pl

    with intact(file):
        table = pl.read_parquet(file, columns=["user", "item", "pos"])
        places = table["pos"].fill_null(-1).to_numpy().astype(np.int64)
    rows, columns = train.users.positions(table["user"].to_numpy()), train.items.positions(table["item"].to_numpy())
    order = np.lexsort((columns, rows))
    mine = train.by_user.row_of_entry(), train.by_user.indices
    if not all(np.array_equal(own, theirs[order]) for own, theirs in zip(mine, (rows, columns), strict=True)):
        raise DataError(f"{file} has other pairs than the training part", "take both from one source, or remove it")
    return replace(train, timestamps=places[order])
