"""How well a store finds what the model finds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.ranking import Ranker, recommend
from taylorank.stores.catalogue import Catalogue, Floats
from taylorank.stores.exported import Measured

N_BEST = 20
Search = Callable[[Floats, int], NDArray[Any]]  # from a user vector (D,) and k to the ids of the k best items


def measured(
    search: Search, catalogue: Catalogue, ranker: Ranker, *, sample: int, random_state: int
) -> Measured | None:
    """Ask the store for the lists of some users, one by one; None if there is nobody to ask.

    Of each user as many items more are asked for as the user has seen; these are dropped, as an application would.
    """
    count = min(sample, len(catalogue.users))
    if not count:
        return None
    rows = np.random.default_rng(random_state).choice(len(catalogue.users), count, replace=False)
    users = catalogue.users.ids.take(rows)
    exact, scores = recommend(ranker, users, N_BEST)
    wanted = [set(ids[~np.isnan(line)].tolist()) for ids, line in zip(exact, scores, strict=True)]
    seen = _seen_items(ranker, users)
    search(catalogue.users.vectors[rows[0]], min(N_BEST, len(catalogue.items)))  # the first query may load a store
    shares, seconds = [], []
    for row, best, known in zip(rows, wanted, seen, strict=True):
        k = min(N_BEST + len(known), len(catalogue.items))
        start = time.perf_counter()
        found = search(catalogue.users.vectors[row], k)
        seconds.append(time.perf_counter() - start)
        if best:  # else the user has seen all there is
            unseen = [item for item in found.tolist() if item not in known][:N_BEST]
            shares.append(len(best.intersection(unseen)) / len(best))
    if not shares:
        return None
    return Measured(N_BEST, len(shares), float(np.mean(shares)), 1e3 * float(np.median(seconds)))


def _seen_items(ranker: Ranker, users: NDArray[Any]) -> list[set[Any]]:
    rows, seen = ranker.users.positions(users), ranker.seen
    lines = seen.by_user
    return [set(seen.items.take(lines.indices[lines.indptr[row] : lines.indptr[row + 1]]).tolist()) for row in rows]
