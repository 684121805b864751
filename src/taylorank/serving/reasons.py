"""Which items of a history speak for a recommendation, and how much.

What item j adds to the score of y (`ranking.explanation`) over the sum of all that adds: shares of 1. What an item
takes away is no reason and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.serving.lists import histories_of
from taylorank.serving.query import Query

MOST_REASONS = 5
Reasons = list[tuple[int, float]]  # column and share


def reasons_of(query: Query, columns: Sequence[int]) -> list[Reasons]:
    """Return the reasons of each recommended item, largest first; none for a user without history."""
    history = histories_of([query])
    if not history.nnz or not _explains(query):
        return [[] for _ in columns]
    return [_largest(*_contributions(query, history, column)) for column in columns]


def _explains(query: Query) -> bool:
    ranker = query.served.ranker
    return ranker.contributions is not None or (ranker.vectors is not None and ranker.vectors.fold_in is not None)


def _contributions(query: Query, history: Interactions, column: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    ranker = query.served.ranker
    if ranker.contributions is not None:
        return ranker.contributions(history, column)[:2]
    assert ranker.vectors is not None
    assert ranker.vectors.fold_in is not None
    items = history.by_user.indices
    if query.point is not None:
        assert query.served.path is not None
        vector = query.served.path.base[column].astype(np.float64)
        return items, query.served.path.contributions(history, vector, *query.point)
    vector = ranker.vectors.items.factors[column].astype(np.float64)
    return items, ranker.vectors.fold_in.contributions(history, vector)


def _largest(items: NDArray[Any], added: NDArray[np.float64]) -> Reasons:
    positive = np.maximum(added, 0.0)
    total = float(positive.sum())
    if not total > 0:
        return []
    order = np.argsort(-positive, kind="stable")[:MOST_REASONS]
    return [(int(items[place]), float(positive[place] / total)) for place in order if positive[place] > 0]
