"""The best users of items: every task ranks its users for all items, and lists of the same item are merged.

score_xy = a_y (P_x · Q_y) + b_y, so for one item the order of users is that of P_x · Q_y (a_y > 0). A task holds k
users per item beside one batch of users, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as F

from taylorank.kernels import ItemVectors, top_k
from taylorank.kernels.thread_limit import threads
from taylorank.spark.ids import quoted
from taylorank.spark.scoring import Items, View, items_of, recommendations
from taylorank.spark.session import Batches, map_arrow, task_threads
from taylorank.spark.users import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 4096  # items ranked at a time
Best = tuple[NDArray[np.int64], NDArray[np.float32]]


def best_users(model: Any, length: int, users: DataFrame, wanted: tuple[int, ...] | None) -> DataFrame:
    """Return `itemCol`, `recommendations` of (`userCol`, rating) for the wanted positions (None: all)."""
    from taylorank.spark.model import _check_length

    _check_length(length)
    user_type, item_type = model.files.user_type, model.files.item_type
    name, key = model.value("userCol"), model.value("itemCol")
    pair = f"struct<{quoted(name)}: {user_type.code_type}, rating: float>"
    parts = map_arrow(
        users,
        UserLists(model.view(), length, name, wanted),
        f"item {item_type.code_type}, recommendations array<{pair}>",
    )
    merged = parts.groupBy("item").agg(F.flatten(F.collect_list("recommendations")).alias("pairs"))
    ordered = F.array_sort(F.transform("pairs", lambda p: F.struct((-p["rating"]).alias("low"), p[name].alias("id"))))
    lists = F.transform(
        F.slice(ordered, 1, length),
        lambda p: F.struct(user_type.decoded(p["id"]).alias(name), (-p["low"]).alias("rating")),
    )
    return merged.select(item_type.decoded(F.col("item")).alias(key), lists.alias("recommendations"))


@dataclass(frozen=True)
class UserLists:
    """The function of the tasks: from (user, vector, items to hide) to the best users of each item among these."""

    view: View
    length: int
    name: str
    wanted: tuple[int, ...] | None

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield one row per item that has users."""
        import pyarrow as pa

        items = items_of(self.view)
        chosen = np.arange(len(items.vectors)) if self.wanted is None else np.array(self.wanted, dtype=np.int64)
        if items.allowed is not None:
            chosen = chosen[items.allowed[chosen]]
        codes: list[Any] = []
        best: Best = (np.full((len(chosen), 0), -1, np.int64), np.zeros((len(chosen), 0), np.float32))
        for batch in batches:
            if not batch.num_rows or not len(chosen):
                continue
            first = sum(len(part) for part in codes)
            codes.append(batch.column(0))
            with threads(task_threads()):
                best = self._merged(best, self._batch(batch, items, chosen), first)
        if not codes:
            return
        known = pa.chunked_array(codes).combine_chunks()
        for start in range(0, len(chosen), ROWS):
            part = slice(start, start + ROWS)
            lists = recommendations(known, best[0][part], self._scores(items, chosen[part], best[1][part]), self.name)
            yield pa.record_batch([items.codes.take(pa.array(chosen[part])), lists], names=["item", "recommendations"])

    def _batch(self, batch: Any, items: Items, chosen: NDArray[np.int64]) -> Best:
        """Positions in the batch and products of the best users of each chosen item."""
        users = ItemVectors(self.view.rows(batch.column(1)))
        hidden = None
        if batch.num_columns > 2:
            by_item = rows_of(batch.column(2), len(items.vectors)).transpose()
            hidden = by_item.to_scipy()
        found = [
            self._strip(users, items, chosen[start : start + ROWS], hidden) for start in range(0, len(chosen), ROWS)
        ]
        return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found])

    def _strip(self, users: ItemVectors, items: Items, chosen: NDArray[np.int64], hidden: Any) -> Best:
        from taylorank.data import CSR

        rows = None
        if hidden is not None:
            part = hidden[chosen]
            rows = CSR(part.indptr.astype(np.int64), part.indices.astype(np.int32), None, len(users))
        return top_k(items.vectors.factors[chosen], users, k=min(self.length, len(users)), seen=rows)

    def _merged(self, before: Best, now: Best, first: int) -> Best:
        """The best of two lists; of equal products the user who came first."""
        positions = np.concatenate((before[0], np.where(now[0] >= 0, now[0] + first, -1)), axis=1)
        products = np.concatenate((before[1], now[1]), axis=1)
        order = np.argsort(np.where(positions >= 0, -products, np.inf), axis=1, kind="stable")[:, : self.length]
        return np.take_along_axis(positions, order, axis=1), np.take_along_axis(products, order, axis=1)

    def _scores(self, items: Items, chosen: NDArray[np.int64], products: NDArray[np.float32]) -> NDArray[np.float32]:
        scores = products if items.scales is None else products * items.scales[chosen, None]
        return scores if items.offsets is None else scores + items.offsets[chosen, None]
