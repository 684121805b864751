"""Confidence intervals of means over users: percentile bootstrap, all metrics at once."""

from __future__ import annotations

import numpy as np

from taylorank.checks import check_whole
from taylorank.deprecation import renamed
from taylorank.errors import ParameterError
from taylorank.metrics.judged import Values

BLOCK_CELLS = 1 << 22  # draws held at a time
MOST = 1_000_000  # resamples, whose means are all held


def weighted_mean(values: Values, weights: Values | None = None) -> float:
    """Σ w v / Σ w over the values that are defined (not NaN); NaN if none is. Weights are 1 unless given."""
    total, of = _parts(values, weights)
    return float(total.sum() / of.sum()) if of.sum() > 0 else float("nan")


@renamed(seed="random_state")
def bootstrap_means(values: Values, weights: Values, *, resamples: int = 1000, random_state: int = 0) -> Values:
    """Return the mean of each metric over users drawn with replacement, (resamples, metrics).

    Shapes: `values` and `weights` are (users, metrics); undefined values are NaN. Every resample draws as many users
    as there are, the same ones for all metrics, so differences between metrics are paired.

    >>> means = bootstrap_means(np.array([[0.0], [1.0]]), np.ones((2, 1)), resamples=500)
    >>> means.shape, sorted(set(means.ravel().tolist()))
    ((500, 1), [0.0, 0.5, 1.0])
    """
    check_resamples(resamples)
    rng = np.random.default_rng(random_state)
    users, metrics = values.shape
    total, of = _parts(values, weights)
    both = np.hstack((total, of))
    means = np.empty((resamples, metrics))
    block = max(1, BLOCK_CELLS // max(users, 1))
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        drawn = rng.integers(0, users, size=(count, users)) + users * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * users).reshape(count, users)
        sums = times.astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            means[start : start + count] = sums[:, :metrics] / sums[:, metrics:]
    return means


def percentile_interval(means: Values, confidence: float) -> Values:
    """Return the bounds that leave (1 − confidence) / 2 of the resampled means on each side, (2, metrics).

    Means that are not defined are left out; NaN if none is.
    """
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    bounds = np.full((2, means.shape[1]), np.nan)
    known = ~np.isnan(means).all(axis=0)
    bounds[:, known] = np.nanquantile(means[:, known], (tail, 1 - tail), axis=0)
    return bounds


def check_confidence(confidence: float) -> None:
    """Raise unless it is a share."""
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence!r} is not between 0 and 1", "give a share such as 0.95")


def check_resamples(resamples: int) -> None:
    """Raise unless it is a count."""
    if check_whole(resamples, "resamples") > MOST:
        raise ParameterError(f"resamples={resamples} is more than {MOST:,}", "give a smaller number")


def _parts(values: Values, weights: Values | None) -> tuple[Values, Values]:
    """w v and w, both 0 where v is undefined."""
    defined = ~np.isnan(values)
    of = np.where(defined, 1.0 if weights is None else weights, 0.0)
    return np.where(defined, values, 0.0) * of, of
