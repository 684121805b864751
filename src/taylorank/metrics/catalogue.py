"""Metrics of all lists together: how much of the catalogue they show. Each takes `shown`, (N,): lists per item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def coverage(shown: NDArray[Any]) -> float:
    """Share of the items that appear in at least one list.

    >>> coverage(np.array([3, 0, 1, 0]))
    0.5
    """
    return float(np.mean(shown > 0)) if len(shown) else 0.0


def gini(shown: NDArray[Any]) -> float:
    """Gini index of the lists per item: Σ_i (2i − N − 1) s_(i) / (N Σ s), with s_(1) ≤ … ≤ s_(N).

    0: all items are shown equally often; 1 − 1/N: one item has every place.

    >>> gini(np.array([2, 2])), gini(np.array([0, 4]))
    (0.0, 0.5)
    """
    total = float(shown.sum())
    if total == 0:
        return 0.0
    count = len(shown)
    places = 2 * np.arange(1, count + 1) - count - 1
    return float(places @ np.sort(shown) / (count * total))


CATALOGUE_METRICS: dict[str, Callable[[NDArray[Any]], float]] = {"coverage": coverage, "gini": gini}
