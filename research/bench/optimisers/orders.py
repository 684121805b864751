"""How fast a sequence of losses converges: linearly, faster, or slower.

With e_k = L_k − L* the excess after iteration k:

    order   the slope of log e_(k+1) over log e_k: 1 is linear, 2 quadratic
    rate    the median of e_(k+1) / e_k over the last iterations: the linear rate, where there is one
    power   −slope of log e_k over log k: e_k ~ k^−power, the law of sublinear methods

Only excesses between `FLOOR` and `CEILING` of the first one count: before, the method is still on its way to the
neighbourhood that the theory covers; after, rounding dominates. Linear and sublinear are distinguished by which of the
two laws fits the second half of these better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

FLOOR, CEILING = 1e-11, 0.3
LAST = 6


def convergence(losses: Sequence[float], *, best: float, zero: float) -> dict[str, Any]:
    """Fit the laws above to losses, one per iteration; `zero` is L(0), which excesses are measured by.

    >>> found = convergence([2.0**-k for k in range(1, 20)], best=0.0, zero=1.0)
    >>> found["kind"], found["rate"]
    ('linear', 0.5)
    >>> convergence([10.0 ** -(2**k) for k in range(4)], best=0.0, zero=1.0)["kind"]
    'superlinear'
    >>> convergence([1 / k for k in range(2, 200)], best=0.0, zero=1.0)["kind"]
    'sublinear'
    """
    excess = (np.asarray(losses, dtype=np.float64) - best) / (zero - best)
    numbers = np.arange(1, len(excess) + 1)
    counts = (excess > FLOOR) & (excess < CEILING)
    e, k = excess[counts], numbers[counts]
    found: dict[str, Any] = {"iterations": len(excess), "last_excess": float(excess[-1]), "counted": len(e)}
    pairs = [(a, b) for a, b in pairwise(excess) if b < a < CEILING and b > FLOOR]
    if len(pairs) < 3:
        return {**found, "kind": "too few iterations", "order": None, "rate": None, "power": None}
    before, after = np.log(np.array(pairs)).T
    ratios = np.exp(after - before)[-LAST:]
    order = float(np.polyfit(before, after, 1)[0])
    late = slice(len(e) // 2, None)  # the laws are asymptotic
    by_power, by_number = (_fit(x[late], np.log(e[late])) for x in (np.log(k), k))
    kind = "linear"
    if ratios[-1] < 0.2 * ratios[0] and ratios[-1] < 0.1:
        kind = "superlinear"
    elif by_power[1] > by_number[1] and ratios[-1] > 0.5:
        kind = "sublinear"
    rate = round(float(np.median(ratios)), 6)
    power = None if by_power[0] != by_power[0] else round(-by_power[0], 3)
    return {**found, "kind": kind, "order": round(order, 3), "rate": rate, "power": power}


def _fit(x: Any, y: Any) -> tuple[float, float]:
    """Slope and share of the variance that the line explains."""
    if len(x) < 3:
        return float("nan"), 0.0
    slope, intercept = np.polyfit(x, y, 1)
    left = y - slope * x - intercept
    return float(slope), 1 - float(left.var() / max(y.var(), 1e-300))
