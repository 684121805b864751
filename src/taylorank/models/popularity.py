"""The simplest baseline: the same list of popular items for all users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.models.histories import training_data
from taylorank.models.recommender import Recommender
from taylorank.progress import Show
from taylorank.ranking import HistoryScores, Ranker


class Popularity(Recommender):
    """Score of item y = Σ_x r_xy, the same for every user.

    >>> from taylorank.data import Interactions
    >>> model = Popularity().fit(Interactions.from_arrays([1, 1, 2, 3], [7, 8, 7, 9]))
    >>> ids, scores = model.recommend([3], n=2)
    >>> ids.tolist(), scores.tolist()
    ([[7, 8]], [[2.0, 1.0]])
    """

    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {"item_counts_": ("items",)}

    @typed
    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Count each item's interactions; `train` is `Interactions` or a sparse matrix (users × items)."""
        data = training_data(train)
        self.train_ = data
        self.item_counts_: NDArray[np.float64] = data.item_popularity
        return self

    def _build_ranker(self) -> Ranker:
        counts = self._learned("item_counts_").astype(np.float32)
        scores = HistoryScores(
            lambda rows: np.broadcast_to(counts, (rows.shape[0], len(counts))),
            is_cold=lambda rows: np.zeros(rows.shape[0], dtype=bool),
            are_needed=False,
        )
        return self._ranker_with(
            histories=scores,
            cold_scores=counts,
            contributions=lambda history, column: (np.empty(0, dtype=np.int64), np.empty(0), float(counts[column])),
        )
