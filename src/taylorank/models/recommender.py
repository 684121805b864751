"""What every model offers once it is fitted: who it knows, and lists for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions
from taylorank.models.estimator import Estimator
from taylorank.ranking.recommend import recommend


class Recommender(Estimator):
    """A `ranking.Scorer` that learns `train_`; subclasses give `fit` and `scores`."""

    train_: Interactions

    @property
    def users(self) -> Ids:
        """The users it knows."""
        return self.seen.users

    @property
    def items(self) -> Ids:
        """The items it ranks."""
        return self.seen.items

    @property
    def seen(self) -> Interactions:
        """The training data, which recommendations leave out."""
        data: Interactions = self._learned("train_")
        return data

    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items)."""
        raise AttributeError(f"{type(self).__name__} cannot be fitted")

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of all items for users by position, (len(users), N)."""
        raise AttributeError(f"{type(self).__name__} gives no scores")

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
