"""A model that is fitted at once, to try tuning on."""

from __future__ import annotations

import numpy as np

import taylorank as tr
from taylorank.models.recommender import Recommender


class Clock:
    """The time that passes for what is patched with it: only when somebody says so."""

    now = 0.0

    @classmethod
    def perf_counter(cls) -> float:
        return cls.now


class Toy(Recommender):
    """Scores items by their number, rotated by `shift`; can misbehave on demand."""

    def __init__(self, shift: float = 0.0, *, mode: str = "fine") -> None:
        self.shift = shift
        self.mode = mode

    def fit(self, train, valid=None, callback=None):
        if self.mode == "fails":
            raise RuntimeError("out of luck")
        if self.mode == "stops":
            raise KeyboardInterrupt
        if self.mode == "slow":
            Clock.now += 0.05
        self.train_ = train
        return self

    def scores(self, users):
        n = len(self.items)
        row = np.roll(np.arange(n, dtype=np.float32), int(self.shift))
        return np.broadcast_to(row, (len(users), n))


def table(found):
    """What a search tried, without times."""
    return [(t.params, t.value, t.status, t.step_values, t.fit, t.users) for t in found.trials]


def grouped(n_users, n_items, *, groups):
    """Users who take 10 of their group's items and 6 others: no rank below the number of groups tells them apart."""
    rng = np.random.default_rng(0)
    items = np.array([(rng.permutation(n_items // groups) * groups + user % groups)[:10] for user in range(n_users)])
    others = rng.integers(0, n_items, (n_users, 6))
    pairs = {(user, int(item)) for user in range(n_users) for item in (*items[user], *others[user])}
    return tr.Interactions.from_arrays(*zip(*sorted(pairs), strict=True))
