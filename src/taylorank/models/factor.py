"""What all factor models share: scores, recommendations, neighbours, vectors for an index, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.ranking.top_k import top_k

Floats = NDArray[Any]


class FactorModel(Recommender):
    """A fitted model with `user_factors` (M, K) and `item_factors` (N, K).

    Subclasses learn `user_factors_`, `item_factors_` and `train_`, and may give the factors that rank
    (`export_factors`) a form of their own.
    """

    @property
    def user_factors(self) -> Floats:
        """P, (M, K)."""
        factors: Floats = self._learned("user_factors_")
        return factors

    @property
    def item_factors(self) -> Floats:
        """Q, (N, K)."""
        factors: Floats = self._learned("item_factors_")
        return factors

    def export_factors(self) -> tuple[Floats, Floats]:
        """Return (users, items) whose inner product is the score that ranks, for any vector index."""
        return self.user_factors, self.item_factors

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of all items for users by position, (len(users), N)."""
        of_users, of_items = self.export_factors()
        scores: NDArray[np.float32] = (of_users[users] @ of_items.T).astype(np.float32, copy=False)
        return scores

    def similar_items(self, items: Sequence[Any], n: int = 10) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return ids and cosines of the n items nearest to each of `items`, itself left out."""
        return _neighbours(self.item_factors, self.items, items, n, "item")

    def similar_users(self, users: Sequence[Any], n: int = 10) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return ids and cosines of the n users nearest to each of `users`, itself left out."""
        return _neighbours(self.user_factors, self.users, users, n, "user")

    def save(self, path: str | os.PathLike[str], *, with_seen: bool = True) -> None:
        """Write the model to one file (safetensors with a JSON manifest, no pickle), atomically.

        Without the seen items the file is smaller, and recommendations may repeat what a user has met.
        """
        from taylorank.models.storage import save_model

        save_model(self, path, with_seen=with_seen)


def _neighbours(
    factors: Floats, ids: Ids, wanted: Sequence[Any], n: int, what: str
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    if n < 1:
        raise ParameterError(f"n={n} is not a length", "ask for at least one neighbour")
    if isinstance(wanted, str) or not hasattr(wanted, "__len__"):
        raise ParameterError(f"{wanted!r} is not a list", f"write a list: [{what}]")
    rows = ids.require(wanted, what)
    lengths = np.linalg.norm(factors, axis=1, keepdims=True)
    unit = np.divide(factors, lengths, out=np.zeros_like(factors), where=lengths > 0)
    cosines = (unit[rows] @ unit.T).astype(np.float32)
    cosines[np.arange(len(rows)), rows] = -np.inf
    best = top_k(cosines, n)
    values = np.take_along_axis(cosines, best, axis=1)
    return ids.take(best), np.where(best >= 0, values, np.float32(np.nan))
