"""How good a fitted model is, on all or on a sample of the validation users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taylorank.data import Interactions
from taylorank.metrics import Wanted
from taylorank.ranking import Rankable, Shortlist, evaluate
from taylorank.ranking.protocols import folded_in

SHORTLIST = 200


@dataclass(frozen=True, eq=False)
class Judge:
    """Measures a model by `metric` on `valid`, with what the users have `seen` left out of the ranking.

    `fold_in` holds the histories of validation users who are not in the training data; they are folded in first.
    """

    metric: Wanted
    valid: Interactions
    seen: Interactions | Sequence[Interactions] | None = None
    fold_in: Interactions | None = None

    @property
    def users(self) -> int:
        """How many validation users there are."""
        return int(np.count_nonzero(self.valid.by_user.row_lengths))

    def value(self, model: Rankable) -> float:
        """Return the metric's mean over the users."""
        name = str(self.metric)
        return evaluate(folded_in(model, self.fold_in), self.valid, metrics=name, seen=self.seen)[name]

    def on_sample(self, count: int, *, random_state: int) -> Judge:
        """Return a judge of at most `count` users, drawn by `random_state`."""
        users = np.flatnonzero(self.valid.by_user.row_lengths)
        if count >= len(users):
            return self
        chosen = np.zeros(self.valid.n_users, dtype=bool)
        chosen[np.random.default_rng(random_state).permutation(users)[:count]] = True
        part = self.valid.select(np.repeat(chosen, self.valid.by_user.row_lengths), f"{count} users")
        return replace(self, valid=part)


class ShortlistJudge:
    """Measures models similar to `first()` on the items that `first()` ranks best: faster, nearly the same."""

    def __init__(self, judge: Judge, first: Callable[[], Rankable]) -> None:
        self.metric, self.users = judge.metric, judge.users
        self._judge, self._first = judge, first
        self._shortlist: Shortlist | None = None

    def value(self, model: Rankable) -> float:
        """Return the metric's mean over the users."""
        if self._judge.fold_in is not None:
            return self._judge.value(model)  # each model folds the users in by itself
        assert self.metric.cutoff is not None  # those by which models are chosen have one
        if self._shortlist is None:
            length = max(SHORTLIST, 5 * self.metric.cutoff)
            self._shortlist = Shortlist(self._first(), self._judge.valid, seen=self._judge.seen, length=length)
        return self._shortlist.evaluate(model, metric=self.metric.name, k=self.metric.cutoff)
