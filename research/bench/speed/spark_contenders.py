"""RG² and MLlib's ALS on Spark, behind the same few calls; `spark_choice` chooses their parameters."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.speed.spark_events import half_iterations
from taylorank.data import Interactions, planted
from taylorank.kernels import ItemVectors
from taylorank.ranking import Ranker, Vectors, evaluate


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def small(session: Any) -> Any:
    """Return data for a fit that warms Java up."""
    data = planted(400, 300, interactions=8000, random_state=1)
    return session.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))


class Ours:
    """`taylorank.spark.RG2`; what `settings` do not set is its default."""

    def __init__(self, rank: int, settings: dict[str, Any]) -> None:
        from taylorank.spark import RG2

        self.rank, self.estimator = rank, RG2(**settings)
        if rank:
            self.estimator._set(rank=rank)

    def warm(self, session: Any) -> None:
        """Fit and recommend once."""
        self.lists(self.estimator.copy({self.estimator.rank: 4}).fit(small(session))).collect()

    def fit(self, frame: Any) -> Any:
        """Return a model; a rank that was not given is the default for the data."""
        model = self.estimator.fit(frame)
        self.rank = model.getRank()
        return model

    def lists(self, model: Any) -> Any:
        """Lists of 20 without the history."""
        return model.recommendForAllUsers(20)

    def quality(self, model: Any, train: Interactions, test: Interactions) -> float:
        """NDCG@20."""
        return float(evaluate(model.to_local(), test, k=20, metrics="ndcg")["ndcg@20"])

    def sweep(self, frame: Any, model: Any) -> dict[str, Any]:
        """Time passes over as many columns as there are factors, on blocks made for it."""
        from taylorank.spark.contexts import context_sums
        from taylorank.spark.estimators import prepared
        from taylorank.spark.normal import ClusterMatrix

        with prepared(self.estimator, frame) as (data, _):
            sums = context_sums(data, 1.2, 0.0)
            root = np.sqrt(np.full(data.n_items, 1 / data.n_items)).astype(np.float32)
            matrix = ClusterMatrix(data, sums.contexts, root)
            rng = np.random.default_rng(0)
            seconds = []
            for _ in range(4):
                X = rng.standard_normal((data.n_items, self.rank)).astype(np.float32)
                seconds.append(timed(partial(matrix.normal, X)))
            data.folder.remove()
        facts = model.facts
        return {
            "sweep_s": round(statistics.median(seconds[1:]), 4),
            "passes": facts["passes"],
            "residual": facts["residual"],
            "read_s": round(facts["prepare_seconds"], 3),
            "pass_s": round(statistics.median(facts["pass_seconds"]), 4),
            "settings": {"regParam": model.getRegParam()},
        }


class Mllib:
    """`pyspark.ml.recommendation.ALS` for implicit feedback."""

    def __init__(self, rank: int, settings: dict[str, Any], *, iterations: int, log: Path | None = None) -> None:
        from pyspark.ml.recommendation import ALS

        self.rank, self.settings, self.iterations, self.log = rank, settings, iterations, log
        self.estimator = ALS(
            rank=rank, maxIter=iterations, implicitPrefs=True, seed=0,
            userCol="user", itemCol="item", ratingCol="rating", **settings,
        )  # fmt: skip

    def warm(self, session: Any) -> None:
        """Fit and recommend once."""
        quick = {self.estimator.rank: 4, self.estimator.maxIter: 1}
        self.lists(self.estimator.copy(quick).fit(self._rated(small(session)))).collect()

    def _rated(self, frame: Any) -> Any:
        from pyspark.sql import functions as F

        return frame.select(
            F.col("user").cast("int"), F.col("item").cast("int"), F.lit(1.0).cast("float").alias("rating")
        )

    def fit(self, frame: Any) -> Any:
        """Return a model whose factors are there."""
        self.began = time.time()
        model = self.estimator.fit(self._rated(frame))
        model.userFactors.count()
        self.ended = time.time()
        return model

    def lists(self, model: Any) -> Any:
        """Lists of 20 of all items."""
        return model.recommendForAllUsers(20)

    def quality(self, model: Any, train: Interactions, test: Interactions) -> float:
        """NDCG@20, the history left out."""
        sides = []
        for ids, factors in ((train.users, model.userFactors), (train.items, model.itemFactors)):
            table = factors.toArrow()
            rows = np.zeros((len(ids), self.rank), np.float32)
            values = table["features"].combine_chunks().flatten().to_numpy()
            rows[ids.positions(table["id"].to_numpy())] = values.reshape(len(table), -1)
            sides.append(rows)
        ranker = Ranker(train.users, train.items, train, vectors=Vectors(sides[0], ItemVectors(sides[1])))
        return float(evaluate(ranker, test, k=20, metrics="ndcg")["ndcg@20"])

    def sweep(self, frame: Any, model: Any) -> dict[str, Any]:
        """Seconds of an iteration, from the event log: from the Gram matrix before it to the one after it.

        The last iteration ends with the fit. What comes before the first, the ratings in blocks, is not part of it.
        """
        ends = [] if self.log is None else half_iterations(self.log, self.began)
        marks = [*ends[::2], self.ended]
        seconds = np.diff(marks) if len(ends) == 2 * self.iterations else np.array([self.ended - self.began])
        return {
            "sweep_s": round(float(np.median(seconds)), 4),
            "iterations": self.iterations,
            "half_iterations_seen": len(ends),
            "settings": self.settings,
        }
