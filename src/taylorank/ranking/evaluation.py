"""Full-ranking evaluation: every item is a candidate, none is sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.deprecation import renamed
from taylorank.errors import ParameterError
from taylorank.kernels.thread_limit import threads
from taylorank.metrics import DEFAULT, GAINS, Gain, bootstrap_means, percentile_interval, wanted_metrics
from taylorank.metrics.bootstrap import check_confidence, check_resamples
from taylorank.progress import Show, counted
from taylorank.ranking.accumulators import Accumulator, Block, Task, accumulators_for
from taylorank.ranking.evaluated import EvaluatedUsers, Evaluation
from taylorank.ranking.lists import best_items
from taylorank.ranking.masks import interactions_of, seen_parts
from taylorank.ranking.prepared import Prepared, prepared
from taylorank.ranking.ranker import Rankable, Ranker, ranker_of

LIST_CELLS = 1 << 20  # ranks held at a time


@renamed(seed="random_state")
@typed
def evaluate(
    model: Rankable,
    test: Interactions | Any,
    *,
    k: int | Sequence[int] = (10, 20),
    seen: Interactions | Any | Sequence[Any] | None = None,
    metrics: str | Sequence[str] = DEFAULT,
    gain: Gain = "binary",
    per_user: bool = False,
    confidence: float | None = None,
    resamples: int = 1000,
    random_state: int = 0,
    counts: Interactions | None = None,
    num_threads: int | None = None,
    device: str | None = None,
    progress: Show = None,
) -> Evaluation:
    """Return the mean of each metric over the users with test items: {"ndcg@10": …, …}.

    `test` and `seen` are Interactions, or SciPy matrices of the shape that the model was fitted to. All items are
    ranked but those in `seen` (the training data by default; give train and validation for a test): a test pair that
    is in `seen` too can only be missed, and a `LeakageWarning` says how many are. Of equal scores the lower position,
    which is the smaller id, comes first. Users whom the model knows but who have no history count in the means, with
    the list that `recommend` gives them: the popular items. Users whom the model does not know are left out of the
    means, with a warning; test items that it does not know, or that have no interaction in training, stay relevant and
    count as misses.

    Parameters
    ----------
    k
        One or more cutoffs, for the metrics named without one.
    metrics
        Names from `metrics.NAMES`, such as "ndcg" (at every k), "recall_min@50" or "auc"; docs/metrics.md defines
        them all. "auc" and "ece" hold rows of scores and take longer.
    gain
        Of a relevant item in DCG and NDCG: "binary" 1, "strength" r_xy of the test data, "exponential" 2^r − 1.
    per_user
        Keep the values of every user, with their ids.
    confidence, resamples, random_state
        Add bootstrap intervals that hold this share of the means over users drawn with replacement.
    counts
        The data that item popularity is counted in, for novelty and popularity; by default what the model has seen.
    num_threads
        Of kernels; the model's own number by default, else all CPUs.
    device
        Where to rank, "auto", "cpu" or "cuda", in place of the model's own `device`; others rank where they always do.
    progress
        As in `fit`: by default a line on a terminal once it takes long; True, False, or a function of a `Report`.

    >>> from taylorank.data import planted
    >>> from taylorank.models import Popularity
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> found = evaluate(Popularity().fit(train), test, k=10, seen=[train, valid], metrics="ndcg", confidence=0.95)
    >>> low, high = found.intervals["ndcg@10"]
    >>> low < found["ndcg@10"] < high, found.users.evaluated
    (True, 198)
    """
    wanted = wanted_metrics(metrics, k)
    _check(gain, confidence, resamples)
    ranker = ranker_of(_placed(model, device))
    known = prepared(ranker, interactions_of(ranker, test, "test"), seen_parts(ranker, seen), gain)
    known.warn()
    truth, hidden = known.truth, known.hidden
    counts = ranker.seen if counts is None else interactions_of(ranker, counts, "counts")
    accumulators = accumulators_for(wanted, Task(ranker, truth, hidden, counts))
    own = threads(ranker.num_threads if num_threads is None else num_threads)
    with own, counted(f"evaluating {type(model).__name__}", "users", progress) as tell:
        for block in _blocks(ranker, known, max(w.cutoff or 0 for w in wanted)):
            for accumulator in accumulators:
                accumulator.add(block)
            tell(block.users.stop, len(truth.users))
    results = {name: value for accumulator in accumulators for name, value in accumulator.results().items()}
    return Evaluation(
        {str(w): results[str(w)] for w in wanted},
        users=EvaluatedUsers(
            len(truth.users), truth.without_items, truth.unknown_users, truth.unknown_items, known.overlap
        ),
        user_ids=ranker.users.take(truth.users) if per_user else None,
        per_user={name: v for accumulator in accumulators for name, v in accumulator.values.items()}
        if per_user
        else None,
        intervals=None if confidence is None else _intervals(accumulators, confidence, resamples, random_state),
    )


def _placed(model: Any, device: str | None) -> Any:
    """Return the model with its `device` set, if it knows how to do that."""
    place = getattr(model, "placed_on", None)
    return model if device is None or place is None else place(device)


def _blocks(ranker: Ranker, known: Prepared, length: int) -> Iterator[Block]:
    """Rank the users block by block; without any cutoff no lists are made."""
    best_of, size = best_items(ranker, known.hidden)
    vectors = ranker.vectors
    device = vectors.users.device if vectors is not None and vectors.are_on_device else None
    for users, positions in known.blocks(min(size, max(1, LIST_CELLS // max(length, 1)))):
        ranked = best_of(positions, length)[0] if length else np.empty((len(positions), 0), dtype=np.int64)
        yield Block(users, ranked, known.truth.judge(users, ranked, length, device=device))


def _intervals(
    accumulators: Sequence[Accumulator], confidence: float, resamples: int, random_state: int
) -> dict[str, tuple[float, float]]:
    """Bounds of every metric that has values per user, all from the same draws of users."""
    values = {name: v for accumulator in accumulators for name, v in accumulator.values.items()}
    weights = {name: w for accumulator in accumulators for name, w in accumulator.weights.items()}
    if not values:
        return {}
    per_metric = np.column_stack(list(values.values()))  # (users, metrics)
    per_weight = np.column_stack([weights.get(name, np.ones(len(per_metric))) for name in values])
    means = bootstrap_means(per_metric, per_weight, resamples=resamples, random_state=random_state)
    low, high = percentile_interval(means, confidence).tolist()
    return dict(zip(values, zip(low, high, strict=True), strict=True))


def _check(gain: Gain, confidence: float | None, resamples: int) -> None:
    """Refuse bad arguments before the work begins."""
    if gain not in GAINS:
        raise ParameterError(f"gain={gain!r} is unknown", f"choose from {', '.join(GAINS)}")
    if confidence is not None:
        check_confidence(confidence)
        check_resamples(resamples)
