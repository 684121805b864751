"""Is a difference between models significant? Paired tests over users, which allow for the choice of the best.

Two models i, j are measured on the same users, so the unit is a user's difference d_x = v_xi − v_xj. If the models were
equally good, every d_x would have the other sign with the same probability:

    t_ij = |Σ_x d_x| / √(Σ_x d_x²),   p = P(|Σ_x s_x d_x| / √(Σ_x d_x²) ≥ t_ij),   s_x = ±1 at random

(Fisher's randomisation test: no normality is assumed). The best of several models is chosen on the same users, so even
of equally good models the last is often far below the first. p is therefore adjusted by the largest t of all pairs of
models under the same signs, whichever two of them are the best and the last:

    p_ij adjusted = P(max over pairs of |Σ_x s_x d_x| / √(Σ_x d_x²) ≥ t_ij)

stepwise, without the pairs that differ more clearly than ij. The probability that any two equally good models are
declared different is then at most the level (Romano and Wolf, "Exact and approximate stepdown methods for multiple
hypothesis testing", 2005), for every pair and so for those with the best.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from taylorank.deprecation import renamed
from taylorank.errors import DataError, ParameterError

Floats = NDArray[np.float64]
RESAMPLES = 9999
METHOD = "largest difference of all pairs"  # the name of `all_pairs_test` in a record
BLOCK_CELLS = 1 << 23  # signs held at a time
TIES = 1e-9  # values of t this close are sums of the same numbers in another order


@dataclass(frozen=True)
class Versus:
    """A model against the best: mean difference (≤ 0) with its 95 % interval, p of this pair and over all pairs."""

    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float

    @property
    def p_holm(self) -> float:
        """The adjusted p under its former name."""
        warnings.warn("Versus.p_holm is deprecated; write p_adjusted", DeprecationWarning, stacklevel=2)
        return self.p_adjusted


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
    observed = np.abs(d.sum(axis=0))
    least = observed - 1e-12 * np.abs(d).sum(axis=0)  # sums of the same numbers in another order are equal
    extreme = np.zeros(d.shape[1], dtype=np.int64)
    for sums in _flipped_sums(d, resamples, random_state, width=1):
        extreme += (np.abs(sums) >= least).sum(axis=0)
    return _shares(extreme, n, resamples)


def all_pairs_test(
    values: NDArray[np.floating], *, resamples: int = RESAMPLES, random_state: int = 0
) -> tuple[Floats, Floats]:
    """Return p and adjusted p of every pair of columns, (n users, m models) → two of (m, m).

    All pairs of a resample have the same signs, so they depend on each other as the models do.

    >>> p, adjusted = all_pairs_test(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    >>> adjusted
    array([[1.  , 0.25, 0.25],
           [0.25, 1.  , 1.  ],
           [0.25, 1.  , 1.  ]])
    """
    v = _columns(values)
    if resamples < 1:
        raise ParameterError(f"resamples={resamples} is not a count", "use 1 or more, such as 9999")
    v = v - v[:, :1]  # which changes no difference
    v = v[(v != 0).any(axis=1)]
    first, second = np.triu_indices(v.shape[1], 1)
    scales = np.array([np.linalg.norm(v[:, i] - v[:, j]) for i, j in zip(first, second, strict=True)])
    sums = v.sum(axis=0)
    observed = _studentised(sums[None, first] - sums[None, second], scales)[0]
    order = np.argsort(-observed, kind="stable")  # the clearest difference first
    first, second, scales, observed = first[order], second[order], scales[order], observed[order]
    alone, together = np.zeros((2, len(order)), dtype=np.int64)
    for flipped in _flipped_sums(v, resamples, random_state, width=len(order)):
        t = _studentised(flipped[:, first] - flipped[:, second], scales)
        alone += (t >= observed - TIES).sum(axis=0)
        largest = np.maximum.accumulate(t[:, ::-1], axis=1)[:, ::-1]  # of this pair and the less clear ones
        together += (largest >= observed - TIES).sum(axis=0)
    p, adjusted = np.ones((2, v.shape[1], v.shape[1]))
    p[first, second] = p[second, first] = _shares(alone, len(v), resamples)
    steps = np.maximum.accumulate(_shares(together, len(v), resamples))
    adjusted[first, second] = adjusted[second, first] = steps
    return p, adjusted


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
    Adjusted p allow for the choice of the best on these users (`all_pairs_test`).
    """
    lengths = {len(v) for v in values.values()}
    if len(lengths) != 1:
        raise DataError("the models were measured on different users", "evaluate all of them on the same test data")
    best = best or max(values, key=lambda name: float(np.mean(values[name])))
    others = [name for name in values if name != best]
    if not others:
        return best, {}
    every = np.stack([np.asarray(column, dtype=np.float64) for column in values.values()], axis=1)  # (users, models)
    p, adjusted = all_pairs_test(every, resamples=resamples, random_state=random_state)
    place = {name: i for i, name in enumerate(values)}
    found = {}
    for name in others:
        pair = place[name], place[best]
        interval = mean_interval(every[:, pair[0]] - every[:, pair[1]])
        found[name] = Versus(*interval, p=float(p[pair]), p_adjusted=float(adjusted[pair]))
    return best, found


def _columns(differences: NDArray[np.floating]) -> Floats:
    d = np.asarray(differences, dtype=np.float64)
    d = d[:, None] if d.ndim == 1 else d
    if d.ndim != 2 or not len(d) or not np.all(np.isfinite(d)):
        raise DataError("the differences are not finite numbers per user", "leave out users without a value")
    return d


def _flipped_sums(values: Floats, resamples: int, random_state: int, *, width: int) -> Iterator[Floats]:
    """Yield Σ_x s_x v_x of every column under random signs, or all signs where they are few, (rows, columns) at a time.

    `width` is how many numbers the caller makes of a row.
    """
    n = len(values)
    count = 2**n if _is_exact(n, resamples) else resamples
    rng = np.random.default_rng(random_state)
    size = max(1, BLOCK_CELLS // max(n, width, 1))
    for start in range(0, count, size):
        rows = min(size, count - start)
        bits = _patterns(start, rows, n) if _is_exact(n, resamples) else _coins(rng, rows, n)
        yield 2.0 * (bits @ values) - values.sum(axis=0)


def _is_exact(n: int, resamples: int) -> bool:
    return n < 60 and 2**n <= resamples


def _shares(extreme: NDArray[np.int64], n: int, resamples: int) -> Floats:
    p: Floats = extreme / 2**n if _is_exact(n, resamples) else (extreme + 1) / (resamples + 1)
    return p


def _studentised(sums: Floats, scales: Floats) -> Floats:
    """|Σ d| / √(Σ d²); 0 for a pair without a difference."""
    t: Floats = np.divide(np.abs(sums), scales, out=np.zeros_like(sums), where=scales > TIES * scales.max(initial=0))
    return t


def _patterns(start: int, rows: int, n: int) -> Floats:
    numbers = np.arange(start, start + rows)
    bits: Floats = ((numbers[:, None] >> np.arange(n)) & 1).astype(np.float64)
    return bits


def _coins(rng: np.random.Generator, rows: int, n: int) -> Floats:
    octets = rng.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(octets, axis=1, count=n).astype(np.float64)
