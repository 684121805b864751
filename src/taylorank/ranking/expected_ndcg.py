"""Regret: what a ranking loses against the best possible one, where the truth behind the data is known.

Given the items of `seen`, the next interaction of x is with y with probability

    π_x(y) = p(y | x) / Σ_{y' ∉ seen_x} p(y' | x),   0 for seen items,

p being the planted truth over the items of the data. The DCG of a list L is then, in expectation over that next item,

    E[DCG@k] = Σ_{i ≤ k} π_x(L_i) / log2(i + 1)

and, because one item is relevant and the ideal DCG is 1, this is its expected NDCG@k as well. It is highest for the
list by falling π_x; regret@k is the highest value minus that of L, averaged over users. It is ≥ 0, is 0 only for the
best possible ranking, and has no noise from the draw of a test set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, Truth
from taylorank.errors import DataError, ParameterError
from taylorank.ranking.lists import best_items
from taylorank.ranking.masks import Hidden, hide, seen_parts
from taylorank.ranking.ranker import Rankable, Ranker, ranker_of

BLOCK_CELLS = 1 << 21


def regret(
    model: Rankable, test: Interactions, *, k: int = 10, seen: Interactions | Sequence[Interactions] | None = None
) -> dict[str, float]:
    """Return {"regret@k", "expected_ndcg@k", "best_ndcg@k"}, means over the users who have test items.

    `test` gives users, items and truth; which items were drawn for the test does not matter. Items in `seen`
    (the training data by default) are left out of both lists. Model and test data share their ids.

    >>> from taylorank.data import planted
    >>> from taylorank.ranking import Oracle
    >>> train, test = planted(30, 20, interactions=150).split((0.8, 0.2))
    >>> regret(Oracle(train), test)["regret@10"] < 1e-6
    True
    """
    ranker, truth = ranker_of(model), test.truth
    if truth is None:
        raise DataError("the truth behind this data is not known", "use planted data")
    if k < 1:
        raise ParameterError(f"k={k} is not a cutoff", "give a whole number ≥ 1")
    if ranker.users != test.users or ranker.items != test.items:
        raise DataError("the model and the test data have different ids", "give parts of one split")
    users = np.flatnonzero(test.by_user.row_lengths > 0)
    if not len(users):
        raise DataError("the test data has no interactions", "split with a larger share for test")
    hidden = Hidden(ranker, seen_parts(ranker, seen))
    best_of, size = best_items(ranker, hidden)
    size = min(size, max(1, BLOCK_CELLS // max(test.n_items, 1)))
    reached = best = 0.0
    for start in range(0, len(users), size):
        block = users[start : start + size]
        probability = _next_item(truth, ranker, block, hidden)
        columns, _ = best_of(block, k)
        listed = np.take_along_axis(probability, np.maximum(columns, 0), axis=1)
        reached += _dcg_sum(np.where(columns >= 0, listed, 0.0))
        best += _dcg_sum(-np.sort(-probability, axis=1)[:, :k])
    reached, best = reached / len(users), best / len(users)
    return {f"regret@{k}": best - reached, f"expected_ndcg@{k}": reached, f"best_ndcg@{k}": best}


def _next_item(truth: Truth, ranker: Ranker, users: NDArray[np.int64], hidden: Hidden) -> NDArray[np.float64]:
    """π of a block of users, (B, N); zeros for a user who has seen every item."""
    probability = truth.probabilities(ranker.users.take(users), ranker.items.values)
    hide(probability, hidden.of(users), value=0.0)
    left = probability.sum(axis=1, keepdims=True)
    np.divide(probability, left, out=probability, where=left > 0)
    return probability


def _dcg_sum(gains: NDArray[np.float64]) -> float:
    return float((gains @ (1 / np.log2(np.arange(2, gains.shape[1] + 2)))).sum())
