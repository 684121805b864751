"""Parquet: items.parquet and users.parquet with their vectors, for whatever reads tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.output import path_of
from taylorank.stores.catalogue import Catalogue, Floats
from taylorank.stores.folder import ITEMS, export_folder, item_table, sizes, with_vectors, write_users
from taylorank.stores.measure import Search
from taylorank.stores.settings import Settings, Written


def write(catalogue: Catalogue, target: Any, settings: Settings) -> Written:
    """Write both tables to the folder `target`."""
    with export_folder(target, catalogue, settings, "parquet") as folder:
        with_vectors(item_table(catalogue).drop("key"), catalogue.items).write_parquet(folder / ITEMS)
        write_users(folder, catalogue, settings)
    return Written(str(target), sizes(path_of(target), ITEMS))


@contextmanager
def searching(target: Any, catalogue: Catalogue, settings: Settings) -> Iterator[Search]:
    """Yield a search of all items by one product with what was written."""
    import polars as pl

    items = pl.read_parquet(path_of(target) / ITEMS)
    vectors, ids = items["vector"].to_numpy(), items["id"].to_numpy()

    def search(user: Floats, k: int) -> NDArray[Any]:
        scores = vectors @ user  # (N,)
        best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
        found: NDArray[Any] = ids[best[np.argsort(-scores[best], kind="stable")]]
        return found

    yield search
