"""Items in the plane: the first two principal axes of their vectors, weighted by popularity.

For RG² by one SVD these are its first two singular axes; with γ = ρ = 1 those of correspondence analysis, which is also
what models without vectors get, from the data they were fitted to. Rare items lie far out, so the distance r from the
centre is shown as r / (r + median r): directions stay, and everything is within the unit circle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError
from taylorank.models import RG2
from taylorank.serving.served import Served

DIGITS = 4


def map_of(served: Served) -> dict[str, Any]:
    """Return ids, titles, x, y and popularity of the items that can be recommended, the most popular first."""
    popularity = served.ranker.item_popularity
    shown = np.argsort(-popularity, kind="stable")
    if served.rankable is not None:
        shown = shown[served.rankable[shown]]
    plane = squashed(item_axes(served)[shown])
    ids, titles = served.catalogue.ids, served.catalogue.titles
    return {
        "ids": [ids[item] for item in shown.tolist()],
        "titles": [titles[item] for item in shown.tolist()],
        "x": np.round(plane[:, 0], DIGITS).tolist(),
        "y": np.round(plane[:, 1], DIGITS).tolist(),
        "popularity": [round(value, DIGITS) for value in popularity[shown].tolist()],
        "model": served.name,
        "version": served.version,
    }


def item_axes(served: Served) -> NDArray[np.float64]:
    """Return the coordinates of all items, (N, 2)."""
    ranker = served.ranker
    if ranker.vectors is not None and ranker.vectors.items.factors.shape[1] >= 2:
        return principal_axes(ranker.vectors.items.factors, ranker.item_popularity)
    if min(ranker.seen.n_users, ranker.seen.n_items) < 2 or not ranker.seen.nnz:
        raise DataError("this model has neither vectors nor data to draw a map of", "save it with the seen items")
    analysis = RG2(2, regularization=0.0, proposal_exponent=1.0, context_exponent=1.0).fit(ranker.seen)
    return principal_axes(analysis.item_factors, ranker.item_popularity)


def principal_axes(vectors: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return v_y − mean on the two leading eigenvectors of the weighted covariance, each with its largest part > 0.

    >>> principal_axes(np.array([[0.0, 3.0], [0.0, -3.0], [1.0, 0.0], [-1.0, 0.0]]), np.ones(4)).tolist()
    [[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    """
    w = weights / max(float(weights.sum()), np.finfo(float).tiny)
    X = vectors.astype(np.float64)
    X = X - w @ X
    _, axes = np.linalg.eigh((X * w[:, None]).T @ X)
    two = axes[:, [-1, -2]]
    two = two * np.where(two[np.abs(two).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # an eigenvector has no sign
    plane: NDArray[np.float64] = X @ two + 0.0
    return plane


def squashed(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points at r / (r + median r) from the centre, in the same directions."""
    r = np.hypot(plane[:, 0], plane[:, 1])
    middle = float(np.median(r[r > 0])) if (r > 0).any() else 1.0
    return plane / (r + middle)[:, None]
