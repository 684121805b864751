"""Scorers for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taylorank.metrics import choosing_metric


def scorer(metric: str, *, random_state: int = 0) -> Callable[..., float]:
    """Return a function for `scoring=` that has the model's `score` by `metric`, such as "recall@20".

    >>> import taylorank as tr
    >>> data = tr.planted(100, 40, interactions=1500)
    >>> 0 < scorer("recall@20")(tr.RG2(4).fit(data), data) < 1
    True
    """
    wanted = str(choosing_metric(metric))

    def score(estimator: Any, X: Any, y: Any = None) -> float:
        return float(estimator.score(X, y, metric=wanted, random_state=random_state))

    return score
