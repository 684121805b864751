"""The best items of users, by whichever way is fastest for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import top_k, top_k_scores
from taylorank.kernels.arrays import like, to_numpy
from taylorank.ranking.masks import Hidden, dense_block, hide, not_a_number
from taylorank.ranking.ranker import Best, Mask, Positions, Ranker, RanksOnDevice, Vectors

BestOf = Callable[[Positions, int], Best]
BLOCK_USERS = 8192  # ranked at a time by inner products, of which only the lists are held
DEVICE_USERS = 1 << 17  # the same on a device
BLOCK_CELLS = 1 << 22  # scores held at a time, as (users, items)


def best_items(
    ranker: Ranker, masks: Sequence[Interactions] | Hidden, *, allowed: Mask | None = None
) -> tuple[BestOf, int]:
    """Return a function from (users, k) to the columns and scores of their best items, and users per call.

    Items in `masks`, items not `allowed` and items without interactions in training are left out; of equal scores the
    lower position (the smaller id) comes first; short lists are padded with -1 and NaN. Cold users get the popular
    items. Inner products are ranked without ever holding a row of scores.
    """
    hidden = masks if isinstance(masks, Hidden) else Hidden(ranker, masks)
    allowed = ranker.ranks(allowed)
    vectors, size = ranker.vectors, users_per_block(ranker)
    if vectors is not None and vectors.are_products:
        best = _by_products(ranker, vectors, hidden, allowed)
        size = DEVICE_USERS if vectors.are_on_device else BLOCK_USERS
    else:
        best = _by_scores(ranker, hidden, allowed)
    if vectors is not None and ranker.on_device is not None:
        best, size = _on_device(ranker.on_device, vectors, best, hidden, allowed), BLOCK_USERS
    return _with_popular_items(ranker, best, hidden, allowed), size


def users_per_block(ranker: Ranker) -> int:
    """Return for how many users (B, N) numbers are held at a time."""
    return max(1, BLOCK_CELLS // max(len(ranker.items), 1))


def ranked_scores(ranker: Ranker, hidden: Hidden) -> Callable[[Positions], NDArray[np.float32]]:
    """Return a function from users to the scores that make their lists, (B, N), −inf for what is left out."""
    allowed = ranker.ranks(None)

    def rows(users: Positions) -> NDArray[np.float32]:
        block = dense_block(ranker, users, ranker.scores_of(users))
        cold = ranker.is_cold(users)
        if cold.any():
            block[cold] = ranker.popular_scores
        return _masked(block, users, hidden, allowed)

    return rows


def popular_items(ranker: Ranker, ids: NDArray[Any], k: int, *, hidden: Hidden, allowed: Mask | None) -> Best:
    """Return columns and scores of the k most popular items that are not hidden from each user, by id."""
    scores = ranker.popular_scores
    ones, length = np.ones((len(ids), 1), dtype=np.float32), min(k, len(scores))
    return top_k(ones, scores[:, None], k=length, seen=hidden.of_ids(ids), allowed=ranker.ranks(allowed))


def _masked(scores: NDArray[np.float32], users: Positions, hidden: Hidden, allowed: Mask | None) -> NDArray[np.float32]:
    hide(scores, hidden.of(users))
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    return scores


def _by_products(ranker: Ranker, vectors: Vectors, hidden: Hidden, allowed: Mask | None) -> BestOf:
    def best(users: Positions, k: int) -> Best:
        length = min(k, len(vectors.items))
        try:
            if vectors.are_on_device:
                seen = hidden.on(vectors.items.given.device, users)
                return _top_k_on_device(vectors, users, length, seen, allowed)
            return _top_k(vectors, users, length, hidden.of(users), allowed)
        except ParameterError:
            _name_broken_user(ranker, users)
            raise

    return best


def _top_k(vectors: Vectors, users: Positions, k: int, seen: CSR | None, allowed: Mask | None) -> Best:
    rows = vectors.rows(users).astype(np.float32, copy=False)
    return top_k(rows, vectors.items, k=k, scales=vectors.scales, offsets=vectors.offsets, seen=seen, allowed=allowed)


def _top_k_on_device(vectors: Vectors, users: Positions, k: int, seen: Any, allowed: Mask | None) -> Best:
    rows, items = vectors.kept_rows(users), vectors.items.given
    scales, offsets = (None if line is None else like(items, line) for line in (vectors.scales, vectors.offsets))
    ids, scores = top_k(
        rows,
        items,
        k=k,
        scales=scales,
        offsets=offsets,
        seen=seen,
        allowed=None if allowed is None else like(items, allowed, dtype="bool"),
    )
    return to_numpy(ids), to_numpy(scores)


def _name_broken_user(ranker: Ranker, users: Positions) -> None:
    """Raise for the first user with a score that is not a number, if there is one."""
    size = users_per_block(ranker)
    for start in range(0, len(users), size):
        broken = np.isnan(ranker.scores_of(users[start : start + size])).any(axis=1)
        if broken.any():
            raise not_a_number(ranker, int(users[start + np.argmax(broken)])) from None


def _by_scores(ranker: Ranker, hidden: Hidden, allowed: Mask | None) -> BestOf:
    def best(users: Positions, k: int) -> Best:
        scores = _masked(dense_block(ranker, users, ranker.scores_of(users)), users, hidden, allowed)
        return top_k_scores(scores, min(k, scores.shape[1]))

    return best


def _on_device(rank: RanksOnDevice, vectors: Vectors, on_cpu: BestOf, hidden: Hidden, allowed: Mask | None) -> BestOf:
    """Rank on the device; users whose lists it leaves undecided are ranked on the CPU, one by one."""

    def best(users: Positions, k: int) -> Best:
        k = min(k, len(vectors.items))
        columns, scores, undecided = rank(vectors.rows(users), k=k, seen=hidden.of(users), allowed=allowed)
        for row in np.flatnonzero(undecided):
            columns[row], scores[row] = (part[0] for part in on_cpu(users[row : row + 1], k))
        return columns, scores

    return best


def _with_popular_items(ranker: Ranker, best: BestOf, hidden: Hidden, allowed: Mask | None) -> BestOf:
    """Return `best`, but cold users get the popular items instead of an arbitrary order."""

    def best_or_popular(users: Positions, k: int) -> Best:
        columns, scores = best(users, k)
        cold = ranker.is_cold(users)
        if cold.any():
            ids = ranker.users.take(users[cold])
            columns[cold], scores[cold] = popular_items(ranker, ids, k, hidden=hidden, allowed=allowed)
        return columns, scores

    return best_or_popular
