"""The vector of a new user for a student's given items: the minimum of the loss of training, by Newton steps.

    f(u) = log Σ_j e^(u·v_j / T + b_j) − Σ_y π_y u·v_y / T   over ‖u‖ = 1

Each step passes once over all items, which gives f and its gradient exactly. The second derivative is Cov_p(v) / T²
under p = softmax(u·v / T + b); a covariance over all items would cost N K² for each user, so the items outside the
user's list, which have little of p together, are taken to be distributed by popularity. The result does not depend on
it: steps that do not lower f are halved, and at the minimum the gradient decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import SoftmaxColumns, gather_sum, gram, softmax_sums
from taylorank.ranking.rows import take_rows

Doubles = NDArray[np.float64]
STEPS = 12
BLOCK_USERS = 256  # folded in at a time, each with a K × K matrix
NEAR = 1e-3  # length of the gradient along the sphere, times T, at which a user is done
LONGEST = 0.5  # step, on a sphere of radius 1
RIDGE = 1e-3  # of the mean of the diagonal, added to it


@dataclass(frozen=True, eq=False)
class StudentFoldIn:
    """u of each user, from lists π that `lists` makes of histories: by the teacher, or the histories themselves."""

    items: NDArray[np.float32]  # v, (N, K)
    biases: NDArray[np.float32]  # b, (N,)
    temperature: float
    popularity: NDArray[np.float64]
    lists: Callable[[Interactions], CSR]

    def rows(self, histories: Interactions) -> NDArray[np.float32]:
        """Return u of each user, (B, K); 0 for one without history."""
        found = np.zeros((histories.n_users, self.items.shape[1]), dtype=np.float32)
        if not histories.nnz:
            return found
        lists = self.lists(histories)
        known = np.flatnonzero(lists.row_lengths > 0)
        for start in range(0, len(known), BLOCK_USERS):
            users = known[start : start + BLOCK_USERS]
            found[users] = self._solved(take_rows(lists, users))
        return found

    def contributions(self, history: Interactions, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Refuse: a unit vector is no sum over a history."""
        raise ParameterError(
            "the scores of a student are no sum over a history, and its teacher is not here",
            "explain on the fitted model, or save it with keep_teacher=True",
        )

    def _solved(self, lists: CSR) -> Doubles:
        """Newton steps of all rows together; a row that is near its minimum rests."""
        wanted = gather_sum(lists, self.items).astype(np.float64)  # Σ_y π_y v_y, (B, K)
        own = wanted - self._popular[0]  # what distinguishes the user
        best = _unit(np.where(np.abs(own).max(axis=1, keepdims=True) > NEAR, own, wanted))
        now = self._measured(best, wanted)
        step, scale = self._newton(best, now, lists), np.ones((len(best), 1))
        for _ in range(STEPS):
            rows = np.flatnonzero(np.linalg.norm(now.slope, axis=1) * self.temperature > NEAR)
            if not len(rows):
                break
            tried = _unit(best[rows] + scale[rows] * step[rows])
            after = self._measured(tried, wanted[rows])
            better = after.loss <= now.loss[rows]
            moved = rows[better]
            scale[rows[~better]] /= 4
            scale[moved], best[moved] = 1.0, tried[better]
            now.put(moved, after.at(better))
            step[moved] = self._newton(best[moved], now.at(moved), take_rows(lists, moved))
        return best

    def _measured(self, u: Doubles, wanted: Doubles) -> _Point:
        """f, its gradient along the sphere and across it, and log Σ e^s."""
        scale = 1 / self.temperature
        aimed = scale * np.einsum("xk,xk->x", u, wanted)
        most = scale + float(self.biases.max())  # no score is above it
        offsets = np.full(len(u), -most, dtype=np.float32)
        totals, sums = softmax_sums(u.astype(np.float32), self._columns, row_offsets=offsets, scale=scale)
        logs = np.log(totals.astype(np.float64)) + most
        gradient = scale * (sums.astype(np.float64) / totals[:, None] - wanted)
        across = np.einsum("xk,xk->x", gradient, u)
        return _Point(logs - aimed, gradient - across[:, None] * u, across, logs)

    def _newton(self, u: Doubles, at: _Point, lists: CSR) -> Doubles:
        """The step d ⊥ u with (H + λ I) d = −slope + c u, λ = −across ≥ 0."""
        steps = np.empty_like(u)
        for x in range(len(u)):
            part = slice(lists.indptr[x], lists.indptr[x + 1])
            H = self._curvature(u[x], at.logs[x], lists.indices[part])
            H[np.diag_indices(len(H))] += max(-at.across[x], 0.0) + RIDGE * np.trace(H) / len(H)
            d, n = np.linalg.solve(H, np.stack((at.slope[x], u[x]), axis=1)).T
            steps[x] = n * (u[x] @ d) / (u[x] @ n) - d
        lengths = np.linalg.norm(steps, axis=1, keepdims=True)
        limited: Doubles = steps * (LONGEST / np.maximum(lengths, LONGEST))
        return limited

    def _curvature(self, u: Doubles, log_total: float, listed: NDArray[np.int32]) -> Doubles:
        """Cov(v) / T² with p of the listed items and the rest of p by popularity."""
        v = self.items[listed].astype(np.float64)
        p = np.exp(np.minimum(v @ u / self.temperature + self.biases[listed] - log_total, 0.0))
        rest = max(1.0 - p.sum(), 0.0)
        mean, square = self._popular
        second = gram(v * np.sqrt(p)[:, None]) + rest * square
        first = p @ v + rest * mean
        curvature: Doubles = (second - np.outer(first, first)) / self.temperature**2
        return curvature

    @cached_property
    def _columns(self) -> SoftmaxColumns:
        return SoftmaxColumns(self.items, self.biases)

    @cached_property
    def _popular(self) -> tuple[Doubles, Doubles]:
        """Mean of v and of v vᵀ under popularity."""
        v, share = self.items.astype(np.float64), self.popularity / self.popularity.sum()
        return share @ v, (v * share[:, None]).T @ v


@dataclass(frozen=True, eq=False)
class _Point:
    loss: Doubles  # (B,)
    slope: Doubles  # (B, K), ⊥ u
    across: Doubles  # (B,)
    logs: Doubles  # (B,)

    def put(self, rows: NDArray[Any], other: _Point) -> None:
        """Replace these rows."""
        self.loss[rows], self.slope[rows] = other.loss, other.slope
        self.across[rows], self.logs[rows] = other.across, other.logs

    def at(self, rows: NDArray[Any]) -> _Point:
        """Return these rows."""
        return _Point(self.loss[rows], self.slope[rows], self.across[rows], self.logs[rows])


def _unit(vectors: Doubles) -> Doubles:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Doubles = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit
