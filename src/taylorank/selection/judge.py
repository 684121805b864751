"""How good a fitted model is, on all or on a sample of the validation users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.metrics import CHOOSING
from taylorank.ranking import Rankable, Shortlist, evaluate

SHORTLIST = 200


@dataclass(frozen=True)
class Metric:
    """A metric and its cutoff, such as ndcg@10.

    >>> Metric.named("ndcg@10")
    Metric(name='ndcg', cutoff=10)
    """

    name: str
    cutoff: int

    @classmethod
    def named(cls, text: str) -> Metric:
        """Read "name@cutoff"."""
        name, at, cutoff = str(text).partition("@")
        if name not in CHOOSING or not at or not cutoff.isdecimal() or int(cutoff) < 1:
            known = ", ".join(f"{one}@10" for one in CHOOSING)
            raise ParameterError(f"no metric is called {text!r}", f"write one such as {known}")
        return cls(name, int(cutoff))

    def __str__(self) -> str:
        return f"{self.name}@{self.cutoff}"


@dataclass(frozen=True, eq=False)
class Judge:
    """Values a model by `metric` on `valid`, with what the users have `seen` left out of the ranking.

    `fold_in` is what a model is shown of users whom its training data leave out, before it ranks for them.
    """

    metric: Metric
    valid: Interactions
    seen: Interactions | Sequence[Interactions] | None = None
    fold_in: Interactions | None = None

    @property
    def users(self) -> int:
        """How many validation users there are."""
        return int(np.count_nonzero(self.valid.by_user.row_lengths))

    def value(self, model: Rankable) -> float:
        """Return the metric's mean over the users."""
        if self.fold_in is not None:
            model = folded_in(model, self.fold_in)
        return evaluate(model, self.valid, metrics=str(self.metric), seen=self.seen)[str(self.metric)]

    def on_sample(self, count: int, *, seed: int) -> Judge:
        """Return a judge of at most `count` users, drawn by `seed`."""
        users = np.flatnonzero(self.valid.by_user.row_lengths)
        if not len(users):
            raise DataError("the validation data has no interactions", "split with a larger share for validation")
        if count >= len(users):
            return self
        chosen = np.zeros(self.valid.n_users, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(users)[:count]] = True
        part = self.valid.select(np.repeat(chosen, self.valid.by_user.row_lengths), f"{count} users")
        return replace(self, valid=part)


class ShortJudge:
    """Values models much like `first()` by the items which that one ranks best: far quicker, and nearly the same."""

    def __init__(self, judge: Judge, first: Callable[[], Rankable]) -> None:
        self.metric, self.users = judge.metric, judge.users
        self._judge, self._first = judge, first
        self._list: Shortlist | None = None

    def value(self, model: Rankable) -> float:
        """Return the metric's mean over the users."""
        if self._judge.fold_in is not None:
            return self._judge.value(model)  # each model folds the users in by itself
        if self._list is None:
            length = max(SHORTLIST, 5 * self.metric.cutoff)
            self._list = Shortlist(self._first(), self._judge.valid, seen=self._judge.seen, length=length)
        return self._list.evaluate(model, metric=self.metric.name, k=self.metric.cutoff)


def folded_in(model: Any, shown: Interactions) -> Rankable:
    """Return the model for users whom it was not trained on, given what they met."""
    if not hasattr(model, "fold_in"):
        raise ParameterError(f"{type(model).__name__} cannot take in new users", "choose another protocol")
    folded: Rankable = model.fold_in(shown)
    return folded
