"""Small data for RG², and its parts by their definitions."""

from __future__ import annotations

import numpy as np

from taylorank.data import Interactions, share_ids


def random_data(seed, n_users=40, n_items=25, graded=True):
    rng = np.random.default_rng(seed)
    met = rng.random((n_users, n_items)) < 0.25
    met[np.arange(n_users), rng.integers(0, n_items, n_users)] = True
    met[3] = False  # an empty context
    users, items = np.nonzero(met)
    strengths = rng.choice([0.5, 1.0, 3.0], len(users)) if graded else None
    ids = Interactions.from_arrays(users, items, strengths=strengths)
    everyone = Interactions.from_arrays(np.arange(n_users), np.zeros(n_users, dtype=int))
    return share_ids(ids, everyone)[0]


def dense_parts(data, gamma, rho):
    """r, I, q, c and the targets s by their definitions."""
    r = data.matrix.toarray().astype(np.float64)
    totals = r.sum(axis=1)
    q = np.maximum(r.sum(axis=0), 1) ** gamma
    q /= q.sum()
    c = np.array([t**rho if t > 0 else 0.0 for t in totals])
    s = np.array([row / (t * q) - 1 if t > 0 else np.zeros_like(row) for row, t in zip(r, totals, strict=True)])
    return r, q, c, s
