"""The best possible ranking of planted data, as the bound for every model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, Truth
from taylorank.errors import DataError
from taylorank.ranking.ranker import Ranker


@dataclass(frozen=True)
class Oracle:
    """Score of y for x = log p(y | x) of the known truth, up to a constant per user: Bayes-optimal for DCG."""

    seen: Interactions

    @property
    def ranker(self) -> Ranker:
        """A ranker by the true logits of the data."""
        return Ranker(self.seen.users, self.seen.items, self.seen, scores=self.scores, name="Oracle")

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the true logits, (len(users), n_items)."""
        truth: Truth | None = self.seen.truth
        if truth is None:
            raise DataError("the truth behind this data is not known", "use planted data")
        return truth.logits(self.seen.user_ids[users], self.seen.item_ids)
