"""Recommendations with original ids, for any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.address_space import check_memory
from taylorank.checks import check_list, check_whole, typed
from taylorank.data import Interactions
from taylorank.progress import Show, counted
from taylorank.ranking.cold import Cold, known_rows
from taylorank.ranking.lists import BestOf, best_items, popular_items
from taylorank.ranking.masks import Hidden, seen_parts
from taylorank.ranking.ranker import Best, Mask, Rankable, Ranker, ranker_of

QUICK = 1 << 13  # users whose lists come before anybody wonders
Users = Sequence[Any] | NDArray[Any]
Lists = tuple[NDArray[Any], NDArray[np.float32]]


@typed
def recommend(
    model: Rankable,
    users: Users,
    n: int = 10,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    items: Sequence[Any] | None = None,
    exclude: Sequence[Any] | None = None,
    cold: Cold | None = None,
    progress: Show = None,
) -> Lists:
    """Return ids and scores of the n best items of each user, (len(users), n); see the models' `recommend`."""
    count = len(users) if hasattr(users, "__len__") else 0
    _check_memory(count, n)
    found = recommend_blocks(model, users, n, seen=seen, items=items, exclude=exclude, cold=cold)
    blocks = list(found if count <= QUICK else _told(found, count, progress))
    if len(blocks) == 1:
        return blocks[0]
    ids, scores = _empty(ranker_of(model), 0, n)
    return np.concatenate([ids, *(b[0] for b in blocks)]), np.concatenate([scores, *(b[1] for b in blocks)])


def _told(blocks: Iterator[Lists], count: int, progress: Show) -> Iterator[Lists]:
    done = 0
    with counted("recommending", "users", progress) as tell:
        for block in blocks:
            tell(done := done + len(block[0]), count)
            yield block


def recommend_blocks(
    model: Rankable,
    users: Users,
    n: int = 10,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    items: Sequence[Any] | None = None,
    exclude: Sequence[Any] | None = None,
    cold: Cold | None = None,
) -> Iterator[Lists]:
    """Yield what `recommend` returns, some thousand users at a time; arguments are checked before the first."""
    _check_memory(1, n)
    for name, given in (("users", users), ("items", items), ("exclude", exclude)):
        if given is not None or name == "users":
            check_list(given, name)
    wanted = users if isinstance(users, np.ndarray) else np.array(list(users), dtype=object)
    ranker = ranker_of(model)
    rows = known_rows(ranker, wanted, cold)
    hidden = Hidden(ranker, seen_parts(ranker, seen))
    allowed = _allowed(ranker, items, exclude)
    best_of, size = best_items(ranker, hidden, allowed=allowed)
    lists = _Lists(ranker, best_of, hidden, allowed, cold)
    _check_memory(min(size, len(rows)), n)
    return (lists.of(wanted[s : s + size], rows[s : s + size], n) for s in range(0, len(rows), size))


def _check_memory(users: int, n: Any) -> None:
    """Refuse lists that memory does not hold, with their padding."""
    check_whole(n, "n", remedy="ask for at least one item")
    check_memory(12 * users * int(n), f"a list of n={n} items for each of {users:,} users", "ask for fewer")


@dataclass(frozen=True, eq=False)
class _Lists:
    """Makes the lists of users: known, cold and unknown."""

    ranker: Ranker
    best_of: BestOf
    hidden: Hidden
    allowed: Mask | None
    cold: Cold | None

    def of(self, users: NDArray[Any], rows: NDArray[np.int64], n: int) -> Lists:
        """Return ids and scores of a block: known users by the model, the others according to `cold`."""
        lists = _empty(self.ranker, len(rows), n)
        known = np.flatnonzero(rows >= 0)
        if self.cold == "nan":
            known = known[~self.ranker.is_cold(rows[known])]
        if len(known):
            self._put(lists, known, self.best_of(rows[known], n))
        if self.cold == "popularity" and (rows < 0).any():
            place = np.flatnonzero(rows < 0)
            found = popular_items(self.ranker, users[place], n, hidden=self.hidden, allowed=self.allowed)
            self._put(lists, place, found)
        return lists

    def _put(self, lists: Lists, place: NDArray[np.int64], found: Best) -> None:
        columns, scores = found
        lists[0][place, : columns.shape[1]] = self.ranker.items.take(columns)
        lists[1][place, : columns.shape[1]] = scores


def _empty(ranker: Ranker, count: int, n: int) -> Lists:
    ids = np.full((count, n), "" if ranker.items.is_text else -1, dtype=ranker.items.values.dtype)
    return ids, np.full((count, n), np.nan, dtype=np.float32)


def _allowed(ranker: Ranker, items: Sequence[Any] | None, exclude: Sequence[Any] | None) -> Mask | None:
    if items is None and exclude is None:
        return None
    allowed = np.full(len(ranker.items), items is None)
    if items is not None:
        allowed[ranker.items.require(items, "item")] = True
    if exclude is not None:
        forbidden = ranker.items.positions(exclude)
        allowed[forbidden[forbidden >= 0]] = False
    return allowed
