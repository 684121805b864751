"""The baseline that everybody must beat: the same list for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions, read_interactions
from taylorank.models.estimator import Estimator
from taylorank.ranking.recommend import recommend


class Popularity(Estimator):
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
        self.train_: Interactions = data
        weights = data.strengths.astype(np.float64)
        counts = np.bincount(data.by_user.indices, weights, minlength=data.n_items)
        self.item_counts_: NDArray[np.float64] = counts.astype(np.float64)
        return self

    @property
    def users(self) -> Ids:
        """The users of the training data."""
        return self.seen.users

    @property
    def items(self) -> Ids:
        """The items of the training data."""
        return self.seen.items

    @property
    def seen(self) -> Interactions:
        """The training data."""
        data: Interactions = self._learned("train_")
        return data

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the counts once per user, (len(users), n_items)."""
        counts = self._learned("item_counts_").astype(np.float32)
        return np.broadcast_to(counts, (len(users), len(counts)))

    def recommend(
        self,
        users: Sequence[Any] | NDArray[Any],
        n: int = 10,
        *,
        seen: Interactions | Sequence[Interactions] | None = None,
        items: Sequence[Any] | None = None,
        exclude: Sequence[Any] | None = None,
    ) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the ids of the n best items of each user and their scores, (len(users), n).

        Items the user has in `seen` (the training data by default) are left out; `items` allows only these,
        `exclude` forbids those. Short lists are padded with -1 or "" and NaN.
        """
        return recommend(self, users, n, seen=seen, items=items, exclude=exclude)
