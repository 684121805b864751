"""The first ranks of some users, judged by the relevant items: the input of every metric of a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Gain = Literal["binary", "strength", "exponential"]
GAINS: tuple[Gain, ...] = ("binary", "strength", "exponential")


@dataclass(frozen=True)
class Judged:
    """Ranks 1..k of B users.

    Parameters
    ----------
    hits
        (B, k): whether the item at each rank is relevant. Ranks that a short list lacks are no hits.
    relevant
        (B,): how many items are relevant to the user in all, at least 1.
    gains, ideal
        (B, k): the gain of the item at each rank, and the largest gains of the user, falling; None: every relevant
        item gains 1.
    counts, total
        (B, k): how often the item at each rank occurs in training, NaN beyond a short list; and the sum over all items.

    >>> Judged(np.array([[True, False]]), np.array([1])).at(1).hits
    array([[ True]])
    """

    hits: NDArray[np.bool_]
    relevant: NDArray[np.int64]
    gains: Values | None = field(default=None, kw_only=True)
    ideal: Values | None = field(default=None, kw_only=True)
    counts: Values | None = field(default=None, kw_only=True)
    total: float = field(default=0.0, kw_only=True)

    @property
    def k(self) -> int:
        """The cutoff: how many ranks there are."""
        return int(self.hits.shape[1])

    def at(self, k: int) -> Judged:
        """Return the first k ranks."""
        if k == self.k:
            return self
        gains, ideal, counts = (None if a is None else a[:, :k] for a in (self.gains, self.ideal, self.counts))
        return Judged(self.hits[:, :k], self.relevant, gains=gains, ideal=ideal, counts=counts, total=self.total)


def gain_of(strengths: NDArray[Any], kind: Gain) -> Values:
    """Return the gain of relevant items: 1 ("binary"), their strength r, or 2^r − 1 ("exponential").

    >>> gain_of(np.array([1.0, 3.0]), "exponential")
    array([1., 7.])
    """
    if kind == "binary":
        return np.ones(len(strengths))
    exact = strengths.astype(np.float64)
    return exact if kind == "strength" else np.exp2(exact) - 1
