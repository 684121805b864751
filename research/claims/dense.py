"""The losses of the papers written out over all pairs: slow, plain, and independent of the solvers of this library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions, read_interactions

Floats = NDArray[Any]


def binary_matrix(rng: np.random.Generator, n_users: int, n_items: int, *, density: float = 0.3) -> Floats:
    """Return R (M, N) of 0 and 1 without empty rows or columns."""
    R = (rng.random((n_users, n_items)) < density).astype(float)
    R[np.arange(n_users), np.arange(n_users) % n_items] = 1.0
    R[np.arange(n_items) % n_users, np.arange(n_items)] = 1.0
    return R


def interactions_of(R: Floats) -> Interactions:
    """Return R as the library's data type."""
    return read_interactions(sparse.csr_matrix(R))


def softmax(o: Floats) -> Floats:
    """Return exp(o) / Σ exp(o) along the last axis."""
    weights = np.exp(o - o.max(axis=-1, keepdims=True))
    p: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return p


def log_sum_exp(o: Floats) -> Floats:
    """Return log Σ exp(o) along the last axis."""
    top = o.max(axis=-1)
    total: Floats = top + np.log(np.exp(o - top[..., None]).sum(axis=-1))
    return total


def targets(R: Floats, q: Floats) -> Floats:
    """Return s = r / (I q) − 1, (M, N)."""
    s: Floats = R / (R.sum(axis=1, keepdims=True) * q) - 1
    return s


def scaled(R: Floats) -> Floats:
    """Return S' = diag(√c) S diag(√q) for uniform q and c = I, over its norm: RG² is then ½‖S' − PQᵀ‖²."""
    q = np.full(R.shape[1], 1 / R.shape[1])
    S = np.sqrt(R.sum(axis=1))[:, None] * targets(R, q) * np.sqrt(q)
    unit: Floats = S / np.linalg.norm(S)
    return unit


def rg2(o: Floats, R: Floats, *, q: Floats, c: Floats) -> float:
    """Return Σ_x (c_x/2) Σ_y q_y (o − s)²."""
    return float(0.5 * c @ ((o - targets(R, q)) ** 2 @ q))


def rgx(o: Floats, R: Floats, *, q: Floats, c: Floats) -> float:
    """Return RG² − Σ_x (c_x/2) (q·o_x)²."""
    return rg2(o, R, q=q, c=c) - float(0.5 * c @ (o @ q) ** 2)


def discounts(n: int) -> Floats:
    """Return 1 / log2(1 + rank) for ranks 1..n."""
    c: Floats = 1 / np.log2(np.arange(2, n + 2))
    return c


def dcg(scores: Floats, gains: Floats) -> float:
    """Return Σ gain / log2(1 + rank) of the ranking by falling scores."""
    return float(discounts(len(gains)) @ gains[np.argsort(-scores, kind="stable")])


def dcg_regret(scores: Floats, gains: Floats) -> float:
    """Return what the ranking loses against the one by falling expected gains."""
    return dcg(gains, gains) - dcg(scores, gains)


def spread(values: Any) -> float:
    """Return (largest − smallest) of what should be one number, over its size."""
    array = np.asarray(values, dtype=float)
    return float(np.ptp(array) / max(1.0, float(np.abs(array).max())))


def slope(x: Any, y: Any) -> float:
    """Return the exponent b of y ∝ x^b, fitted to logarithms."""
    return float(np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0])


def relative(value: Any, reference: Any) -> float:
    """Return ‖value − reference‖ / ‖reference‖."""
    exact = np.asarray(reference, dtype=float)
    return float(np.linalg.norm(np.asarray(value, dtype=float) - exact) / max(float(np.linalg.norm(exact)), 1e-300))
