"""The known distribution behind planted data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Truth:
    """p(y | x) = exp(P_x · Q_y + b_y) / Σ_y' exp(P_x · Q_y' + b_y'), for integer ids x < M and y < N.

    Ranking by p is Bayes-optimal for every DCG-like metric, so it bounds what any model can reach.
    """

    user_factors: Floats
    item_factors: Floats
    item_bias: Floats

    def logits(self, user_ids: NDArray[np.int64], item_ids: NDArray[np.int64]) -> Floats:
        """Return P_x · Q_y + b_y for the given ids; shape (len(user_ids), len(item_ids))."""
        scores: Floats = self.user_factors[user_ids] @ self.item_factors[item_ids].T
        scores += self.item_bias[item_ids]
        return scores

    def probabilities(self, user_ids: NDArray[np.int64], item_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return p(y | x), normalised over the given items: rows sum to 1."""
        scores = self.logits(user_ids, item_ids).astype(np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores
