"""The running sums of an evaluation: each takes block after block of users and keeps one kind of metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.metrics import (
    CALIBRATION,
    CATALOGUE_METRICS,
    METRICS,
    WEIGHTS,
    Judged,
    Wanted,
    auc,
    calibration_error,
    listed_probability,
    weighted_mean,
)
from taylorank.ranking.lists import ranked_scores, users_per_block
from taylorank.ranking.masks import Hidden, PartRows, dense_block, hide
from taylorank.ranking.ranker import Ranker
from taylorank.ranking.relevance import Relevance
from taylorank.ranking.rows import take_rows

Values = NDArray[np.float64]
NEED_ITEM_COUNTS = ("novelty", "popularity")  # metrics that need how often an item occurs in training


@dataclass(frozen=True)
class Task:
    """What is evaluated on what: the same for all blocks.

    `counts` is the data that item popularity is counted in, or how often each item occurs there, (N,).
    """

    ranker: Ranker
    truth: Relevance
    hidden: Hidden
    counts: Interactions | Values


@dataclass(frozen=True)
class Block:
    """Some of the users, their lists (B, ≤ k) of item positions, padded with -1, and which of them are relevant."""

    users: slice
    ranked: NDArray[np.int64]
    judged: Judged


class Accumulator(Protocol):
    """One kind of metric: `values` and `weights` hold (users,) arrays by metric; empty if there are none per user."""

    values: dict[str, Values]
    weights: dict[str, Values]

    def add(self, block: Block) -> None:
        """Add the next users."""
        ...

    def results(self) -> dict[str, float]:
        """Return the metrics over all users."""
        ...


def accumulators_for(wanted: Sequence[Wanted], task: Task) -> list[Accumulator]:
    """Return the accumulators that these metrics need."""
    kinds: list[tuple[Callable[[Sequence[Wanted], Task], Accumulator], Sequence[str]]] = [
        (ListAccumulator, [*METRICS]),
        (CatalogueAccumulator, [*CATALOGUE_METRICS]),
        (AucAccumulator, ["auc"]),
        (CalibrationAccumulator, [*CALIBRATION]),
    ]
    chosen = [(kind, [w for w in wanted if w.name in names]) for kind, names in kinds]
    return [kind(own, task) for kind, own in chosen if own]


class ListAccumulator:
    """Metrics of each user's list; the result is their mean."""

    def __init__(self, wanted: Sequence[Wanted], task: Task) -> None:
        n_users = len(task.truth.users)
        self.wanted = wanted
        self.values = {str(w): np.empty(n_users) for w in wanted}
        self.weights = {str(w): np.empty(n_users) for w in wanted if w.name in WEIGHTS}
        self.item_counts = _item_counts(task) if any(w.name in NEED_ITEM_COUNTS for w in wanted) else None

    def add(self, block: Block) -> None:
        """Add the next users."""
        judged = block.judged
        if self.item_counts is not None:
            judged = self._with_counts(judged, block.ranked)
        for w in self.wanted:
            first = judged.at(w.cutoff or 0)
            self.values[str(w)][block.users] = METRICS[w.name](first)
            if w.name in WEIGHTS:
                self.weights[str(w)][block.users] = WEIGHTS[w.name](first)

    def _with_counts(self, judged: Judged, ranked: NDArray[np.int64]) -> Judged:
        assert self.item_counts is not None
        counts = np.full(judged.hits.shape, np.nan)
        there = ranked >= 0
        counts[:, : ranked.shape[1]][there] = self.item_counts[ranked[there]]
        return replace(judged, counts=counts, total=float(self.item_counts.sum()))

    def results(self) -> dict[str, float]:
        """Return the means."""
        return {name: weighted_mean(values, self.weights.get(name)) for name, values in self.values.items()}


class CatalogueAccumulator:
    """Metrics of all lists together, without values per user."""

    def __init__(self, wanted: Sequence[Wanted], task: Task) -> None:
        self.wanted = wanted
        self.values: dict[str, Values] = {}
        self.weights: dict[str, Values] = {}
        self.shown = {w.cutoff: np.zeros(len(task.ranker.items), dtype=np.int64) for w in wanted}

    def add(self, block: Block) -> None:
        """Count the lists that show each item."""
        for cutoff, shown in self.shown.items():
            columns = block.ranked[:, :cutoff]
            shown += np.bincount(columns[columns >= 0], minlength=len(shown))

    def results(self) -> dict[str, float]:
        """Return the metrics of the counts."""
        return {str(w): CATALOGUE_METRICS[w.name](self.shown[w.cutoff]) for w in self.wanted}


class AucAccumulator:
    """AUC over all candidates of each user, from rows of scores held for a few users at a time."""

    def __init__(self, wanted: Sequence[Wanted], task: Task) -> None:
        self.task = task
        self.scores_of = ranked_scores(task.ranker, task.hidden)
        self.values = {str(w): np.empty(len(task.truth.users)) for w in wanted}
        self.weights: dict[str, Values] = {}

    def add(self, block: Block) -> None:
        """Add the next users."""
        truth = self.task.truth
        for part in _parts(block.users, users_per_block(self.task.ranker)):
            relevant = take_rows(truth.rows, np.arange(part.start, part.stop))
            self.values["auc"][part] = auc(self.scores_of(truth.users[part]), relevant, of=truth.counts[part])

    def results(self) -> dict[str, float]:
        """Return the mean."""
        return {name: weighted_mean(values) for name, values in self.values.items()}


class CalibrationAccumulator:
    """Stated probabilities of the items in the lists, against whether they are in the test row.

    A model states p(y | x), which sums to 1 over the items. Negative ones count as 0, seen items are taken out and
    the rest is brought back to a sum of 1; of a row of n test items, y is one with probability 1 − (1 − p)^n.
    """

    def __init__(self, wanted: Sequence[Wanted], task: Task) -> None:
        self.wanted, self.task = wanted, task
        self.values: dict[str, Values] = {}
        self.weights: dict[str, Values] = {}
        task.ranker.check_probabilities()
        length = max(w.cutoff or 0 for w in wanted)
        self.predicted = np.full((len(task.truth.users), length), np.nan)
        self.outcome = np.zeros(self.predicted.shape, dtype=bool)

    def add(self, block: Block) -> None:
        """Add the next users."""
        truth, length = self.task.truth, self.predicted.shape[1]
        for part in _parts(block.users, users_per_block(self.task.ranker)):
            here = slice(part.start - block.users.start, part.stop - block.users.start)
            ranked = block.ranked[here, :length]
            stated = self._stated(truth.users[part], ranked)
            among = listed_probability(stated, truth.counts[part][:, None])
            self.predicted[part, : ranked.shape[1]] = np.where(ranked >= 0, among, np.nan)
            self.outcome[part] = block.judged.hits[here, :length]

    def _stated(self, users: NDArray[np.int64], ranked: NDArray[np.int64]) -> Values:
        """Probabilities of the items in the lists, (B, k), among what the users have not seen."""
        stated = dense_block(self.task.ranker, users, self.task.ranker.probabilities_of(users))
        np.maximum(stated, 0, out=stated)
        hide(stated, self.task.hidden.of(users), value=0.0)
        total = stated.sum(axis=1, keepdims=True, dtype=np.float64)
        of_lists = np.take_along_axis(stated, ranked, axis=1).astype(np.float64)
        np.divide(of_lists, total, out=of_lists, where=total > 0)
        return of_lists

    def results(self) -> dict[str, float]:
        """Return the calibration errors."""
        found = {}
        for w in self.wanted:
            predicted, outcome = self.predicted[:, : w.cutoff], self.outcome[:, : w.cutoff]
            listed = ~np.isnan(predicted)
            found[str(w)] = calibration_error(predicted[listed], outcome[listed], binning=CALIBRATION[w.name])
        return found


def _item_counts(task: Task) -> Values:
    """How often each item of the model occurs in `counts`."""
    if isinstance(task.counts, np.ndarray):
        return task.counts
    if not task.counts.nnz:
        raise ParameterError(
            "the model has no training data to count item popularity in",
            "give counts=train, or take a model that was saved with its seen items",
        )
    part = PartRows(task.ranker, task.counts)
    columns = task.counts.by_user.indices
    if part.column_of_item is not None:
        columns = part.column_of_item[columns]
    counts: Values = np.bincount(columns[columns >= 0], minlength=len(task.ranker.items)).astype(np.float64)
    return counts


def _parts(block: slice, size: int) -> Iterator[slice]:
    for start in range(block.start, block.stop, size):
        yield slice(start, min(start + size, block.stop))
