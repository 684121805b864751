"""Recommendations with original ids, for any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_list, check_whole
from taylorank.data import Interactions
from taylorank.ranking.best import best_items
from taylorank.ranking.cold import Best, BestOf, Cold, cold_users, known_rows, popular_items
from taylorank.ranking.mask import Hidden, seen_parts
from taylorank.ranking.scorer import Scorer

Users = Sequence[Any] | NDArray[Any]
Lists = tuple[NDArray[Any], NDArray[np.float32]]


def recommend(
    model: Scorer,
    users: Users,
    n: int = 10,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    items: Sequence[Any] | None = None,
    exclude: Sequence[Any] | None = None,
    cold: Cold | None = None,
) -> Lists:
    """Return ids and scores of the n best items of each user, (len(users), n); see the models' `recommend`."""
    blocks = list(recommend_blocks(model, users, n, seen=seen, items=items, exclude=exclude, cold=cold))
    if len(blocks) == 1:
        return blocks[0]
    ids, scores = _empty(model, 0, n)
    return np.concatenate([ids, *(b[0] for b in blocks)]), np.concatenate([scores, *(b[1] for b in blocks)])


def recommend_blocks(
    model: Scorer,
    users: Users,
    n: int = 10,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    items: Sequence[Any] | None = None,
    exclude: Sequence[Any] | None = None,
    cold: Cold | None = None,
) -> Iterator[Lists]:
    """Yield what `recommend` returns, some thousand users after the other; what is wrong is found before the first."""
    check_whole(n, "n", remedy="ask for at least one item")
    for name, given in (("users", users), ("items", items), ("exclude", exclude)):
        if given is not None or name == "users":
            check_list(given, name)
    wanted = users if isinstance(users, np.ndarray) else np.array(list(users), dtype=object)
    rows = known_rows(model, wanted, cold)
    hidden = Hidden(model, seen_parts(model, seen))
    allowed = _allowed(model, items, exclude)
    best_of, size = best_items(model, hidden, allowed=allowed)
    lists = _Lists(model, best_of, hidden, allowed, cold)
    return (lists.of(wanted[s : s + size], rows[s : s + size], n) for s in range(0, len(rows), size))


@dataclass(frozen=True, eq=False)
class _Lists:
    """How users of every kind get their lists."""

    model: Scorer
    best_of: BestOf
    hidden: Hidden
    allowed: NDArray[np.bool_]
    cold: Cold | None

    def of(self, users: NDArray[Any], rows: NDArray[np.int64], n: int) -> Lists:
        """Return ids and scores of a block: known users by the model, the others as `cold` says."""
        lists = _empty(self.model, len(rows), n)
        known = np.flatnonzero(rows >= 0)
        if self.cold == "nan":
            known = known[~cold_users(self.model, rows[known])]
        if len(known):
            self._put(lists, known, self.best_of(rows[known], n))
        if self.cold == "popularity" and (rows < 0).any():
            place = np.flatnonzero(rows < 0)
            found = popular_items(self.model, users[place], n, hidden=self.hidden, allowed=self.allowed)
            self._put(lists, place, found)
        return lists

    def _put(self, lists: Lists, place: NDArray[np.int64], found: Best) -> None:
        columns, scores = found
        lists[0][place, : columns.shape[1]] = self.model.items.take(columns)
        lists[1][place, : columns.shape[1]] = scores


def _empty(model: Scorer, count: int, n: int) -> Lists:
    ids = np.full((count, n), "" if model.items.is_text else -1, dtype=model.items.values.dtype)
    return ids, np.full((count, n), np.nan, dtype=np.float32)


def _allowed(model: Scorer, items: Sequence[Any] | None, exclude: Sequence[Any] | None) -> NDArray[np.bool_]:
    allowed = np.full(len(model.items), items is None)
    if items is not None:
        allowed[model.items.require(items, "item")] = True
    if exclude is not None:
        forbidden = model.items.positions(exclude)
        allowed[forbidden[forbidden >= 0]] = False
    return allowed
