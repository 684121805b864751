"""Metrics of a ranked list, per user, for binary relevance.

Each takes `hits`, (B, k) booleans: whether the item at rank 1..k is relevant, and `relevant`, (B,): how many
items are relevant in all, which is at least 1. Each returns (B,) values; the metric is their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hits = NDArray[np.bool_]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]


def ndcg(hits: Hits, relevant: Counts) -> Values:
    """Σ_i hit_i / log2(i + 1), over the same sum when the first min(k, relevant) ranks are all hits."""
    discounts = 1 / np.log2(np.arange(2, hits.shape[1] + 2))
    ideal = np.cumsum(discounts)
    best = ideal[np.minimum(relevant, hits.shape[1]) - 1]
    return _share(hits @ discounts, best)


def recall(hits: Hits, relevant: Counts) -> Values:
    """Hits over the number of relevant items (not over min(k, that number))."""
    return _share(hits.sum(axis=1), relevant)


def precision(hits: Hits, relevant: Counts) -> Values:
    """Hits over k."""
    return _share(hits.sum(axis=1), hits.shape[1])


def hit_rate(hits: Hits, relevant: Counts) -> Values:
    """1 if there is a hit, else 0."""
    return _share(hits.sum(axis=1) > 0, 1)


def mrr(hits: Hits, relevant: Counts) -> Values:
    """1 / rank of the first hit; 0 without one."""
    return _share(hits.sum(axis=1) > 0, np.argmax(hits, axis=1) + 1)


def map(hits: Hits, relevant: Counts) -> Values:
    """Σ over hits of the precision at their rank, over the number of relevant items."""
    at_rank = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return _share((hits * at_rank).sum(axis=1), relevant)


def _share(part: NDArray[Any], whole: NDArray[Any] | int) -> Values:
    values: Values = part / whole
    return values


METRICS: dict[str, Callable[[Hits, Counts], Values]] = {
    "ndcg": ndcg,
    "recall": recall,
    "precision": precision,
    "map": map,
    "mrr": mrr,
    "hit_rate": hit_rate,
}
