"""What all factor models share: scores, neighbours, vectors for an index, what carried a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_list, check_whole
from taylorank.data import Ids
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.ranking.top_k import top_k

Floats = NDArray[Any]


class FactorModel(Recommender):
    """A fitted model with `user_factors` (M, K) and `item_factors` (N, K).

    Subclasses learn `user_factors_`, `item_factors_` and `train_`, and may give the factors that rank
    (`export_factors`) a form of their own. `_history_parts` says how P_x comes from the history.
    """

    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "user_factors_": ("users", "factors"),
        "item_factors_": ("items", "factors"),
    }

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
        """Return ids and cosines of the n items nearest to each of `items`, itself left out.

        An item that nobody met in training has no neighbours (a padded row) and is nobody's.
        """
        rows = wanted_rows(self.items, items, n, "item")
        known = (self.item_popularity > 0) & self.item_factors.any(axis=1)
        return _neighbours(self.item_factors, known, self.items, rows, n)

    def similar_users(self, users: Sequence[Any], n: int = 10) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return ids and cosines of the n users nearest to each of `users`, itself left out.

        A user without history has no neighbours (a padded row) and is nobody's.
        """
        rows = wanted_rows(self.users, users, n, "user")
        known = ~self.cold_users(np.arange(len(self.users)))
        return _neighbours(self.user_factors, known, self.users, rows, n)

    def cold_users(self, users: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which users, by position, the model knows nothing of: P_x = 0."""
        known: NDArray[np.bool_] = np.any(self.user_factors[users], axis=1)
        return ~known

    def _history_parts(self, row: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return what the user at `row` met, by position, and (n, K) parts that sum to P_x of an exact fold-in."""
        raise ParameterError(f"{type(self).__name__} cannot say what carried a score", "explain another model")

    def _ranked_by(self, column: int) -> tuple[NDArray[np.float64], float]:
        """Return (v, base) with score = P_x · v + base, for the item at `column`."""
        return self.item_factors[column].astype(np.float64), 0.0

    def _contributions(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[np.float64], float]:
        positions, parts = self._history_parts(row)
        vector, base = self._ranked_by(column)
        return positions, parts @ vector, base


def wanted_rows(ids: Ids, wanted: Sequence[Any], n: int, what: str) -> NDArray[np.int64]:
    """Return the positions of `wanted`; raise unless it is a list of known ids and n a length."""
    check_whole(n, "n", remedy="ask for at least one neighbour")
    check_list(wanted, f"{what}s")
    return ids.require(wanted, what)


def _neighbours(
    factors: Floats, known: NDArray[np.bool_], ids: Ids, rows: NDArray[np.int64], n: int
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    lengths = np.linalg.norm(factors, axis=1, keepdims=True)
    unit = np.divide(factors, lengths, out=np.zeros_like(factors), where=lengths > 0)
    cosines = (unit[rows] @ unit.T).astype(np.float32)
    cosines[:, ~known] = -np.inf
    cosines[~known[rows]] = -np.inf
    return nearest(cosines, rows, ids, n)


def nearest(
    closeness: NDArray[np.float32], rows: NDArray[np.int64], ids: Ids, n: int
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return ids and closeness of the n closest to each of `rows`, itself left out; (len(rows), n), padded."""
    closeness[np.arange(len(rows)), rows] = -np.inf
    best = top_k(closeness, n)
    values = np.where(best >= 0, np.take_along_axis(closeness, best, axis=1), np.float32(np.nan))
    more = ((0, 0), (0, n - best.shape[1]))
    return ids.take(np.pad(best, more, constant_values=-1)), np.pad(values, more, constant_values=np.nan)
