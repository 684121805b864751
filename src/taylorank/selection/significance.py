"""Is a difference between two models significant? Paired tests over users, corrected for their number.

Two models are measured on the same users, so the unit is a user's difference d_x. If the models were equally good,
every d_x would have the other sign with the same probability:

    p = P(|Σ_x s_x d_x| ≥ |Σ_x d_x|),   s_x = ±1 at random

(Fisher's randomisation test: no normality is assumed). Several comparisons are corrected by Holm's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from taylorank.deprecation import renamed
from taylorank.errors import DataError, ParameterError

Floats = NDArray[np.float64]
RESAMPLES = 9999
BLOCK_CELLS = 1 << 23  # signs held at a time


@dataclass(frozen=True)
class Versus:
    """A model against the best: mean difference (≤ 0) with its 95 % interval, p as it is and after Holm."""

    difference: float
    low: float
    high: float
    p: float
    p_holm: float


@renamed(seed="random_state")
def sign_flip_test(differences: NDArray[np.floating], *, resamples: int = RESAMPLES, random_state: int = 0) -> Floats:
    """Return the two-sided p of each column of `differences`, (n users, m comparisons) → (m,).

    With few users that differ at all, every one of the 2ⁿ sign patterns is counted and p is exact; otherwise
    p = (1 + patterns at least as extreme) / (1 + resamples), which never is 0.

    >>> sign_flip_test(np.array([[1.0], [1.0], [1.0]]))  # 2 of the 8 patterns are as extreme
    array([0.25])
    """
    d = _columns(differences)
    if resamples < 1:
        raise ParameterError(f"resamples={resamples} is not a count", "use 1 or more, such as 9999")
    d = d[(d != 0).any(axis=1)]  # a user with equal values changes no sum
    n = len(d)
    exact = 2**n <= resamples if n < 60 else False
    count = 2**n if exact else resamples
    observed = np.abs(d.sum(axis=0))
    least = observed - 1e-12 * np.abs(d).sum(axis=0)  # sums of the same numbers in another order are equal
    extreme = np.zeros(d.shape[1], dtype=np.int64)
    rng = np.random.default_rng(random_state)
    size = max(1, BLOCK_CELLS // max(n, 1))
    for start in range(0, count, size):
        rows = min(size, count - start)
        bits = _patterns(start, rows, n) if exact else _coins(rng, rows, n)
        sums = 2.0 * (bits @ d) - d.sum(axis=0)  # Σ ±d
        extreme += (np.abs(sums) >= least).sum(axis=0)
    p: Floats = extreme / count if exact else (extreme + 1) / (count + 1)
    return p


def holm(p_values: Sequence[float] | NDArray[np.floating]) -> Floats:
    """Return p adjusted for the number of tests: the i-th smallest of m times m − i + 1, never falling, at most 1.

    Holm, "A simple sequentially rejective multiple test procedure", 1979.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or np.any(~((p >= 0) & (p <= 1))):
        raise ParameterError(f"{p_values!r} are not p-values", "give numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def mean_interval(values: NDArray[np.floating], *, level: float = 0.95) -> tuple[float, float, float]:
    """Return mean, low and high: mean ± t · s / √n, Student's interval of the mean.

    >>> [round(float(v), 3) for v in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not np.all(np.isfinite(x)):
        raise DataError("an interval needs a list of finite values", "leave out users without a value")
    mean = float(x.mean())
    if len(x) == 1:
        return mean, float("-inf"), float("inf")
    half = float(special.stdtrit(len(x) - 1, 0.5 + level / 2) * x.std(ddof=1) / np.sqrt(len(x)))
    return mean, mean - half, mean + half


@renamed(seed="random_state")
def against_best(
    values: Mapping[str, NDArray[np.floating]],
    *,
    best: str | None = None,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> tuple[str, dict[str, Versus]]:
    """Return the model with the highest mean, or `best` if given, and how every other one compares.

    `values` holds each model's metric per user, in the same order of users. Of equal means the first counts as best.
    """
    lengths = {len(v) for v in values.values()}
    if len(lengths) != 1:
        raise DataError("the models were measured on different users", "evaluate all of them on the same test data")
    best = best or max(values, key=lambda name: float(np.mean(values[name])))
    others = [name for name in values if name != best]
    if not others:
        return best, {}
    d = np.stack([np.asarray(values[name], dtype=np.float64) - values[best] for name in others], axis=1)
    p = sign_flip_test(d, resamples=resamples, random_state=random_state)
    adjusted = holm(p)
    found = {
        name: Versus(*mean_interval(d[:, i]), p=float(p[i]), p_holm=float(adjusted[i])) for i, name in enumerate(others)
    }
    return best, found


def _columns(differences: NDArray[np.floating]) -> Floats:
    d = np.asarray(differences, dtype=np.float64)
    d = d[:, None] if d.ndim == 1 else d
    if d.ndim != 2 or not len(d) or not np.all(np.isfinite(d)):
        raise DataError("the differences are not finite numbers per user", "leave out users without a value")
    return d


def _patterns(start: int, rows: int, n: int) -> Floats:
    numbers = np.arange(start, start + rows)
    bits: Floats = ((numbers[:, None] >> np.arange(n)) & 1).astype(np.float64)
    return bits


def _coins(rng: np.random.Generator, rows: int, n: int) -> Floats:
    octets = rng.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(octets, axis=1, count=n).astype(np.float64)
