"""What a store is given: vectors whose inner product, or cosine, ranks as the model does.

The model ranks by a_y (u_x · v_y) + b_y, the inner product of [u_x, 1] and [a_y v_y, b_y]. For cosines, items w get one
more number that makes all of them equally long, and users a 0 (Bachrach et al. 2014):

    [w_y, √(L² − |w_y|²)] / L,  L = max |w_y|,  and [u_x, 1, 0]:  cos ∝ u_x · w_y for each user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids
from taylorank.errors import DataError, ParameterError
from taylorank.ranking import Ranker

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Side:
    """The users or the items of an export: ids (n,) and vectors (n, D), none of which says nothing."""

    ids: Ids
    vectors: Floats

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_integer_keys(self) -> bool:
        """Whether the ids can be the keys of stores that have none but whole numbers ≥ 0."""
        return not self.ids.is_text and bool(len(self) == 0 or self.ids.values[0] >= 0)

    @property
    def keys(self) -> NDArray[np.int64]:
        """Whole numbers ≥ 0 for the ids: the ids themselves where they are such, else their rows."""
        return self.ids.values if self.has_integer_keys else np.arange(len(self))


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Both sides of a model, what is known of the items, and the metric that ranks them."""

    items: Side
    users: Side
    popularity: NDArray[np.float64]
    metric: str
    metadata: Any = None  # a polars table, row by row that of the items; None: nothing more is known

    @property
    def dimensions(self) -> int:
        """The length D of the vectors."""
        return int(self.items.vectors.shape[1])


def catalogue_of(ranker: Ranker, metric: str) -> Catalogue:
    """Return the vectors of a model; users without history and items that cannot be ranked are left out."""
    if ranker.vectors is None or not ranker.vectors.are_products:
        raise ParameterError(
            f"the scores of this {ranker.name} are no inner products", "export a student of it: model.distil(64)"
        )
    users, items = (np.ascontiguousarray(side, dtype=np.float32) for side in ranker.vectors.export())
    ranked = np.arange(len(items)) if ranker.rankable is None else np.flatnonzero(ranker.rankable)
    warm = np.flatnonzero(~ranker.is_cold(np.arange(len(users))))
    users, items = users[warm], items[ranked]
    if not len(items):
        raise DataError("no item can be ranked", "fit the model to data with interactions")
    for side, vectors in (("a user", users), ("an item", items)):
        if not np.isfinite(vectors).all():
            raise DataError(f"{side} vector is not finite", "fit the model again with more regularization")
    if metric == "cosine":
        users, items = np.pad(users, ((0, 0), (0, 1))), equally_long(items)
    elif metric != "ip":
        raise ParameterError(f"metric={metric!r} is unknown", "choose ip (inner product) or cosine")
    item_side, user_side = (
        Side(Ids(ids.values[rows]), vectors)
        for ids, rows, vectors in ((ranker.items, ranked, items), (ranker.users, warm, users))
    )
    return Catalogue(item_side, user_side, ranker.item_popularity[ranked], metric)


def equally_long(items: Floats) -> Floats:
    """Return unit vectors [w, √(L² − |w|²)] / L, whose cosine with [u, 0] orders items as u · w does.

    >>> equally_long(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    array([[0.6, 0.8, 0. ],
           [0. , 0. , 1. ]], dtype=float32)
    """
    w = items.astype(np.float64)
    squares = np.einsum("ij,ij->i", w, w)
    longest = squares.max()
    if longest == 0:
        raise DataError("all item vectors are 0", "fit the model with less regularization")
    rest = np.sqrt(np.maximum(longest - squares, 0))[:, None]
    unit: Floats = (np.hstack((w, rest)) / np.sqrt(longest)).astype(np.float32)
    return unit
