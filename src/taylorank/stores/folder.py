"""The folder of an export: tables of items and users, an index beside them, and what they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from taylorank.data import Ids
from taylorank.data.panics import without_panics
from taylorank.output import atomic_folder
from taylorank.stores.catalogue import Catalogue, Side
from taylorank.stores.settings import Settings

DESCRIPTION = "export.json"
ITEMS, USERS = "items.parquet", "users.parquet"


@contextmanager
def export_folder(
    target: str | os.PathLike[str], catalogue: Catalogue, settings: Settings, kind: str, **more: float
) -> Iterator[Path]:
    """Yield a folder that takes the place of `target` when all is written; export.json says what it holds."""
    document = {
        "kind": kind,
        "index": settings.index,
        "metric": catalogue.metric,
        "dimensions": catalogue.dimensions,
        "items": len(catalogue.items),
        "keys": "ids" if catalogue.items.has_integer_keys else "rows",
        **more,
    }
    with atomic_folder(target, replaces=DESCRIPTION if settings.overwrite else None) as folder:
        (folder / DESCRIPTION).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        with without_panics():
            yield folder


def id_column(ids: Ids) -> Any:
    """Return ids as a column: integers or text."""
    import polars as pl

    return pl.Series("id", ids.values.tolist(), dtype=pl.String() if ids.is_text else pl.Int64())


def item_table(catalogue: Catalogue) -> Any:
    """Return keys, ids, popularity and metadata of the items, without vectors."""
    import polars as pl

    columns = {"key": catalogue.items.keys, "id": id_column(catalogue.items.ids), "popularity": catalogue.popularity}
    table = pl.DataFrame(columns)
    return table if catalogue.metadata is None else table.hstack(catalogue.metadata.get_columns())


def with_vectors(table: Any, side: Side) -> Any:
    """Return the table with the vectors as one more column of arrays."""
    import polars as pl

    kind = pl.Array(pl.Float32(), side.vectors.shape[1])
    return table.with_columns(pl.Series("vector", side.vectors, dtype=kind))


def write_users(folder: Path, catalogue: Catalogue, settings: Settings) -> None:
    """Write ids and vectors of the users."""
    if settings.users:
        with_vectors(id_column(catalogue.users.ids).to_frame(), catalogue.users).write_parquet(folder / USERS)


def sizes(folder: Path, *names: str) -> int:
    """Return the bytes of these files."""
    return sum((folder / name).stat().st_size for name in names)
