"""Generated interactions of any size, made by Spark itself, partition by partition, and kept as Parquet.

About 95 items for each user out of 50,000, most of them popular ones, and 100 tastes: two thirds of what a user has
comes from the items of one taste, whose share of the users falls like 1/rank. Partition p is drawn from seed p, so
that any size is the same whenever it is made.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from taylorank.data import Interactions, datasets, planted, read_interactions

Parts = tuple[Interactions, Interactions]
FOLDER = Path(tempfile.gettempdir()) / "taylorank-bench-spark"

ITEMS, TASTES, PER_USER, PARTITION_USERS = 50_000, 100, 95, 10_000


def generated(session: Any, millions: float, folder: Path) -> Any:
    """Return a DataFrame of about so many million interactions, user and item; made if it is not in `folder`."""
    path = folder / f"{millions:g}M.parquet"
    users = round(millions * 1e6 / PER_USER)
    if not (path / "_SUCCESS").exists():
        partitions = max(2, -(-users // PARTITION_USERS))
        made = session.range(0, users, 1, partitions).mapInArrow(_drawn, "user bigint, item bigint")
        made.write.mode("overwrite").parquet(f"file://{path}")
    return session.read.parquet(f"file://{path}")


def benchmark_data(session: Any, data: str) -> tuple[Any, Callable[[], Parts]]:
    """Return the pairs to fit to as a DataFrame, and what returns them and the test part for this process.

    `data` is gowalla, quick, or so many million generated pairs.
    """
    if data in ("gowalla", "quick"):
        small = planted(300, 200, interactions=6000)
        train, test = datasets.published_split("gowalla")[:2] if data == "gowalla" else small.split((0.8, 0.2))
        frame = session.createDataFrame(train.to_frame("pyarrow").select(["user", "item"]))
        return frame, lambda: (train, test)
    FOLDER.mkdir(exist_ok=True)
    kept, held = tenth_held_back(generated(session, float(data), FOLDER))
    return kept, lambda: (read_interactions(kept.toArrow()), read_interactions(held.toArrow()))


def tenth_held_back(frame: Any) -> tuple[Any, Any]:
    """Return about nine tenths of the pairs, and one; a hash of the pair decides, so repeated ones stay together."""
    from pyspark.sql import functions as F

    is_held = F.pmod(F.xxhash64("user", "item"), F.lit(10)) == 0
    return frame.where(~is_held), frame.where(is_held)


def _drawn(batches: Any) -> Iterator[Any]:
    for batch in batches:
        users = batch.column(0).to_numpy()
        rng = np.random.default_rng([int(users[0]), 7])
        lengths = np.clip(rng.lognormal(np.log(PER_USER) - 0.32, 0.8, len(users)), 3, 5000).astype(np.int64)
        shares = 1 / (np.arange(TASTES) + 3.0)
        taste = rng.choice(TASTES, len(users), p=shares / shares.sum())
        owner, own = np.repeat(users, lengths), np.repeat(taste, lengths)
        popular = (ITEMS * rng.random(len(owner)) ** 3).astype(np.int64)
        of_taste = (own * 479 + (4000 * rng.random(len(owner)) ** 2).astype(np.int64)) % ITEMS
        items = np.where(rng.random(len(owner)) < 2 / 3, of_taste, popular)
        yield pa.record_batch([pa.array(owner), pa.array(items)], names=["user", "item"])
