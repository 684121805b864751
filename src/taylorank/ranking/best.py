"""The best items of users, by whichever way is fastest for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import top_k as top_products
from taylorank.kernels import top_k_scores
from taylorank.ranking.cold import Best, BestOf, cold_users, popular_scores, rankable, with_popular_items
from taylorank.ranking.mask import Hidden, dense_block, hide, not_a_number
from taylorank.ranking.rows import are_consecutive
from taylorank.ranking.scorer import Scorer, ranks_by_products, scores_of

BLOCK_USERS = 8192  # of products, whose lists alone are held
BLOCK_CELLS = 1 << 22  # of scores, held as (users, items)


def best_items(
    model: Scorer, masks: Sequence[Interactions] | Hidden, *, allowed: NDArray[np.bool_] | None = None
) -> tuple[BestOf, int]:
    """Return a function from (users, k) to the columns and scores of their best items, and users per call.

    Items in `masks` and items not `allowed` are left out, and so are those that the model cannot rank because nobody
    met them in training; of equal scores the lower position (the smaller id) comes first; short lists are padded with
    -1 and NaN. Users of whom the model knows nothing get the popular items (`ranking.cold`). A model that has
    `export_factors` is ranked by inner products without ever holding a row of scores.
    """
    hidden = masks if isinstance(masks, Hidden) else Hidden(model, masks)
    allowed = rankable(model, allowed)
    if ranks_by_products(model):
        best, size = _by_product(model, hidden, allowed), BLOCK_USERS
    else:
        best, size = _by_scores(model, hidden, allowed)
    return with_popular_items(model, best, hidden, allowed), size


def users_per_block(model: Scorer) -> int:
    """Return for how many users (B, N) numbers are held at a time."""
    return max(1, BLOCK_CELLS // max(len(model.items), 1))


def ranked_scores(model: Scorer, hidden: Hidden) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """Return a function from users to the scores that make their lists, (B, N), −inf for what is left out."""
    scores, allowed = scores_of(model), rankable(model, None)

    def rows(users: NDArray[np.int64]) -> NDArray[np.float32]:
        block = dense_block(model, users, scores(users))
        cold = cold_users(model, users)
        if cold.any():
            block[cold] = popular_scores(model)
        return _left_out(block, users, hidden, allowed)

    return rows


def _left_out(
    scores: NDArray[np.float32], users: NDArray[np.int64], hidden: Hidden, allowed: NDArray[np.bool_] | None
) -> NDArray[np.float32]:
    hide(scores, hidden.of(users))
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    return scores


def _by_product(model: Any, hidden: Hidden, allowed: NDArray[np.bool_] | None) -> BestOf:
    of_users, of_items = model.export_factors()
    of_items = of_items.astype(np.float32, copy=False)
    on_device = getattr(model, "device_top_k", None)  # a model that lives on a device ranks there
    top = top_products if on_device is None else on_device

    def best(users: NDArray[np.int64], k: int) -> Best:
        chosen = _chosen_rows(of_users, users).astype(np.float32, copy=False)
        rows = hidden.of(users)
        try:
            return top(chosen, of_items, k=min(k, len(of_items)), seen=rows, allowed=allowed)
        except ParameterError:
            _name_broken_user(model, users, chosen, of_items)
            raise

    return best


def _chosen_rows(array: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """These rows; a view if they follow each other."""
    return array[rows[0] : rows[-1] + 1] if are_consecutive(rows) else array[rows]


def _name_broken_user(model: Scorer, users: NDArray[np.int64], of_users: NDArray[Any], of_items: NDArray[Any]) -> None:
    """Raise for the first user with a score that is not a number, if there is one."""
    size = users_per_block(model)
    for start in range(0, len(users), size):
        with np.errstate(invalid="ignore", over="ignore"):
            broken = np.isnan(of_users[start : start + size] @ of_items.T).any(axis=1)
        if broken.any():
            raise not_a_number(model, int(users[start + np.argmax(broken)])) from None


def _by_scores(model: Scorer, hidden: Hidden, allowed: NDArray[np.bool_] | None) -> tuple[BestOf, int]:
    def best(users: NDArray[np.int64], k: int) -> Best:
        scores = _left_out(dense_block(model, users, model.scores(users)), users, hidden, allowed)
        return top_k_scores(scores, min(k, scores.shape[1]))

    on_device = getattr(model, "device_best", None)  # a model that lives on a device ranks there
    if on_device is None:
        return best, users_per_block(model)

    def best_there(users: NDArray[np.int64], k: int) -> Best:
        k = min(k, len(model.items))
        columns, scores, doubtful = on_device(users, k=k, seen=hidden.of(users), allowed=allowed)
        for row in np.flatnonzero(doubtful):
            columns[row], scores[row] = (part[0] for part in best(users[row : row + 1], k))
        return columns, scores

    return best_there, BLOCK_USERS
