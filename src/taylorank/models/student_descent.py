"""Teaching a student on the CPU: gradients by native kernels, without torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.errors import TaylorankError
from taylorank.kernels import gather_sum, softmax_sums, unit_adam
from taylorank.models.student_plan import DECAYS, EPSILON, Plan
from taylorank.ranking.rows import take_rows

Singles = NDArray[np.float32]
LONGEST = 512  # steps after which a moment has lost all weight: 0.9^512 ≈ 4e-24


class Descent:
    """Adam on the directions of all users and items and on the biases of the items, one batch of users at a time.

    A user who is not in the batch has a gradient of 0 and moves on by momentum. That is done when the user comes up
    again, all missed steps at once: Σ_t rate_t β₁^t m / √(β₂^t s) is one number per user times m / √s.
    """

    def __init__(self, plan: Plan, users: Singles, items: Singles, biases: Singles | None = None) -> None:
        self.plan = plan
        self.users, self.items = _Side(users), _Side(items)
        self.biases = np.zeros(len(items), dtype=np.float32) if biases is None else biases.copy()
        self._bias_moments = np.zeros_like(self.biases), np.zeros_like(self.biases)
        self.step = 0
        self._last = np.zeros(len(users), dtype=np.int64)  # step at which each user was up to date
        self._missed = np.zeros(plan.steps + 1)  # by that step: Σ over the steps since of rate_t (β₁ / √β₂)^(t − step)

    def learn(self, batch: NDArray[np.int64]) -> float:
        """Make one step with the users of `batch`; return their loss."""
        self.step += 1
        users, moments, raw = self._caught_up(batch)
        loss, by_users, by_items, by_biases = gradients(self.plan, batch, users, self.items.unit, self.biases)
        rate = self.plan.rates[self.step]
        self._move(raw, users, by_users, moments)
        for whole, part in zip(self.users.arrays, (raw, users, *moments), strict=True):
            whole[batch] = part
        raw, unit, first, second = self.items.arrays
        self._move(raw, unit, by_items, (first, second))
        if self.plan.bias:
            _adam(self.biases, by_biases, self._bias_moments, rate)
        self._note_step(batch, rate)
        return loss

    def snapshot(self) -> tuple[Singles, Singles, Singles]:
        """Return users, items and biases as they are now; those who are not taught have vectors of 0."""
        users = self._moved(np.arange(len(self._last)))[1].copy()
        users[self.plan.weights == 0] = 0.0
        return users, self.items.unit.copy(), self.biases.copy()

    def _move(self, raw: Singles, unit: Singles, gradient: Singles, moments: tuple[Singles, Singles]) -> None:
        """One step of raw vectors along the sphere, and what they are afterwards."""
        rate = self.plan.rates[self.step]
        epsilon = EPSILON * np.sqrt(1 - DECAYS[1] ** self.step)
        unit_adam(raw, unit, gradient, moments, rate=rate, epsilon=epsilon, decays=DECAYS)

    def _note_step(self, batch: NDArray[np.int64], rate: float) -> None:
        start = max(0, self.step - LONGEST)
        ages = np.arange(self.step - start, 0, -1)
        self._missed[start : self.step] += rate * (DECAYS[0] / np.sqrt(DECAYS[1])) ** ages
        self._last[batch] = self.step

    def _moved(self, rows: NDArray[np.int64]) -> tuple[Singles, Singles]:
        """Raw vectors and directions of these users after the steps that they missed."""
        w, _, m, s = (array[rows] for array in self.users.arrays)
        w -= self._missed[self._last[rows], None].astype(np.float32) * m / (np.sqrt(s) + np.float32(EPSILON))
        return w, w / np.linalg.norm(w, axis=1, keepdims=True)

    def _caught_up(self, batch: NDArray[np.int64]) -> tuple[Singles, tuple[Singles, Singles], Singles]:
        """Directions, moments and raw vectors of the batch before this step."""
        raw, unit = self._moved(batch)
        missed = (self.step - 1 - self._last[batch])[:, None]
        first, second = (
            moment[batch] * (decay**missed).astype(np.float32)
            for moment, decay in zip(self.users.arrays[2:], DECAYS, strict=True)
        )
        return unit, (first, second), raw


class _Side:
    """Raw vectors, their directions, and the moments of Adam."""

    def __init__(self, start: Singles) -> None:
        self.arrays = [start.copy(), start.copy(), np.zeros_like(start), np.zeros_like(start)]

    @property
    def unit(self) -> Singles:
        return self.arrays[1]


def gradients(
    plan: Plan, batch: NDArray[np.int64], users: Singles, items: Singles, biases: Singles
) -> tuple[float, Singles, Singles, Singles]:
    """Return the loss of a batch and its gradients by u (B, K), v (N, K) and b (N,).

    With p = softmax(s): by u_x it is w_x (Σ_y p_xy v_y − Σ_y π_xy v_y) / T, by v_y Σ_x w_x (p_xy − π_xy) u_x / T, by
    b_y Σ_x w_x (p_xy − π_xy).
    """
    weights, scale = plan.weights[batch], 1 / plan.temperature
    lists = take_rows(plan.lists, batch)
    wanted, aimed_biases = _split(gather_sum(lists, _joined(items, biases)))  # Σ_y π_xy v_y and Σ_y π_xy b_y
    aimed = scale * np.einsum("xk,xk->x", users, wanted) + aimed_biases
    most = scale + float(biases.max())  # no score is above it
    offsets = np.full(len(users), -most, dtype=np.float32)
    totals, sums = softmax_sums(users, items, row_offsets=offsets, column_offsets=biases, scale=scale)
    if not (np.isfinite(totals).all() and totals.all()):
        raise TaylorankError("the student's scores overflow", "raise temperature or lower learning_rate")
    by_users = (scale * weights)[:, None] * (sums / totals[:, None] - wanted)
    logs = np.log(totals.astype(np.float64))
    chances, sums = softmax_sums(
        items, users, row_offsets=biases, column_offsets=np.log(weights) - logs + offsets, scale=scale
    )
    by_item = CSR(lists.indptr, lists.indices, _per_entry(lists, weights), lists.n_columns).transpose()
    listed, shares = _split(gather_sum(by_item, _joined(users, np.ones(len(users), dtype=np.float32))))
    return float(weights @ (logs - offsets - aimed)), by_users, scale * (sums - listed), chances - shares


def _per_entry(lists: CSR, weights: Singles) -> Singles:
    assert lists.weights is not None
    product: Singles = lists.weights * np.repeat(weights, lists.row_lengths)
    return product


def _joined(vectors: Singles, line: Singles) -> Singles:
    return np.hstack((vectors, line[:, None]))


def _split(joined: Singles) -> tuple[Singles, Singles]:
    return joined[:, :-1], joined[:, -1]


def _adam(values: Singles, gradient: Singles, moments: tuple[Singles, Singles], rate: float) -> None:
    first, second = moments
    first += np.float32(1 - DECAYS[0]) * (gradient - first)
    second += np.float32(1 - DECAYS[1]) * (gradient**2 - second)
    values -= np.float32(rate) * first / (np.sqrt(second) + np.float32(EPSILON))
