"""The vector of a new user for a student's given items: the minimum of the loss of training, by Newton steps.

    f(u) = log Σ_j e^(u·v_j / T + b_j) − Σ_y π_y u·v_y / T   over ‖u‖ = 1

Each step passes once over all items, which gives f and its gradient exactly. The second derivative is Cov_p(v) / T²
under p = softmax(u·v / T + b); a covariance over all items would cost N K² for each user, so the items outside the
user's list speak through a sample of them, drawn once. The result does not depend on it: steps that do not lower f
are shortened, and at the minimum the gradient decides.
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
Singles = NDArray[np.float32]
STEPS = 12
BLOCK_USERS = 64  # folded in at a time, each with a K × K matrix and the vectors of its list
NEAR = 1e-3  # length of the gradient along the sphere, times T, at which a user is done
LONGEST = 0.5  # step, on a sphere of radius 1
LEAST_FOR_THREADS = 1 << 23  # numbers of a pass; a smaller one is over before threads are there
RIDGE = 1e-3  # of the mean of the diagonal, added to it
STEPS_BEFORE = 2  # on the sample alone
ENOUGH = 0.3  # share of the slope that may be left after a step for the next to have the same second derivative
SAMPLE = 2048  # items that speak for all in the second derivative


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
        apart = wanted - self._centre  # what distinguishes the user
        best = _unit(np.where(np.abs(apart).max(axis=1, keepdims=True) > NEAR, apart, wanted))
        listed = [self._listed(lists.indices[lists.indptr[x] : lists.indptr[x + 1]]) for x in range(len(best))]
        for x, own in enumerate(listed):
            best[x] = self._begun(best[x], wanted[x], own)
        now = self._measured(best, wanted)
        step, scale = np.zeros_like(best), np.ones((len(best), 1))
        squares = np.zeros((*best.shape, best.shape[1]))
        stale = np.ones(len(best), dtype=bool)
        for _ in range(STEPS):
            length = np.linalg.norm(now.slope, axis=1)
            rows = np.flatnonzero(length * self.temperature > NEAR)
            if not len(rows):
                break
            for x in rows[scale[rows, 0] == 1.0]:
                if stale[x]:
                    squares[x] = self._curvature(best[x], listed[x], now.logs[x], now.means[x])
                step[x] = _newton(squares[x], best[x], now.slope[x], now.across[x])
            tried = _unit(best[rows] + scale[rows] * step[rows])
            after = self._measured(tried, wanted[rows])
            better = after.loss <= now.loss[rows]
            moved = rows[better]
            scale[rows[~better]] /= 4
            stale[rows[~better]] = True
            scale[moved], best[moved] = 1.0, tried[better]
            now.put(moved, after.at(better))
            stale[moved] = np.linalg.norm(now.slope[moved], axis=1) > ENOUGH * length[moved]
        return best

    def _listed(self, items: NDArray[np.int32]) -> _Listed:
        is_listed = np.zeros(len(self.items), dtype=bool)
        is_listed[items] = True
        return _Listed(self.items[items], self.biases[items], np.flatnonzero(is_listed[self._sample[0]]))

    def _begun(self, u: Doubles, wanted: Doubles, listed: _Listed) -> Doubles:
        """Where to begin: steps on the sample alone, which cost no pass over all items."""
        for _ in range(STEPS_BEFORE):
            of_list, of_sample = self._shares(u, listed, None)
            mean = of_list @ listed.items + of_sample @ self._sample[1]
            gradient = (mean.astype(np.float64) - wanted) / self.temperature
            across = float(gradient @ u)
            square = self._square(listed, of_list, of_sample) - np.outer(mean, mean)
            u = _unit(u + _newton(square / self.temperature**2, u, gradient - across * u, across))
        return u

    def _measured(self, u: Doubles, wanted: Doubles) -> _Point:
        """f, its gradient along the sphere and across it, and log Σ e^s."""
        scale = 1 / self.temperature
        aimed = scale * np.einsum("xk,xk->x", u, wanted)
        most = scale + float(self.biases.max())  # no score is above it
        offsets = np.full(len(u), -most, dtype=np.float32)
        threads = 1 if len(u) * self.items.size < LEAST_FOR_THREADS else None
        totals, sums = softmax_sums(
            u.astype(np.float32), self._columns, row_offsets=offsets, scale=scale, num_threads=threads
        )
        logs = np.log(totals.astype(np.float64)) + most
        means = sums.astype(np.float64) / totals[:, None]
        gradient = scale * (means - wanted)
        across = np.einsum("xk,xk->x", gradient, u)
        return _Point(logs - aimed, gradient - across[:, None] * u, across, logs, means)

    def _curvature(self, u: Doubles, listed: _Listed, log_total: float, mean: Doubles) -> Doubles:
        """Cov(v) / T² with p and the mean as they are, and what p has outside the list as the sample has it."""
        of_list, of_sample = self._shares(u, listed, log_total)
        second, rest = self._square(listed, of_list, of_sample), float(of_sample.sum())
        if rest > 0:  # put the mean of the sample where that of the rest is
            first, right = of_sample @ self._sample[1], mean - of_list @ listed.items
            second += (np.outer(right, right) - np.outer(first, first)) / rest
        curvature: Doubles = (second - np.outer(mean, mean)) / self.temperature**2
        return curvature

    def _shares(self, u: Doubles, listed: _Listed, log_total: float | None) -> tuple[Singles, Singles]:
        """p of the list and of the sample, 1 together; without log Σ e^s as the two have it."""
        aim = (u / self.temperature).astype(np.float32)
        _, v, offsets = self._sample
        own, others = listed.items @ aim + listed.biases, v @ aim + offsets
        most = max(float(own.max()), float(others.max())) if log_total is None else log_total
        of_list, of_sample = (np.exp(np.minimum(part - np.float32(most), 0.0)) for part in (own, others))
        of_sample[listed.in_sample] = 0.0
        first, second = float(of_list.sum()), float(of_sample.sum())
        if log_total is None:
            return of_list / (first + second), of_sample / (first + second)
        return of_list, of_sample * (max(1.0 - first, 0.0) / second if second > 0 else 0.0)

    def _square(self, listed: _Listed, of_list: Singles, of_sample: Singles) -> Doubles:
        """Σ p v vᵀ."""
        own, others = listed.items * np.sqrt(of_list)[:, None], self._sample[1] * np.sqrt(of_sample)[:, None]
        square: Doubles = gram(own, num_threads=1) + gram(others, num_threads=1)
        return square

    @cached_property
    def _columns(self) -> SoftmaxColumns:
        return SoftmaxColumns(self.items, self.biases)

    @cached_property
    def _centre(self) -> Doubles:
        """Mean of v under popularity."""
        centre: Doubles = (self.popularity / self.popularity.sum()) @ self.items.astype(np.float64)
        return centre

    @cached_property
    def _sample(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """Items drawn by the root of their popularity, v, and b less the logarithm of how likely each was drawn."""
        chance = np.sqrt(self.popularity) / np.sqrt(self.popularity).sum()
        count = min(SAMPLE, int(np.count_nonzero(chance)))
        drawn = np.sort(np.random.default_rng(0).choice(len(chance), count, replace=False, p=chance))
        often = np.minimum(1.0, count * chance[drawn]) if count == SAMPLE else np.ones(count)
        return drawn, self.items[drawn], (self.biases[drawn] - np.log(often)).astype(np.float32)


def _newton(H: Doubles, u: Doubles, slope: Doubles, across: float) -> Doubles:
    """The step d ⊥ u with (H + λ I) d = −slope + c u, λ = −across ≥ 0; no longer than LONGEST.

    Where all probability is on one item, H is 0, and if λ is too, the step is that of a slope alone.
    """
    H = H + (max(-across, 0.0) + RIDGE * np.trace(H) / len(H) or 1.0) * np.eye(len(H))
    d, n = np.linalg.solve(H, np.stack((slope, u), axis=1)).T
    step: Doubles = n * (u @ d) / (u @ n) - d
    return step * (LONGEST / max(float(np.linalg.norm(step)), LONGEST))


@dataclass(frozen=True, eq=False)
class _Listed:
    """The items of a user's list."""

    items: Singles  # v
    biases: Singles
    in_sample: NDArray[np.int64]  # places in the sample that are listed, too


@dataclass(frozen=True, eq=False)
class _Point:
    loss: Doubles  # (B,)
    slope: Doubles  # (B, K), ⊥ u
    across: Doubles  # (B,)
    logs: Doubles  # (B,) log Σ_j e^s_j
    means: Doubles  # (B, K) of v under p

    def put(self, rows: NDArray[Any], other: _Point) -> None:
        """Replace these rows."""
        self.loss[rows], self.slope[rows] = other.loss, other.slope
        self.across[rows], self.logs[rows], self.means[rows] = other.across, other.logs, other.means

    def at(self, rows: NDArray[Any]) -> _Point:
        """Return these rows."""
        return _Point(self.loss[rows], self.slope[rows], self.across[rows], self.logs[rows], self.means[rows])


def _unit(vectors: Doubles) -> Doubles:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Doubles = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit
