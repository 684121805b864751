"""Sampled softmax over a handful of items with every possible draw counted, so that no expectation is an estimate."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from research.claims.dense import Floats, softmax

# log of what a score is divided by: (of the positive, of the draws), up to the constant that makes the limit softmax
FORMS = {
    "−log(Nq) on draws": lambda q, n: (np.full_like(q, np.log(n / len(q))), np.log(n * q)),
    "−log(nq) on all": lambda q, n: (np.log(n * q), np.log(n * q)),
    "−log(nq) on draws": lambda q, n: (np.zeros_like(q), np.log(n * q)),
    "draws alone": lambda q, n: (np.full_like(q, np.inf), np.log(n * q)),
}


def all_draws(q: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the counts (S, N) of every multiset of n draws, and its probability (S,)."""
    N = len(q)
    bars = np.array(list(combinations(range(n + N - 1), N - 1)), dtype=int).reshape(-1, N - 1)
    edges = np.hstack((np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + N - 1)))
    counts = np.diff(edges, axis=1) - 1
    chance = np.exp(gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(q))
    return counts.astype(float), chance


def values_and_gradients(o: Floats, q: Floats, n: int, form: str) -> tuple[Floats, Floats, Floats]:
    """Return probabilities (S,), losses (S, N) and gradients (S, N, N) for every draw and every positive."""
    counts, chance = all_draws(q, n)
    of_positive, of_draws = FORMS[form](q, n)
    shift = o.max()
    drawn = counts * np.exp(o - shift - of_draws)  # (S, N)
    own = np.exp(o - shift - of_positive)  # (N,)
    total = drawn.sum(axis=1)[:, None] + own  # (S, N): by positive
    losses = np.log(total) + shift - o
    gradients = drawn[:, None, :] / total[:, :, None]  # (S, positive, item)
    places = np.arange(len(o))
    gradients[:, places, places] += own / total
    gradients[:, places, places] -= 1.0
    return chance, losses, gradients


def moments(o: Floats, q: Floats, n: int, form: str, positives: Floats) -> dict[str, float]:
    """Return bias and variance of loss and gradient against softmax, averaged over positives from `positives`."""
    p = softmax(o)
    exact_loss = -np.log(p)
    exact_gradient = p[None, :] - np.eye(len(o))
    chance, losses, gradients = values_and_gradients(o, q, n, form)
    mean_loss, mean_gradient = chance @ losses, np.einsum("s,syj->yj", chance, gradients)
    deviation = ((gradients - mean_gradient) ** 2).sum(axis=2)
    return {
        "loss bias": float(positives @ (mean_loss - exact_loss)),
        "loss variance": float(positives @ (chance @ (losses - mean_loss) ** 2)),
        "gradient bias": float(np.sqrt(positives @ ((mean_gradient - exact_gradient) ** 2).sum(axis=1))),
        "gradient variance": float(positives @ (chance @ deviation)),
    }


def fitted(eta: Floats, q: Floats, n: int, form: str) -> Floats:
    """Return softmax of the scores of least expected loss when positives come from `eta`."""

    def risk(z: Floats) -> tuple[float, Floats]:
        o = np.append(0.0, z)
        chance, losses, gradients = values_and_gradients(o, q, n, form)
        return float(chance @ losses @ eta), np.einsum("s,syj,y->j", chance, gradients, eta)[1:]

    return softmax(np.append(0.0, least(risk, np.zeros(len(eta) - 1))))


def least(risk: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Return where a smooth convex function with its gradient is least."""
    found: Floats = minimize(risk, start, jac=True, method="BFGS", options={"gtol": 1e-10}).x
    return found


def chi_square(p: Floats, q: Floats) -> float:
    """Return χ²(p‖q) = Σ p²/q − 1."""
    return float((p**2 / q).sum() - 1)
