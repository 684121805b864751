"""Users of whom nothing is known: unknown to the model, or without history in its training data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError, UnknownIdError
from taylorank.kernels import top_k
from taylorank.ranking.mask import Hidden
from taylorank.ranking.scorer import Scorer

Cold = Literal["popularity", "nan", "error"]
Best = tuple[NDArray[np.int64], NDArray[np.float32]]
BestOf = Callable[[NDArray[np.int64], int], Best]
SHOWN = 3


def popularity(data: Interactions) -> NDArray[np.float64]:
    """Return Σ_x r_xy of every item, (N,)."""
    counts = np.bincount(data.by_user.indices, data.strengths.astype(np.float64), minlength=data.n_items)
    return counts.astype(np.float64)  # of no rows at all, bincount gives integers


def shares(counts: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return pop_y / Σ pop: a probability like those of the models, where counts would dwarf their scores.

    >>> shares(np.array([3.0, 1.0]))
    array([0.75, 0.25], dtype=float32)
    """
    total = counts.sum()
    share: NDArray[np.float32] = (counts / (total if total > 0 else 1.0)).astype(np.float32)
    return share


def cold_users(model: Scorer, users: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which users, by position, the model knows nothing of; a plain scorer knows all of its users."""
    own = getattr(model, "cold_users", None)
    return np.zeros(len(users), dtype=bool) if own is None else own(users)


def popular_items(
    model: Scorer, ids: NDArray[Any], k: int, *, hidden: Hidden, allowed: NDArray[np.bool_] | None
) -> Best:
    """Return columns and scores of the k most popular items that are not hidden from each user, by id."""
    scores = popular_scores(model)
    ones, length = np.ones((len(ids), 1), dtype=np.float32), min(k, len(scores))
    return top_k(ones, scores[:, None], k=length, seen=hidden.of_ids(ids), allowed=rankable(model, allowed))


def popular_scores(model: Scorer) -> NDArray[np.float32]:
    """Return what ranks all items for a user of whom nothing is known, (N,)."""
    own = getattr(model, "cold_scores", None)
    scores: NDArray[np.float32] = own() if own is not None else shares(popularity(model.seen))
    return scores


def rankable(model: Scorer, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return which of the `allowed` items the model can rank, as far as it says so; None for all."""
    own = getattr(model, "rankable_items", None)
    possible = None if own is None else own()
    if possible is None or allowed is None:
        return allowed if possible is None else possible
    both: NDArray[np.bool_] = possible & allowed
    return both


def with_popular_items(model: Scorer, best: BestOf, hidden: Hidden, allowed: NDArray[np.bool_] | None) -> BestOf:
    """Return `best`, but users of whom nothing is known get the popular items instead of an arbitrary order."""

    def best_or_popular(users: NDArray[np.int64], k: int) -> Best:
        columns, scores = best(users, k)
        cold = cold_users(model, users)
        if cold.any():
            ids = model.users.take(users[cold])
            columns[cold], scores[cold] = popular_items(model, ids, k, hidden=hidden, allowed=allowed)
        return columns, scores

    return best_or_popular


def known_rows(model: Scorer, wanted: NDArray[Any], cold: Cold | None) -> NDArray[np.int64]:
    """Return the users' positions, -1 for unknown ones; raise for those that `cold` does not provide for."""
    if cold not in (None, *get_args(Cold)):
        raise ParameterError(f"cold={cold!r} is unknown", f"choose from {', '.join(get_args(Cold))}")
    if wanted.ndim != 1:
        raise ParameterError(f"users have {wanted.ndim} dimensions", "give a plain list of ids")
    rows = model.users.positions(wanted)
    if cold in (None, "error") and (rows < 0).any():
        raise _unknown(model, wanted[rows < 0])
    if cold == "error":
        empty = cold_users(model, rows)
        if empty.any():
            names = _listed(wanted[empty])
            raise UnknownIdError(
                f"nothing is known of user {names}, who met nothing in training", 'pass cold="popularity"'
            )
    return rows


def _unknown(model: Scorer, ids: NDArray[Any]) -> UnknownIdError:
    kind = "text" if model.users.is_text else "integers"
    example = f", such as {model.users.values[:1].tolist()[0]!r}" if len(model.users) else ""
    return UnknownIdError(
        f"unknown user {_listed(ids)} (ids here are {kind}{example})",
        'for new users with a history use fold_in; cold="popularity" gives them the popular items',
    )


def _listed(ids: NDArray[Any]) -> str:
    plain = [value.item() if isinstance(value, np.generic) else value for value in ids[:SHOWN]]
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(repr(value) for value in plain) + more
