"""Calibration: are items relevant as often as the model predicts?"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.metrics.judged import Values

Binning = Literal["mass", "width"]
BINS = 15


class Reliability(NamedTuple):
    """Per bin, empty ones left out: the mean prediction, the share that is true, and how many there are."""

    predicted: Values
    observed: Values
    size: NDArray[np.int64]


def reliability(
    predicted: Values, outcome: NDArray[np.bool_], *, bins: int = BINS, binning: Binning = "mass"
) -> Reliability:
    """Put predictions into bins of equal mass (as many in each) or equal width (of [0, 1]).

    Equal predictions may fall into neighbouring bins of equal mass; they are put there in the order given.

    >>> reliability(np.array([0.1, 0.2, 0.9]), np.array([False, True, True]), bins=2, binning="width").observed
    array([0.5, 1. ])
    """
    if bins < 1 or binning not in ("mass", "width"):
        raise ParameterError(f"{bins!r} bins of equal {binning!r}", 'give bins ≥ 1 of equal "mass" or "width"')
    if binning == "mass":
        place = np.empty(len(predicted), dtype=np.int64)
        place[np.argsort(predicted, kind="stable")] = np.arange(len(predicted)) * bins // max(len(predicted), 1)
    else:
        place = np.minimum((predicted * bins).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    filled = count > 0
    sums = [np.bincount(place, values, minlength=bins)[filled] for values in (predicted, outcome)]
    return Reliability(sums[0] / count[filled], sums[1] / count[filled], count[filled])


def calibration_error(
    predicted: Values, outcome: NDArray[np.bool_], *, bins: int = BINS, binning: Binning = "mass"
) -> float:
    """Σ_b (n_b / n) |mean prediction of bin b − share of bin b that is true| (expected calibration error).

    >>> calibration_error(np.array([0.25, 0.25, 0.25, 0.25]), np.array([True, False, False, False]), bins=1)
    0.0
    """
    if not len(predicted):
        return float("nan")
    curve = reliability(predicted, outcome, bins=bins, binning=binning)
    return float(curve.size @ np.abs(curve.predicted - curve.observed) / len(predicted))


def listed_probability(probability: Values, listed: NDArray[np.int64]) -> Values:
    """1 − (1 − p)^n: the probability of an item among n interactions, each of which has it with probability p."""
    with np.errstate(divide="ignore"):
        among: Values = -np.expm1(listed * np.log1p(-probability))
    return among
