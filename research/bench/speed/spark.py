"""RG² on Spark against MLlib's ALS, on two cores of this machine, each in a process of its own.

Both read the same cached DataFrame after a small fit that warms Java up. A sweep of RG² is one pass of SᵀS over K
columns, the whole work of two half-sweeps; MLlib's iteration is what each further iteration adds to a fit (on the
generated set one fit of one iteration, with its preparation). `recommendForAllUsers(20)` writes its result nowhere;
both rank all items, ours also without those in the user's history, for which MLlib has no option. Memory is the
largest sum of driver, Java and Python workers during the fit. MLlib's alpha and regParam were chosen on a tenth of
Gowalla's training data by solving its loss with ours (alpha 1, 5, 20, 80; regParam .01, .1, 1).

    python -m research.bench spark --json research/records/bench/spark.json
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.speed.process import in_own_process
from research.bench.speed.spark_data import generated
from research.bench.speed.spark_session import PeakMemory, local_session
from research.output import provenance, write_json
from taylorank.data import Interactions, datasets, planted
from taylorank.kernels import ItemVectors
from taylorank.machine import describe_machine
from taylorank.ranking import Ranker, Vectors, evaluate

ALPHA, REG_PARAM, ITERATIONS = 80.0, 1.0, 10
SWEEP_TARGET, LISTS_TARGET = 10.0, 5.0
SUBSET = 10_000  # users of the generated set for whom lists are made
KEPT = Path(tempfile.gettempdir()) / "taylorank-bench-spark"


def run(
    *,
    data: str = "gowalla",
    factors: str = "64,128",
    contenders: str = "ours,mllib",
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Fit and recommend with both; `data` is gowalla, or so many million generated interactions such as 20.

    A record that is there already is gone on with: what it has of other data and ranks stays.
    """
    name, ranks = ("quick", ["4"]) if quick else (data, factors.split(","))
    record: dict[str, Any] = json.loads(file.read_text()) if file is not None and file.exists() else {"results": []}
    for rank in ranks:
        own = [in_own_process(__name__, kind, name, rank) for kind in contenders.split(",")]
        kept = [one for one in record["results"] if (one["data"], one["factors"]) != (name, own[0]["factors"])]
        record = {
            **provenance(command),
            "benchmark": "spark",
            "machine": describe_machine(),
            "results": [*kept, *own],
        }
        if file is not None:
            write_json(file, record)
    return record


def measure(kind: str, data: str, rank: str) -> dict[str, Any]:
    """Measure one contender in this process."""
    session = local_session()
    frame, parts = _data(session, data)
    frame = frame.persist()
    interactions = frame.count()
    one = _Ours(int(rank)) if kind == "ours" else _Mllib(int(rank), whole=parts is not None)
    one.warm(session)
    with PeakMemory() as memory:
        began = time.perf_counter()
        model = one.fit(frame)
        seconds = time.perf_counter() - began
    users = frame.select("user").distinct().limit(SUBSET) if parts is None else None
    lists = _timed(lambda: one.lists(model, users).write.format("noop").mode("overwrite").save())
    return {
        "contender": kind,
        "data": data,
        "factors": int(rank),
        "interactions": interactions,
        "fit_s": round(seconds, 3),
        "memory_mb": round(memory.megabytes),
        "lists_s": round(lists, 3),
        "ndcg@20": None if parts is None else round(one.quality(model, *parts), 5),
        **one.sweep(frame, model),
    }


def _data(session: Any, data: str) -> tuple[Any, tuple[Interactions, Interactions] | None]:
    if data not in ("gowalla", "quick"):
        KEPT.mkdir(exist_ok=True)
        return generated(session, float(data), KEPT), None
    if data == "gowalla":
        train, test = datasets.published_split("gowalla")[:2]
    else:
        train, test = planted(300, 200, interactions=6000).split((0.8, 0.2))
    return session.createDataFrame(train.to_frame("pyarrow").select(["user", "item"])), (train, test)


def _timed(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _small(session: Any) -> Any:
    data = planted(400, 300, interactions=8000, random_state=1)
    return session.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))


class _Ours:
    """`taylorank.spark.RG2` with its defaults."""

    def __init__(self, rank: int) -> None:
        from taylorank.spark import RG2

        self.estimator = RG2(rank=rank)

    def warm(self, session: Any) -> None:
        self.lists(self.estimator.copy({self.estimator.rank: 4}).fit(_small(session)), None).collect()

    def fit(self, frame: Any) -> Any:
        return self.estimator.fit(frame)

    def lists(self, model: Any, users: Any) -> Any:
        return model.recommendForAllUsers(20) if users is None else model.recommendForUserSubset(users, 20)

    def quality(self, model: Any, train: Interactions, test: Interactions) -> float:
        return evaluate(model.to_local(), test, k=20, metrics="ndcg")["ndcg@20"]

    def sweep(self, frame: Any, model: Any) -> dict[str, Any]:
        """Time passes over as many columns as there are factors, on blocks made for it."""
        from taylorank.spark.contexts import context_sums
        from taylorank.spark.estimators import prepared
        from taylorank.spark.normal import ClusterMatrix

        rank = self.estimator.getRank()
        with prepared(self.estimator, frame) as (data, _):
            sums = context_sums(data, 1.2, 0.0)
            root = np.sqrt(np.full(data.n_items, 1 / data.n_items)).astype(np.float32)
            matrix = ClusterMatrix(data, sums.contexts, root)
            rng = np.random.default_rng(0)
            seconds = []
            for _ in range(4):
                X = rng.standard_normal((data.n_items, rank)).astype(np.float32)
                seconds.append(_timed(lambda X=X: matrix.normal(X)))
            data.folder.remove()
        facts = model.facts
        return {
            "sweep_s": round(statistics.median(seconds[1:]), 4),
            "passes": facts["passes"],
            "residual": facts["residual"],
            "pass_s": round(statistics.median(facts["pass_seconds"]), 4),
        }


class _Mllib:
    """`pyspark.ml.recommendation.ALS` for implicit feedback."""

    def __init__(self, rank: int, *, whole: bool) -> None:
        from pyspark.ml.recommendation import ALS

        self.whole = whole
        self.iterations = ITERATIONS if whole else 1
        self.estimator = ALS(
            rank=rank, maxIter=self.iterations, implicitPrefs=True, alpha=ALPHA, regParam=REG_PARAM, seed=0,
            userCol="user", itemCol="item", ratingCol="rating",
        )  # fmt: skip

    def warm(self, session: Any) -> None:
        fitted = self._with(1).copy({self.estimator.rank: 4}).fit(self._rated(_small(session)))
        self.lists(fitted, None).collect()

    def _with(self, iterations: int) -> Any:
        return self.estimator.copy({self.estimator.maxIter: iterations})

    def _rated(self, frame: Any) -> Any:
        from pyspark.sql import functions as F

        return frame.select(
            F.col("user").cast("int"), F.col("item").cast("int"), F.lit(1.0).cast("float").alias("rating")
        )

    def fit(self, frame: Any) -> Any:
        began = time.perf_counter()
        model = self.estimator.fit(self._rated(frame))
        model.userFactors.count()
        self.seconds = time.perf_counter() - began
        return model

    def lists(self, model: Any, users: Any) -> Any:
        return model.recommendForAllUsers(20) if users is None else model.recommendForUserSubset(users, 20)

    def quality(self, model: Any, train: Interactions, test: Interactions) -> float:
        sides = []
        for ids, factors in ((train.users, model.userFactors), (train.items, model.itemFactors)):
            table = factors.toArrow()
            rows = np.zeros((len(ids), self.estimator.getRank()), np.float32)
            values = table["features"].combine_chunks().flatten().to_numpy()
            rows[ids.positions(table["id"].to_numpy())] = values.reshape(len(table), -1)
            sides.append(rows)
        ranker = Ranker(train.users, train.items, train, vectors=Vectors(sides[0], ItemVectors(sides[1])))
        return evaluate(ranker, test, k=20, metrics="ndcg")["ndcg@20"]

    def sweep(self, frame: Any, model: Any) -> dict[str, Any]:
        """What each further iteration adds to a fit of one; on large data that fit is all there is time for."""
        if not self.whole:
            return {"iterations": self.iterations}
        one = _timed(lambda: self._with(1).fit(self._rated(frame)).userFactors.count())
        return {"sweep_s": round((self.seconds - one) / (self.iterations - 1), 4), "iterations": self.iterations}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for ours in (one for one in record["results"] if one["contender"] == "ours"):
        same = [
            one
            for one in record["results"]
            if one["contender"] == "mllib" and (one["factors"], one["data"]) == (ours["factors"], ours["data"])
        ]
        lines += _words(ours, same[0]) if same else [_alone(ours)]
    return lines


def _name(one: dict[str, Any]) -> str:
    data = "Gowalla" if one["data"] == "gowalla" else f"generated, {one['interactions'] / 1e6:.0f} M"
    return f"{data}, K = {one['factors']}"


def _alone(ours: dict[str, Any]) -> str:
    quality = "" if ours["ndcg@20"] is None else f", NDCG@20 {ours['ndcg@20']:.4f}"
    return (
        f"{_name(ours)}, RG² alone: a sweep {ours['sweep_s']:.2f} s, a fit {ours['fit_s']:.1f} s ({ours['passes']} "
        f"passes){quality}, lists of 20 {ours['lists_s']:.1f} s, peak memory {ours['memory_mb']:,} MB"
    )


def _words(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    head = _name(ours)
    sweep = theirs.get("sweep_s") or theirs["fit_s"]
    what = "iteration" if "sweep_s" in theirs else "fit of one iteration"
    ratio, lists = sweep / ours["sweep_s"], theirs["lists_s"] / ours["lists_s"]
    kept = "kept" if ratio >= SWEEP_TARGET else "MISSED"
    quality = ""
    if ours["ndcg@20"] is not None:
        quality = (
            f", NDCG@20 {ours['ndcg@20']:.4f}; MLlib {theirs['ndcg@20']:.4f} after {theirs['iterations']} iterations"
        )
    who = "all users" if ours["ndcg@20"] is not None else f"{SUBSET:,} users"
    return [
        f"{head}: a sweep {ours['sweep_s']:.2f} s, MLlib's {what} {sweep:.1f} s, {ratio:.0f} times ours (target "
        f"{SWEEP_TARGET:g}: {kept})",
        f"{head}: a fit {ours['fit_s']:.1f} s ({ours['passes']} passes){quality} in {theirs['fit_s']:.1f} s",
        f"{head}: lists of 20 for {who} {ours['lists_s']:.1f} s, MLlib {theirs['lists_s']:.1f} s, {lists:.0f} times "
        f"ours (target {LISTS_TARGET:g}: {'kept' if lists >= LISTS_TARGET else 'MISSED'})",
        f"{head}: peak memory of the fit {ours['memory_mb']:,} MB, MLlib {theirs['memory_mb']:,} MB",
    ]
