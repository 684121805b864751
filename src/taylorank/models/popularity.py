"""The baseline that everybody must beat: the same list for all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, read_interactions
from taylorank.models.recommender import Recommender


class Popularity(Recommender):
    """Score of item y = Σ_x r_xy, the same for every user.

    >>> from taylorank.data import Interactions
    >>> model = Popularity().fit(Interactions.from_arrays([1, 1, 2, 3], [7, 8, 7, 9]))
    >>> ids, scores = model.recommend([3], n=2)
    >>> ids.tolist(), scores.tolist()
    ([[7, 8]], [[2.0, 1.0]])
    """

    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Count each item's interactions; `train` is `Interactions` or a sparse matrix (users × items)."""
        data = read_interactions(train)
        self.train_ = data
        weights = data.strengths.astype(np.float64)
        counts = np.bincount(data.by_user.indices, weights, minlength=data.n_items)
        self.item_counts_: NDArray[np.float64] = counts.astype(np.float64)
        return self

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the counts once per user, (len(users), n_items)."""
        counts = self._learned("item_counts_").astype(np.float32)
        return np.broadcast_to(counts, (len(users), len(counts)))
