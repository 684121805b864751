"""How a student is taught: weights of users, batches, and the rate of every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR

DECAYS = (0.9, 0.999)  # β₁ and β₂ of Adam
EPSILON = 1e-12
FEWEST_BATCHES = 12  # of an epoch, unless that makes them smaller than SMALLEST_BATCH
SMALLEST_BATCH = 64
FEWEST_STEPS = 2000
MOST_WORK = 2e12  # operations that FEWEST_STEPS may take


@dataclass(frozen=True, eq=False)
class Plan:
    """Loss Σ_x w_x Σ_y π_xy (log Σ_j e^s_xj − s_xy), s_xy = u_x·v_y / T + b_y, with w_x ∝ n_x^ρ; by Adam in steps.

    `lists` are π (M, N); `weights` are w (M,), 0 for users who are not taught.
    """

    lists: CSR
    weights: NDArray[np.float32]
    temperature: float
    bias: bool
    learning_rate: float
    batch: int
    epochs: int
    random_state: int

    @cached_property
    def taught(self) -> NDArray[np.int64]:
        """The users with a list."""
        return np.flatnonzero(self.weights > 0)

    @property
    def steps_per_epoch(self) -> int:
        """How many batches of about equal size the users are cut into."""
        return math.ceil(len(self.taught) / self.batch)

    @property
    def steps(self) -> int:
        """Of all epochs."""
        return self.epochs * self.steps_per_epoch

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Rate of step t = 1, 2, …, at place t: a cosine from the learning rate to 0, with Adam's corrections."""
        t = np.arange(1, self.steps + 1)
        cosine = 0.5 * (1 + np.cos(np.pi * (t - 1) / self.steps))
        corrections = np.sqrt(1 - DECAYS[1] ** t) / (1 - DECAYS[0] ** t)
        return np.concatenate(([0.0], self.learning_rate * cosine * corrections))

    def batches(self) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the batches of each epoch: the users in another random order."""
        rng = np.random.default_rng(self.random_state)
        for _ in range(self.epochs):
            yield [np.sort(part) for part in np.array_split(rng.permutation(self.taught), self.steps_per_epoch)]


def user_weights(lengths: NDArray[np.int64], lists: CSR, exponent: float) -> NDArray[np.float32]:
    """Return w_x = n_x^ρ over its mean, 0 where there is no list."""
    weights = np.where(lists.row_lengths > 0, np.maximum(lengths, 1).astype(np.float64) ** exponent, 0.0)
    scaled: NDArray[np.float32] = (weights / weights[weights > 0].mean()).astype(np.float32)
    return scaled


def settled_steps(
    users: int, items: int, *, factors: int, batch_size: int, epochs: int, steps: int | None
) -> tuple[int, int]:
    """Return (users in a batch, epochs).

    At least `steps` steps are made, in smaller batches and more epochs where there are few users: the number of steps
    decides how well a student learns. By default 2000, or as many as 2·10¹² operations allow.

    >>> settled_steps(29_858, 40_981, factors=64, batch_size=2048, epochs=20, steps=None)
    (2048, 20)
    >>> settled_steps(6_040, 3_706, factors=64, batch_size=2048, epochs=20, steps=None)
    (504, 167)
    """
    batch = min(batch_size, max(SMALLEST_BATCH, math.ceil(users / FEWEST_BATCHES)))
    if steps is None:
        steps = min(FEWEST_STEPS, int(MOST_WORK / (8.0 * batch * items * factors)))
    return batch, max(epochs, math.ceil(steps / math.ceil(max(users, 1) / batch)))
