"""Lists of many users in a file, written block by block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.console import Console

from taylorank.data import Ids
from taylorank.data.panics import without_panics
from taylorank.data.polars_use import check_polars
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.output import atomic_path
from taylorank.progress import counted
from taylorank.ranking.list_table import list_columns
from taylorank.ranking.recommendations import recommend_blocks

ENDINGS = (".parquet", ".csv")


def check_ending(out: Path) -> None:
    """Refuse a file of another format before any work."""
    if out.suffix not in ENDINGS:
        raise ParameterError(f"cannot write {out}", f"give a name that ends in {' or '.join(ENDINGS)}")


def write_lists(model: Recommender, users: NDArray[Any], n: int, *, out: Path, console: Console, **choice: Any) -> int:
    """Write rows of (user, rank, item, score), user by user; return how many. Memory holds a few blocks at most."""
    import polars as pl
    from polars.io.plugins import register_io_source

    check_polars()
    schema = {"user": _kind(model.users), "rank": pl.Int32(), "item": _kind(model.items), "score": pl.Float32()}
    blocks = recommend_blocks(model, users, n, **choice)
    written = 0

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal written
        start = 0
        for ids, scores in blocks:
            frame = pl.DataFrame(list_columns(users[start : start + len(ids)], (ids, scores)), schema=schema)
            start += len(ids)
            written += len(frame)
            tell(start, len(users))
            yield frame

    with atomic_path(out) as temporary, counted("recommending", "users", not console.quiet) as tell:
        rows = register_io_source(source, schema=schema)
        sink = rows.sink_parquet if out.suffix == ".parquet" else rows.sink_csv
        with without_panics():
            sink(temporary, maintain_order=True)
    return written


def _kind(ids: Ids) -> Any:
    import polars as pl

    return pl.String() if ids.is_text else pl.Int64()
