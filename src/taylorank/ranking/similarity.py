"""The nearest neighbours of items and of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_list, check_whole
from taylorank.data import CSR, Ids
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors, top_k, top_k_scores
from taylorank.ranking.lists import users_per_block
from taylorank.ranking.ranker import Mask, Positions, Rankable, Ranker, ranker_of
from taylorank.ranking.recommendations import Lists


def similar_items(model: Rankable, items: Sequence[Any], n: int = 10) -> Lists:
    """Return ids and similarities of the n items nearest to each of `items`, itself left out; (len(items), n), padded.

    Models of vectors use the cosine. An item without interactions in training has no neighbours and is never one.
    """
    ranker = ranker_of(model)
    rows = _wanted_rows(ranker.items, items, n, "item")
    if ranker.similarities is not None:
        return _by_similarities(ranker, rows, n)
    if ranker.vectors is None:
        raise ParameterError(f"{ranker.name} has no vectors to compare items by", "use a factor model, such as RG2")
    return _nearest_by_cosine(ranker.vectors.items, ranker.rankable, ranker.items, rows, n)


def similar_users(model: Rankable, users: Sequence[Any], n: int = 10) -> Lists:
    """Return ids and cosines of the n users nearest to each of `users`, itself left out; (len(users), n), padded.

    A user without history has no neighbours and is never one.
    """
    ranker = ranker_of(model)
    rows = _wanted_rows(ranker.users, users, n, "user")
    if ranker.vectors is None:
        raise ParameterError(f"{ranker.name} has no vectors to compare users by", "use a factor model, such as RG2")
    return _nearest_by_cosine(ranker.vectors.user_index, None, ranker.users, rows, n)


def _wanted_rows(ids: Ids, wanted: Sequence[Any], n: int, what: str) -> Positions:
    check_whole(n, "n", remedy="ask for at least one neighbour")
    check_list(wanted, f"{what}s")
    return ids.require(wanted, what)


def _nearest_by_cosine(index: ItemVectors, known: Mask | None, ids: Ids, rows: Positions, n: int) -> Lists:
    """cos(v_i, v_j) = (v_i / |v_i|) · v_j · (1 / |v_j|); vectors of 0 have no direction and are left out."""
    inverse = index.inverse_norms
    directed = inverse > 0
    allowed = known if directed.all() else directed if known is None else directed & known
    unit = index.factors[rows] * inverse[rows, None]
    itself = CSR(np.arange(len(rows) + 1), rows.astype(np.int32), None, len(index))
    best, cosines = top_k(unit, index, k=n, scales=inverse, seen=itself, allowed=allowed)
    if allowed is not None:
        best[~allowed[rows]], cosines[~allowed[rows]] = -1, np.nan
    return ids.take(best), cosines


def _by_similarities(ranker: Ranker, rows: Positions, n: int) -> Lists:
    """The largest positive similarities, for a few items at a time."""
    assert ranker.similarities is not None
    best = np.full((len(rows), n), -1)
    values = np.full((len(rows), n), np.nan, dtype=np.float32)
    size = users_per_block(ranker)
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        similarity: NDArray[np.float32] = np.array(ranker.similarities(rows[part]), dtype=np.float32)
        similarity[similarity <= 0] = -np.inf
        similarity[np.arange(len(similarity)), rows[part]] = -np.inf
        best[part], values[part] = top_k_scores(similarity, n)
    return ranker.items.take(best), values
