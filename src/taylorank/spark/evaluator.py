"""An evaluator for CrossValidator: metrics of the whole ranking, from the ranks that `transform` adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import functions as F

from taylorank.errors import DataError, ParameterError
from taylorank.metrics import METRICS, Judged, Wanted, parse_metric
from taylorank.metrics.names import CHOOSING
from taylorank.spark.ids import quoted
from taylorank.spark.params import accessors
from taylorank.spark.session import Batches, map_arrow, to_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@accessors
class RankingEvaluator(Evaluator, DefaultParamsReadable, DefaultParamsWritable):
    """The mean over users of `metricName`, such as "ndcg@10", of what a model with `rankCol` has transformed.

    Every row is a relevant item, its rank that among all items that the user had not in training. Rows without a rank
    are misses; users of whom no row has a prediction are unknown and left out.
    """

    metricName = Param(Params._dummy(), "metricName", "such as ndcg@10", typeConverter=TypeConverters.toString)
    userCol = Param(Params._dummy(), "userCol", "column of user ids", typeConverter=TypeConverters.toString)
    rankCol = Param(Params._dummy(), "rankCol", "column of ranks, from 1", typeConverter=TypeConverters.toString)
    predictionCol = Param(Params._dummy(), "predictionCol", "column of scores", typeConverter=TypeConverters.toString)

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(metricName="ndcg@10", userCol="user", rankCol="rank", predictionCol="prediction")
        self._set(**params)

    def _wanted(self) -> Wanted:
        wanted = parse_metric(self.getOrDefault("metricName"))
        if wanted.name not in CHOOSING or wanted.cutoff is None:
            raise ParameterError(
                f"metricName={self.getOrDefault('metricName')!r} is no metric of ranks",
                f"choose from {', '.join(f'{name}@10' for name in CHOOSING)}",
            )
        return wanted

    def isLargerBetter(self) -> bool:
        """All metrics that choose are better when larger."""
        return True

    def _evaluate(self, dataset: DataFrame) -> float:
        wanted = self._wanted()
        names = [self.getOrDefault(name) for name in ("userCol", "rankCol", "predictionCol")]
        if missing := [name for name in names if name not in dataset.columns]:
            raise DataError(f"there is no column {missing[0]!r}", "set rankCol of the estimator to its name")
        user, rank, score = (F.col(quoted(name)) for name in names)
        known = F.max(F.when(score.isNotNull() & ~F.isnan(score), 1).otherwise(0)) == 1
        by_user = dataset.groupBy(user.alias("user")).agg(
            F.collect_list(rank).alias("ranks"), F.count(F.lit(1)).alias("relevant"), known.alias("known")
        )
        rows = by_user.where("known").select("ranks", "relevant")
        found = to_arrow(map_arrow(rows, RankedUsers(wanted), "total double, users bigint")).to_pydict()
        users = sum(found["users"])
        if not users:
            raise DataError("no user has a prediction", "check that both parts use the same ids")
        return float(sum(found["total"]) / users)


@dataclass(frozen=True)
class RankedUsers:
    """The function of the tasks: sums of one metric over users given by the ranks of their relevant items."""

    wanted: Wanted

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield one row per batch."""
        import pyarrow as pa

        cutoff = self.wanted.cutoff or 1
        for batch in batches:
            ranks = batch.column(0).flatten().to_numpy(zero_copy_only=False)
            owner = np.repeat(np.arange(batch.num_rows), np.diff(batch.column(0).offsets.to_numpy()))
            hits = np.zeros((batch.num_rows, cutoff), dtype=bool, order="F")
            listed = ranks <= cutoff
            hits[owner[listed], ranks[listed].astype(np.int64) - 1] = True
            values = METRICS[self.wanted.name](Judged(hits, batch.column(1).to_numpy()))
            row = [pa.array([values.sum()], pa.float64()), pa.array([batch.num_rows], pa.int64())]
            yield pa.record_batch(row, names=["total", "users"])
