"""Full-ranking evaluation on the cluster: every task ranks its users and sums the metrics of `taylorank.metrics`.

Several views of one model, such as the (K, λ) of its path, are evaluated in one job: users and test items are read
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as F

from taylorank.data import CSR, Ids, Interactions
from taylorank.errors import DataError, DataWarning, LeakageWarning, ParameterError, warn_caller
from taylorank.kernels.thread_limit import threads
from taylorank.metrics import CALIBRATION, CATALOGUE_METRICS, DEFAULT, GAINS, Gain, Wanted, gain_of, wanted_metrics
from taylorank.ranking import Ranker, Vectors
from taylorank.ranking.accumulators import Accumulator, Block, Task, accumulators_for
from taylorank.ranking.evaluated import EvaluatedUsers, Evaluation
from taylorank.ranking.lists import best_items
from taylorank.ranking.masks import Hidden
from taylorank.ranking.relevance import Relevance
from taylorank.ranking.rows import common
from taylorank.spark.frames import Positions, coded, hidden_items
from taylorank.spark.ids import quoted
from taylorank.spark.scoring import Items, View, items_of
from taylorank.spark.session import Batches, map_arrow, task_threads, to_arrow
from taylorank.spark.users import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SUMS = "view int, name string, total double, weight double, shown binary"
USERS, UNKNOWN, UNKNOWN_ITEMS, HIDDEN_ITEMS = "#users", "#unknown users", "#unknown items", "#hidden items"


def evaluate(
    model: Any,
    test: DataFrame,
    *,
    k: int | Sequence[int] = (10, 20),
    seen: Any = "train",
    metrics: str | Sequence[str] = DEFAULT,
    gain: Gain = "binary",
    strengthCol: str = "",
) -> Evaluation:
    """Return the mean of each metric over the users of `test` whom the model knows: {"ndcg@10": …, …}.

    All items are ranked but those in `seen`: the training data, a DataFrame of `userCol` and `itemCol`, or None for
    none of them. Test items that the model does not know, or that are in `seen`, count as misses. `gain` and
    `strengthCol` are for graded NDCG, as in `taylorank.evaluate`, which has the same metrics but for ece.
    """
    return evaluate_views(
        model, [model.view()], test, k=k, seen=seen, metrics=metrics, gain=gain, strengthCol=strengthCol
    )[0]


def evaluate_views(
    model: Any,
    views: Sequence[View],
    test: DataFrame,
    *,
    k: int | Sequence[int],
    seen: Any = "train",
    metrics: str | Sequence[str] = DEFAULT,
    gain: Gain = "binary",
    strengthCol: str = "",
) -> list[Evaluation]:
    """Return the metrics of every view, from one job."""
    wanted = wanted_metrics(metrics, k)
    if any(w.name in CALIBRATION for w in wanted):
        raise ParameterError("calibration is measured on one machine", "evaluate model.to_local()")
    if gain not in GAINS:
        raise ParameterError(f"gain={gain!r} is unknown", f"choose from {', '.join(GAINS)}")
    users = hidden_items(model, model.files.users(test.sparkSession), seen)
    relevant = relevant_items(model, test, strengthCol)
    both = relevant.join(users, "user", "left").select("relevant", *users.columns[1:])
    task = EvaluationTask(tuple(views), wanted, gain)
    found = to_arrow(map_arrow(both, task, SUMS)).to_pylist()
    return [_evaluation([row for row in found if row["view"] == number], wanted) for number in range(len(views))]


def relevant_items(model: Any, test: DataFrame, strength: str) -> DataFrame:
    """Return `user` and `relevant`: (position, strength) of each of their items, -1 for unknown items."""
    files = model.files
    pairs = test.select(
        coded(test, model.value("userCol"), files.user_type, "user"),
        coded(test, model.value("itemCol"), files.item_type, "item"),
        (F.col(quoted(strength)).cast("double") if strength else F.lit(1.0)).alias("strength"),
    ).where(F.col("user").isNotNull() & F.col("item").isNotNull())
    once = pairs.groupBy("user", "item").agg(F.max("strength").alias("strength"))
    schema = f"user {files.user_type.code_type}, position int, strength double"
    placed = map_arrow(once, Positions(files.folder, keep_unknown=True), schema)
    listed = F.array_sort(F.collect_list(F.struct(F.coalesce("position", F.lit(-1)).alias("position"), "strength")))
    return placed.groupBy("user").agg(listed.alias("relevant"))


def _evaluation(rows: list[dict[str, Any]], wanted: Sequence[Wanted]) -> Evaluation:
    """Put the sums of all tasks together; warn as an evaluation on one machine does."""
    totals: dict[str, list[float]] = {}
    shown: dict[str, NDArray[np.int64]] = {}
    for row in rows:
        total = totals.setdefault(row["name"], [0.0, 0.0])
        total[0] += row["total"]
        total[1] += row["weight"]
        if row["shown"] is not None:
            shown[row["name"]] = shown.get(row["name"], 0) + np.frombuffer(row["shown"], np.int64)
    count = {name: int(totals.get(name, [0])[0]) for name in (USERS, UNKNOWN, UNKNOWN_ITEMS, HIDDEN_ITEMS)}
    if not count[USERS]:
        cause = "the model knows none of the test users" if count[UNKNOWN] else "the test data has no interactions"
        raise DataError(cause, "check that both use the same ids")
    if count[UNKNOWN]:
        warn_caller(f"{count[UNKNOWN]:,} test users are unknown to the model and left out", DataWarning)
    if count[HIDDEN_ITEMS]:
        warn_caller(
            f"{count[HIDDEN_ITEMS]:,} test pairs were seen before (they are in `seen`, the training data by default): "
            "hidden from the ranking, they count as misses",
            LeakageWarning,
        )
    means = {}
    for w in wanted:
        if w.name in CATALOGUE_METRICS:
            means[str(w)] = CATALOGUE_METRICS[w.name](shown[str(w)])
        else:
            of_all, weights = totals[str(w)]
            means[str(w)] = of_all / weights if weights else float("nan")
    users = EvaluatedUsers(count[USERS], 0, count[UNKNOWN], count[UNKNOWN_ITEMS], count[HIDDEN_ITEMS])
    return Evaluation(means, users=users)


@dataclass(frozen=True)
class EvaluationTask:
    """The function of the tasks: from (relevant, vector, items to hide) to sums of metrics."""

    views: tuple[View, ...]
    wanted: tuple[Wanted, ...]
    gain: Gain

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield one row per view and metric."""
        sums = [Sums() for _ in self.views]
        for batch in batches:
            known = batch.column(1).is_valid()
            unknown = batch.num_rows - int(np.count_nonzero(known.to_numpy(zero_copy_only=False)))
            users = batch.filter(known)
            for view, total in zip(self.views, sums, strict=True):
                total.add(UNKNOWN, unknown)
                if users.num_rows:
                    with threads(task_threads()):
                        self._add(total, users, view)
        for number, total in enumerate(sums):
            yield total.to_batch(number)

    def _add(self, sums: Sums, users: Any, view: View) -> None:
        items = items_of(view)
        truth = self._truth(users.column(0), len(items.vectors))
        ranker = _ranker(view, items, users)
        hidden = Hidden(ranker, [ranker.seen] if users.num_columns > 2 else [])
        accumulators = accumulators_for(self.wanted, Task(ranker, truth, hidden, items.counts))
        length = max((w.cutoff or 0 for w in self.wanted), default=0)
        positions = np.arange(users.num_rows)
        listed = (
            best_items(ranker, hidden)[0](positions, length)[0] if length else np.empty((len(positions), 0), np.int64)
        )
        block = slice(0, users.num_rows)
        for accumulator in accumulators:
            accumulator.add(Block(block, listed, truth.judge(block, listed, length)))
            sums.take(accumulator)
        sums.add(USERS, users.num_rows)
        sums.add(UNKNOWN_ITEMS, truth.unknown_items)
        sums.add(HIDDEN_ITEMS, common(truth.rows, ranker.seen.by_user) if users.num_columns > 2 else 0)

    def _truth(self, column: Any, n_items: int) -> Relevance:
        """The test items of a batch of users; items that the model does not know stay in the counts and the ideal."""
        lengths = np.diff(column.offsets.to_numpy())
        pairs = column.flatten()
        positions = pairs.field("position").to_numpy(zero_copy_only=False)
        gains = gain_of(pairs.field("strength").to_numpy(zero_copy_only=False), self.gain)
        owner = np.repeat(np.arange(len(column)), lengths)
        known = positions >= 0
        ends = np.concatenate(([0], np.cumsum(np.bincount(owner[known], minlength=len(column)))))
        graded = self.gain != "binary"
        rows = CSR(ends, positions[known].astype(np.int32), gains[known] if graded else None, n_items)
        ideal = None
        if graded:
            order = np.lexsort((-gains, owner))
            ideal = CSR(np.concatenate(([0], np.cumsum(lengths))), positions.astype(np.int32), gains[order], n_items)
        return Relevance(np.arange(len(column)), rows, lengths.astype(np.int64), ideal, 0, 0)


def _ranker(view: View, items: Items, users: Any) -> Ranker:
    """A model of the users of one batch, numbered from 0."""
    n_users, n_items = users.num_rows, len(items.vectors)
    empty = CSR(np.zeros(n_users + 1, np.int64), np.zeros(0, np.int32), None, n_items)
    rows = rows_of(users.column(2), n_items) if users.num_columns > 2 else empty
    ids = Ids(np.arange(n_users)), Ids(np.arange(n_items))
    vectors = Vectors(view.rows(users.column(1)), items.vectors, scales=items.scales, offsets=items.offsets)
    seen = Interactions(rows, *ids)
    return Ranker(*ids, seen, vectors=vectors, popularity=items.popularity, rankable=items.allowed)


class Sums:
    """Running sums of one view: of values times weights, of weights, and of lists that show each item."""

    def __init__(self) -> None:
        self.totals: dict[str, list[float]] = {}
        self.shown: dict[str, NDArray[np.int64]] = {}

    def add(self, name: str, total: float, weight: float = 0.0) -> None:
        """Add to one sum."""
        kept = self.totals.setdefault(name, [0.0, 0.0])
        kept[0] += float(total)
        kept[1] += float(weight)

    def take(self, accumulator: Accumulator) -> None:
        """Add what an accumulator found; values that are not defined for a user are left out of the mean."""
        for name, values in accumulator.values.items():
            defined = ~np.isnan(values)
            weights = accumulator.weights.get(name, np.ones(len(values)))[defined]
            self.add(name, float(values[defined] @ weights), float(weights.sum()))
        for w in getattr(accumulator, "wanted", ()):
            if w.name in CATALOGUE_METRICS:
                counts: Any = accumulator
                self.shown[str(w)] = self.shown.get(str(w), 0) + counts.shown[w.cutoff]

    def to_batch(self, view: int) -> Any:
        """Return the sums as rows."""
        import pyarrow as pa

        names = [*self.totals, *self.shown]
        pairs = [self.totals.get(name, [0.0, 0.0]) for name in names]
        shown = [self.shown[name].astype(np.int64).tobytes() if name in self.shown else None for name in names]
        return pa.record_batch(
            [
                pa.array([view] * len(names), pa.int32()),
                pa.array(names, pa.string()),
                pa.array([pair[0] for pair in pairs], pa.float64()),
                pa.array([pair[1] for pair in pairs], pa.float64()),
                pa.array(shown, pa.binary()),
            ],
            names=["view", "name", "total", "weight", "shown"],
        )
