"""What models with a vector per user and per item have in common: the vectors, neighbours, export to an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from taylorank.checks import typed
from taylorank.data.frames import AsFrame
from taylorank.errors import ParameterError
from taylorank.kernels.thread_limit import on_own_threads
from taylorank.models.recommender import MixinBase
from taylorank.ranking import similar_items, similar_users
from taylorank.ranking.list_table import neighbour_table

Floats = NDArray[Any]
FACTOR_SHAPES = {"user_factors_": ("users", "factors"), "item_factors_": ("items", "factors")}


class FactorModel(MixinBase):
    """Adds the methods that need only the learned `user_factors_` (M, K) and `item_factors_` (N, K)."""

    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = FACTOR_SHAPES

    @property
    def user_factors(self) -> Floats:
        """P, (M, K); assign another array to change it, for lists go on from what is kept of this one."""
        factors: Floats = self._learned("user_factors_")
        return factors

    @property
    def item_factors(self) -> Floats:
        """Q, (N, K); assign another array to change it, for lists go on from what is kept of this one."""
        factors: Floats = self._learned("item_factors_")
        return factors

    def export_factors(self) -> tuple[Floats, Floats]:
        """Return (users, items) whose inner product is the score that ranks, for any vector index."""
        vectors = self.ranker.vectors
        if vectors is None or not vectors.are_products:
            raise ParameterError(
                f"the scores of this {type(self).__name__} are no inner products",
                'use ranking="lift", exponent and discount 0, or another loss',
            )
        return vectors.export()

    @on_own_threads
    @typed
    def similar_items(self, items: Sequence[Any], n: int = 10, *, as_frame: AsFrame = False) -> Any:
        """Return ids and cosines of the n items nearest to each of `items`, itself left out.

        An item without interactions in training has no neighbours (a padded row) and is never one. `as_frame` gives a
        table of item, rank, similar and similarity, as in `recommend`.
        """
        lists = similar_items(self, items, n)
        return lists if as_frame is False else neighbour_table(items, lists, as_frame)

    @on_own_threads
    def similar_users(self, users: Sequence[Any], n: int = 10, *, as_frame: AsFrame = False) -> Any:
        """Return ids and cosines of the n users nearest to each of `users`, itself left out.

        A user without history has no neighbours (a padded row) and is never one. `as_frame` gives a table of user,
        rank, similar and similarity, as in `recommend`.
        """
        lists = similar_users(self, users, n)
        return lists if as_frame is False else neighbour_table(users, lists, as_frame, key="user")
