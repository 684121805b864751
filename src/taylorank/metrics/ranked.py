"""Metrics of one user's ranked list: each takes `Judged` and returns (B,) values; the metric is their mean.

h_i is 1 if the item at rank i is relevant, else 0; R is the number of relevant items; sums run over i = 1..k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.metrics.judged import Judged, Values


def dcg(judged: Judged) -> Values:
    """Σ g_i / log2(i + 1), with g_i the gain at rank i (h_i unless gains are given).

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, with base 2 throughout.
    """
    return _discounted(judged.hits if judged.gains is None else judged.gains)


def ndcg(judged: Judged) -> Values:
    """DCG over the DCG of the best list there is: the min(k, R) largest gains, falling. 0 if all gains are 0."""
    if judged.gains is None or judged.ideal is None:
        ideal = np.cumsum(_discounts(judged.k))[np.minimum(judged.relevant, judged.k) - 1]
        return _share(_discounted(judged.hits), ideal)
    ideal = _discounted(judged.ideal)
    return np.divide(_discounted(judged.gains), ideal, out=np.zeros(len(ideal)), where=ideal > 0)


def recall(judged: Judged) -> Values:
    """Σ h_i / R. Cannot reach 1 where R > k: `recall_min` can."""
    return _share(_found(judged), judged.relevant)


def recall_min(judged: Judged) -> Values:
    """Σ h_i / min(k, R): the "recall" of Liang et al. 2018 and of papers after them."""
    return _share(_found(judged), np.minimum(judged.relevant, judged.k))


def precision(judged: Judged) -> Values:
    """Σ h_i / k, however short the list is."""
    return _share(_found(judged), judged.k)


def precision_min(judged: Judged) -> Values:
    """Σ h_i / min(k, R), averaged with weights min(k, R): Σ_x hits over Σ_x min(k, R), one fraction for all users.

    implicit calls it "precision".
    """
    return recall_min(judged)


def hit_rate(judged: Judged) -> Values:
    """1 if there is a hit, else 0."""
    return _share(_found(judged) > 0, 1)


def mrr(judged: Judged) -> Values:
    """1 / rank of the first hit; 0 without one (reciprocal rank)."""
    return _share(_found(judged) > 0, np.argmax(judged.hits, axis=1) + 1)


def map(judged: Judged) -> Values:
    """Σ h_i · (hits among the first i) / i, over R (average precision, as trec_eval's map_cut)."""
    return _share(_precisions(judged), judged.relevant)


def map_min(judged: Judged) -> Values:
    """The same sum over min(k, R), so that a list of hits alone reaches 1."""
    return _share(_precisions(judged), np.minimum(judged.relevant, judged.k))


def novelty(judged: Judged) -> Values:
    """Mean of −log2 p(item) over the list, p being its share of the training interactions (at least one).

    Bits: 10 means that the items shown are those of one in 1,024 interactions. NaN for an empty list.
    """
    shares = np.maximum(_training_counts(judged), 1.0) / max(judged.total, 1.0)
    return _mean_of_list(-np.log2(shares))


def popularity(judged: Judged) -> Values:
    """Mean number of training interactions of the items in the list. NaN for an empty list."""
    return _mean_of_list(_training_counts(judged))


def _discounts(k: int) -> Values:
    discounts: Values = 1 / np.log2(np.arange(2, k + 2))
    return discounts


def _discounted(gains: NDArray[Any]) -> Values:
    """Σ gain / log2(rank + 1), rank by rank: a product would first turn the hits of all users into numbers."""
    total = np.zeros(len(gains))
    for rank, discount in enumerate(_discounts(gains.shape[1])):
        total += discount * gains[:, rank]
    return total


def _found(judged: Judged) -> NDArray[np.int64]:
    found: NDArray[np.int64] = judged.hits.sum(axis=1)
    return found


def _precisions(judged: Judged) -> Values:
    """Σ h_i · (hits among the first i) / i."""
    at_rank = np.cumsum(judged.hits, axis=1) / np.arange(1, judged.k + 1)
    total: Values = (judged.hits * at_rank).sum(axis=1)
    return total


def _training_counts(judged: Judged) -> Values:
    assert judged.counts is not None, "novelty and popularity need the training counts of the items"
    return judged.counts


def _mean_of_list(values: Values) -> Values:
    present = ~np.isnan(values)
    lengths = present.sum(axis=1)
    total = np.where(present, values, 0.0).sum(axis=1)
    means: Values = np.divide(total, lengths, out=np.full(len(values), np.nan), where=lengths > 0)
    return means


def _share(part: NDArray[Any], whole: NDArray[Any] | int) -> Values:
    values: Values = part / whole
    return values


METRICS: dict[str, Callable[[Judged], Values]] = {
    "ndcg": ndcg,
    "recall": recall,
    "precision": precision,
    "map": map,
    "mrr": mrr,
    "hit_rate": hit_rate,
    "dcg": dcg,
    "recall_min": recall_min,
    "map_min": map_min,
    "precision_min": precision_min,
    "novelty": novelty,
    "popularity": popularity,
}

# The weight of each user in the mean, for metrics where it is not 1.
WEIGHTS: dict[str, Callable[[Judged], NDArray[np.int64]]] = {
    "precision_min": lambda judged: np.minimum(judged.relevant, judged.k),
}
