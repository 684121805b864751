"""Lists and scores inside tasks. Item vectors may be in shards: then a task takes many users together and
reads one shard after the other, whose best are merged with those before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels.thread_limit import threads
from taylorank.spark.blocks import item_codes
from taylorank.spark.scoring import Best, Items, View, best, items_between, items_of, pair_scores, recommendations
from taylorank.spark.session import Batches, task_threads
from taylorank.spark.users import rows_of

GROUP = 1 << 16  # users


@lru_cache(maxsize=1)
def _shard(view: View, number: int) -> Items:
    return items_between(view, slice(*view.shards[number : number + 2]), number)


@dataclass(frozen=True)
class Lists:
    """The function of the tasks that recommend: from (user, vector, items to hide) to (user, recommendations)."""

    view: View
    length: int
    item_name: str

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield the best items of the users of every batch."""
        import pyarrow as pa

        codes = item_codes(self.view.folder)
        for batch in grouped(self.view, batches):
            with threads(task_threads()):
                hidden = rows_of(batch.column(2), len(codes)) if batch.num_columns > 2 else None
                positions, scores = best_of(self.view, self.view.rows(batch.column(1)), hidden, self.length)
            found = recommendations(codes, positions, scores, self.item_name)
            yield pa.record_batch([batch.column(0), found], names=["user", "recommendations"])


def grouped(view: View, batches: Batches) -> Iterator[Any]:
    """Yield batches that are not empty; where items are in shards, of up to `GROUP` rows."""
    kept: list[Any] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        kept.append(batch)
        if not view.shards or sum(one.num_rows for one in kept) >= GROUP:
            yield _together(kept)
            kept = []
    if kept:
        yield _together(kept)


def _together(batches: list[Any]) -> Any:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def best_of(view: View, rows: NDArray[np.float32], hidden: CSR | None, length: int) -> Best:
    """Return positions and scores of the best items of users with these factors; short lists end with -1 and NaN."""
    if not view.shards:
        return best(items_of(view), rows, hidden, length)
    found: Best = (np.full((len(rows), 0), -1, np.int64), np.zeros((len(rows), 0), np.float32))
    for number in range(len(view.shards) - 1):
        start, stop = view.shards[number : number + 2]
        part = best(_shard(view, number), rows, None if hidden is None else _between(hidden, start, stop), length)
        positions = np.concatenate((found[0], np.where(part[0] >= 0, part[0] + start, -1)), axis=1)
        scores = np.concatenate((found[1], part[1]), axis=1)
        keys = np.where(positions >= 0, -scores, np.inf)
        order = np.argsort(keys, axis=1, kind="stable")[:, :length]  # of equal scores the item that comes first
        found = np.take_along_axis(positions, order, axis=1), np.take_along_axis(scores, order, axis=1)
    return found


def _between(rows: CSR, start: int, stop: int) -> CSR:
    """The columns of a range, numbered from its beginning."""
    inside = (rows.indices >= start) & (rows.indices < stop)
    ends = np.concatenate(([0], np.cumsum(inside)))[rows.indptr]
    return CSR(ends.astype(np.int64), (rows.indices[inside] - start).astype(np.int32), None, stop - start)


def scores_of(view: View, rows: NDArray[np.float32], positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the score of one item for each row; NaN where the position is -1."""
    if not view.shards:
        return pair_scores(items_of(view), rows, positions)
    scores = np.full(len(rows), np.nan, np.float32)
    for number in range(len(view.shards) - 1):
        start, stop = view.shards[number : number + 2]
        inside = np.flatnonzero((positions >= start) & (positions < stop))
        if len(inside):
            scores[inside] = pair_scores(_shard(view, number), rows[inside], positions[inside] - start)
    return scores
