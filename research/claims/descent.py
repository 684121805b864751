"""Descent on RG² along gradients of single rows or of all rows, with the same step sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from research.claims.claim import Judgement, Numbers, decide
from research.claims.dense import Floats, scaled, slope

STEP_SIZES = tuple(0.05 / 2**k for k in range(8))
ONE = 2  # of these sizes, the one whose trajectory is shown: 0.0125
EVERY = 16


class Trajectory(NamedTuple):
    """What a descent passes through, (points, step sizes, runs)."""

    losses: Floats
    squared_gradients: Floats


def descend(
    S: Floats,
    start: tuple[Floats, Floats],
    rng: np.random.Generator,
    *,
    sizes: Sequence[float],
    length: int,
    every: int,
    noisy: bool,
) -> Trajectory:
    """Return the trajectory of L = ½‖S − PQᵀ‖² for every constant step size from every start.

    P and Q move by −size · g. With noise g = M ∇L_x for a row x drawn evenly, whose mean is ∇L; without it g = ∇L.
    """
    runs, M = len(start[0]), len(S)
    P, Q = (np.tile(one, (len(sizes), 1, 1)) for one in start)  # (B, M, K), (B, N, K)
    size = np.repeat(np.array(sizes), runs)[:, None, None]
    batch = np.arange(len(size))
    points = []
    for step in range(1, length + 1):
        if noisy:
            x = rng.integers(M, size=len(batch))
            row = P[batch, x][:, None]  # (B, 1, K)
            error = M * (row @ Q.transpose(0, 2, 1) - S[x][:, None])
            P[batch, x] = (row - size * error @ Q)[:, 0]
            Q = Q - size * error.transpose(0, 2, 1) * row
        else:
            E = P @ Q.transpose(0, 2, 1) - S
            P, Q = P - size * E @ Q, Q - size * E.transpose(0, 2, 1) @ P
        if step % every == 0:
            points.append(_measure(S, P, Q))
    found: Floats = np.array(points).reshape(len(points), 2, len(sizes), runs)
    return Trajectory(losses=found[:, 0], squared_gradients=found[:, 1])


def _measure(S: Floats, P: Floats, Q: Floats) -> tuple[Floats, Floats]:
    E = P @ Q.transpose(0, 2, 1) - S
    squares = ((E @ Q) ** 2).sum(axis=(1, 2)) + ((E.transpose(0, 2, 1) @ P) ** 2).sum(axis=(1, 2))
    return 0.5 * (E**2).sum(axis=(1, 2)), squares


def grouped_targets(rng: np.random.Generator, n_users: int = 30, n_items: int = 24, groups: int = 3) -> Floats:
    """Return scaled targets of users who like most items of their own group: a gap behind groups − 1 components."""
    same = (np.arange(n_users) % groups)[:, None] == np.arange(n_items) % groups
    R = (rng.random((n_users, n_items)) < np.where(same, 0.6, 0.1)).astype(float)
    R[np.arange(n_users), np.arange(n_users) % n_items] = 1.0
    return scaled(R)


def squared_gradients(seed: int, *, noisy: bool = True, runs: int = 4, rank: int = 2) -> Numbers:
    """‖∇L‖² over the last quarter of T steps: with one step size, and with the best for every T."""
    rng = np.random.default_rng(seed)
    S = grouped_targets(rng)
    users, items = (0.15 * rng.standard_normal((runs, n, rank)) for n in S.shape)
    lengths = [2**power for power in range(7, 14)]
    trajectory = descend(S, (users, items), rng, sizes=STEP_SIZES, length=lengths[-1], every=EVERY, noisy=noisy)
    mean = trajectory.squared_gradients.mean(axis=2)  # (points, sizes)
    late = np.array([mean[3 * T // (4 * EVERY) : T // EVERY].mean(axis=0) for T in lengths]).clip(1e-30)
    best = late.min(axis=1)
    return {
        "steps": lengths,
        "with the best size of step": best,
        "best size of step": [STEP_SIZES[k] for k in late.argmin(axis=1)],
        "with one size of step": late[:, ONE],
        "exponent": slope(lengths[2:], best[2:]),
        "left by the last two doublings, one size of step": float(late[-1, ONE] / late[-3, ONE]),
    }


def judge_sublinear(n: Numbers) -> Judgement:
    """As fast as 1/√T or faster, but by a power of T; near a minimum theory gives 1/T, and a factor per step none."""
    exponent, best, one = n["exponent"], n["with the best size of step"], n["with one size of step"]
    return Judgement(
        decide(-1.5 < exponent <= -0.5),
        f"with the best of eight sizes of step for every T the squared gradient falls as T to the power {exponent:.2f} "
        f"(a bound of 1/√T asks for -0.5 or less), from {best[0]:.1g} at {n['steps'][0]} steps to {best[-1]:.1g} at "
        f"{n['steps'][-1]:,}; with one size for all T, {STEP_SIZES[ONE]:g}, the last two doublings leave "
        f"{n['left by the last two doublings, one size of step']:.1g} of it, and {one[-1]:.1g} remain",
    )
