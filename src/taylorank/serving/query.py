"""A request in the positions of a model: who is asked for, what is hidden, what is allowed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError, UnknownIdError
from taylorank.serving.schema import MOST_CONTRIBUTIONS, MOST_EXPLAINED, Ask, Condition, HistoryItem
from taylorank.serving.served import Mask, Served

Rows = NDArray[np.int32]
NONE: Rows = np.empty(0, dtype=np.int32)
LEAST, MOST = -(2**63), 2**63 - 1  # of int64
LONG = 2_000  # items of a history or a list that make a request heavy


@dataclass(frozen=True, eq=False, slots=True)
class Query:
    """What a list is computed from."""

    served: Served
    user: int  # position, or -1 for a history
    history: Rows  # ascending
    strengths: NDArray[np.float32] | None
    hide: Rows  # ascending
    allowed: Mask | None
    n: int
    discount: float | None
    point: tuple[int, float] | None  # rank and regularization, on the path
    explain: bool
    ignored: list[Any]  # items of the history that the model does not know
    group: Hashable  # queries of one group can be ranked in one pass

    @property
    def is_light(self) -> bool:
        """Whether its answer takes a small part of a millisecond for most models."""
        return not self.explain and self.n <= LONG and len(self.history) <= LONG and len(self.hide) <= LONG


def query_of(ask: Ask, served: Served) -> Query:
    """Translate a request; raise what the library raises for ids and values that do not fit the model."""
    user, history, strengths, ignored = _who(ask, served)
    allowed, key = _allowed(ask, served)
    if ask.discount is not None and served.own_discount is None:
        served.discounts(ask.discount)
    discount = None if ask.discount == served.own_discount else ask.discount
    point = _point(ask, served)
    group = (id(served), key, discount, point is not None, ask.n > LONG)
    hide = _hidden(ask, served, user, history)
    n = min(ask.n, len(served.ranker.items))
    if ask.explain:
        _check_explained(
            n, len(history) if user < 0 else int(np.diff(served.ranker.seen.by_user.indptr[user : user + 2])[0])
        )
    return Query(
        served, user, history, strengths, hide, allowed, n, discount, point, ask.explain, ignored, group
    )  # fmt: skip


def user_row(user: int | str, served: Served) -> int:
    """Return the position of a user; an answer names no other users."""
    row = int(served.ranker.users.positions(_as_array([user]))[0])
    if row < 0:
        kind = "text" if served.ranker.users.is_text else "integers"
        raise UnknownIdError(f"unknown user {user!r}", f"ids of users are {kind}; for a new user send a history")
    return row


def _who(ask: Ask, served: Served) -> tuple[int, Rows, NDArray[np.float32] | None, list[Any]]:
    """Return the position of a known user, or -1 with a history."""
    if ask.history is not None:
        return -1, *_history(ask.history, served)
    if ask.user is None:
        raise ParameterError("neither user nor history is given", "give the id of a user, or a history (it may be [])")
    return user_row(ask.user, served), NONE, None, []


def _history(given: list[HistoryItem], served: Served) -> tuple[Rows, NDArray[np.float32] | None, list[Any]]:
    """Return items, ascending and unique, their strengths unless all are 1, and the items that are unknown."""
    if not given:
        return NONE, None, []
    if not served.folds_in:
        raise ParameterError(f"model {served.name!r} cannot take a history", "ask for a known user, or another model")
    ids = [one["item"] for one in given]
    rows = served.ranker.items.positions(_as_array(ids))
    ignored = [id_ for id_, row in zip(ids, rows.tolist(), strict=True) if row < 0] if (rows < 0).any() else []
    if len(ignored) == len(ids):
        served.ranker.items.require(ids[:1], "item", remedy="no item of the history is known")
    strengths = np.array([one.get("strength", 1.0) for one in given], dtype=np.float32)
    if ignored:
        rows, strengths = rows[rows >= 0], strengths[rows >= 0]
    unique, last = np.unique(rows[::-1], return_index=True)
    weights = strengths[::-1][last]
    return unique.astype(np.int32), None if (weights == 1).all() else weights, ignored


def _check_explained(n: int, length: int) -> None:
    """Refuse to explain more than takes about a second."""
    if n > MOST_EXPLAINED or n * length > MOST_CONTRIBUTIONS:
        raise ParameterError(
            f"{n:,} items after a history of {length:,} are too many to explain",
            f"explain up to {MOST_EXPLAINED} items, and fewer after a long history",
        )


def _as_array(ids: list[Any]) -> NDArray[Any]:
    """Return ids as integers if all are and int64 holds them, which is quicker to look up, else as they are."""
    if all(type(one) is int and LEAST <= one <= MOST for one in ids):
        return np.array(ids, dtype=np.int64)
    found = np.empty(len(ids), dtype=object)
    found[:] = ids
    return found


def _hidden(ask: Ask, served: Served, user: int, history: Rows) -> Rows:
    """Return what this request leaves out: items of the history unless they are wanted, and `exclude`."""
    seen = NONE
    if ask.seen == "exclude" and user < 0:
        seen = history
    elif ask.seen == "exclude":
        rows = served.ranker.seen.by_user
        seen = rows.indices[rows.indptr[user] : rows.indptr[user + 1]]
    if not ask.exclude:
        return seen
    unwanted = served.ranker.items.positions(_as_array(ask.exclude))
    return np.union1d(seen, unwanted[unwanted >= 0]).astype(np.int32)


def _allowed(ask: Ask, served: Served) -> tuple[Mask | None, Hashable]:
    """Return which items may be ranked, None for all, and a key that equal masks share."""
    if ask.items is None and not ask.filters:
        return served.rankable, None
    key = "" if not ask.filters else repr(sorted(_spelled(ask.filters)))
    mask = served.allowed(ask.filters, key) if ask.filters else None
    if ask.items is None:
        return mask, key
    chosen = np.zeros(len(served.ranker.items), dtype=bool)
    chosen[served.ranker.items.require(_as_array(ask.items), "item")] = True
    return served.among(chosen) if mask is None else mask & chosen, object()


def _spelled(filters: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, wanted.model_dump_json(exclude_none=True) if isinstance(wanted, Condition) else repr(wanted))
        for name, wanted in filters.items()
    ]


def _point(ask: Ask, served: Served) -> tuple[int, float] | None:
    """Return rank and regularization where the request gives one of them; the other is the model's."""
    if ask.rank is None and ask.regularization is None:
        return None
    if served.path is None:
        raise ParameterError(
            f"model {served.name!r} has no path, so that rank and regularization cannot be chosen",
            'fit it with solver="spectral" and save it with path=True',
        )
    rank = served.model.rank if ask.rank is None else ask.rank
    share = served.model.share if ask.regularization is None else ask.regularization
    served.path.kept(rank, share)
    return int(rank), float(share)
