"""`transform`: the score of every (user, item) row and, if asked for, the rank of the item in the user's whole list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import functions as F
from pyspark.sql.types import FloatType, IntegerType, StructType

from taylorank.errors import DataError
from taylorank.kernels.thread_limit import threads
from taylorank.spark.blocks import item_codes
from taylorank.spark.frames import coded
from taylorank.spark.scoring import View
from taylorank.spark.session import Batches, map_arrow, task_threads
from taylorank.spark.sharded_lists import best_of, scores_of
from taylorank.spark.users import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CODES = ("__taylorank_user", "__taylorank_item")
USER = "__taylorank_vectors"
PLACES = ("prediction", "rank")  # of the added columns until all have their names again


@dataclass(frozen=True)
class PairScores:
    """Adds `predictionCol` and `rankCol` to a DataFrame for a model."""

    model: Any

    def of(self, dataset: DataFrame) -> DataFrame:
        """Return `dataset` with the columns added; every other column stays as it is, whatever its name and type."""
        model, added = self.model, self._added()
        for name in added:
            if name in dataset.columns:
                raise DataError(f"there is a column {name!r} already", "drop it, or set another name")
        numbered = dataset.toDF(*(f"c{number}" for number in range(len(dataset.columns))))
        schema = StructType([*numbered.schema.fields])
        for place, kind in zip(PLACES, added.values(), strict=False):
            schema = schema.add(place, kind)
        task = Scored(model.view(), len(dataset.columns), self._limit, PLACES[: len(added)])
        scored = map_arrow(self._with_vectors(dataset, numbered), task, schema)
        if model.value("coldStartStrategy") == "drop":
            scored = scored.where(~F.isnan(PLACES[0]))
        return scored.toDF(*dataset.columns, *added)

    @property
    def _limit(self) -> int:
        return self.model.value("rankLimit") if self.model.value("rankCol") else 0

    def _added(self) -> dict[str, Any]:
        """The columns that are added, with their types."""
        prediction, rank = self.model.value("predictionCol"), self.model.value("rankCol")
        return {prediction: FloatType(), **({rank: IntegerType()} if rank else {})}

    def _with_vectors(self, dataset: DataFrame, numbered: DataFrame) -> DataFrame:
        """`numbered`, then the item code, the user code, vector and seen items, null for unknown users."""
        model = self.model
        user_type, item_type = model.files.user_type, model.files.item_type
        names, ids = dict(zip(reversed(dataset.columns), reversed(numbered.columns), strict=True)), []
        for column, kind, code in (("userCol", user_type, CODES[0]), ("itemCol", item_type, CODES[1])):
            named = model.value(column)
            ids.append(coded(dataset, named, kind, code, alias=names.get(named, "")))
        users = model.files.users(dataset.sparkSession).select(F.col("user").alias(USER), "vector", "items")
        given = numbered.select("*", *ids)
        joined = given.join(users, F.col(CODES[0]) == F.col(USER), "left")
        return joined.select(*numbered.columns, CODES[1], CODES[0], "vector", *(["items"] if self._limit else []))


@dataclass(frozen=True)
class Scored:
    """The function of the tasks: the first `kept` columns stay, those that follow are what `_with_vectors` adds."""

    view: View
    kept: int
    limit: int
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield the batches with scores, and ranks if `limit` is not 0."""
        import pyarrow as pa
        import pyarrow.compute as pc

        codes = item_codes(self.view.folder)
        for batch in batches:
            item, user, vector = (batch.column(self.kept + place) for place in range(3))
            positions = pc.fill_null(pc.index_in(item, value_set=codes), -1).to_numpy().astype(np.int64)
            known = pc.is_valid(vector).to_numpy(zero_copy_only=False)
            scores = np.full(batch.num_rows, np.nan, np.float32)
            scores[known] = scores_of(self.view, self.view.rows(vector.filter(pa.array(known))), positions[known])
            added = [pa.array(scores)]
            if self.limit:
                added.append(self._ranks(batch, user, positions, ~np.isnan(scores), len(codes)))
            names = [*batch.schema.names[: self.kept], *self.names]
            yield pa.record_batch([*batch.columns[: self.kept], *added], names=names)

    def _ranks(self, batch: Any, user: Any, positions: Any, known: Any, n_items: int) -> Any:
        """The rank of each row's item in the list of its user, from 1; null beyond the limit."""
        import pyarrow as pa

        rows = np.flatnonzero(known)
        if not len(rows):
            return pa.nulls(batch.num_rows, pa.int32())
        codes = user.take(pa.array(rows)).dictionary_encode()
        owner = codes.indices.to_numpy()
        first = rows[np.unique(owner, return_index=True)[1]]  # one row of each user, in the order of its code
        chosen = batch.take(pa.array(first))
        with threads(task_threads()):
            hidden = rows_of(chosen.column(self.kept + 3), n_items)
            listed, _ = best_of(self.view, self.view.rows(chosen.column(self.kept + 2)), hidden, self.limit)
        hits = listed[owner] == positions[rows, None]
        ranks = np.zeros(batch.num_rows, np.int32)
        ranks[rows] = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)
        return pa.array(ranks, mask=ranks == 0)
