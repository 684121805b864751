"""Data drawn from a softmax model that is known, so that a ranking can be held against the best possible one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taylorank.data.assemble import from_codes
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.data.truth import Floats, Truth
from taylorank.errors import ParameterError

BLOCK_CELLS = 1 << 22
YEAR = 365 * 24 * 3600


def planted(
    n_users: int = 2000,
    n_items: int = 1000,
    *,
    factors: int = 8,
    interactions: int = 60_000,
    popularity: float = 0.8,
    taste: float = 1.5,
    seed: int = 0,
) -> Interactions:
    """Draw `interactions` distinct pairs from p(y | x) ∝ exp(P_x · Q_y + b_y).

    P and Q are Gaussian with P_x · Q_y of standard deviation `taste`; b_y = −`popularity` · log(rank of y), so
    item counts have a long tail of about that Zipf exponent; activity is log-normal over users. Each user draws
    from p one item after the other and skips those it has, as people do. Timestamps, in seconds within a year,
    follow the order of the draws. The distribution stays with the data as `data.truth`, through `core` and
    every split.

    >>> data = planted(50, 40, interactions=300, seed=1)
    >>> data.nnz, data.truth.probabilities(data.user_ids[:1], data.item_ids).sum().round(6)
    (300, np.float64(1.0))
    """
    _check(n_users, n_items, factors, interactions, popularity, taste)
    rng = np.random.default_rng(seed)
    truth = _truth(n_users, n_items, factors, popularity, taste, rng)
    counts = _activity(n_users, n_items, interactions, rng)
    items = np.concatenate([_draw(block, counts[block], truth, rng) for block in _blocks(n_users, n_items)])
    users = np.repeat(np.arange(n_users, dtype=np.int32), counts)
    data = from_codes(
        (Ids(np.arange(n_users)), users),
        (Ids(np.arange(n_items)), items),
        None,
        _times(counts, rng),
        duplicates="last",
        action=f"planted softmax of {factors} factors, popularity {popularity:g}, taste {taste:g}, seed {seed}",
    )
    return replace(data, truth=truth)


def _check(
    n_users: int, n_items: int, factors: int, interactions: int, popularity: float, taste: float
) -> None:
    if min(n_users, n_items, factors) < 1:
        raise ParameterError("planted data needs at least one user, item and factor", "raise the sizes")
    if not n_users <= interactions <= n_users * n_items // 2:
        raise ParameterError(
            f"{interactions:,} interactions do not fit {n_users:,} users × {n_items:,} items",
            f"ask for {n_users:,} (one each) to {n_users * n_items // 2:,} (half of all pairs)",
        )
    if not (popularity >= 0 and 0 <= taste <= 10):
        raise ParameterError(f"popularity={popularity}, taste={taste}", "popularity ≥ 0 and 0 ≤ taste ≤ 10")


def _truth(
    n_users: int, n_items: int, factors: int, popularity: float, taste: float, rng: np.random.Generator
) -> Truth:
    scale = np.sqrt(taste) / factors**0.25  # the sum of K products then has standard deviation `taste`
    user_factors = (scale * rng.standard_normal((n_users, factors))).astype(np.float32)
    item_factors = (scale * rng.standard_normal((n_items, factors))).astype(np.float32)
    rank = rng.permutation(n_items) + 1
    return Truth(user_factors, item_factors, (-popularity * np.log(rank)).astype(np.float32))


def _activity(n_users: int, n_items: int, interactions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many items each user draws: log-normal, from 1 to half of all items, summing to `interactions`."""
    weight = rng.lognormal(sigma=1.0, size=n_users)
    most = max(1, (n_items + 1) // 2)
    counts = np.ones(n_users, dtype=np.int64)
    while (left := interactions - int(counts.sum())) > 0:
        open_to_more = counts < most
        share = np.where(open_to_more, weight, 0)
        extra = np.floor(left * share / share.sum()).astype(np.int64)
        if not extra.any():  # fewer left than users: one each to the most active
            extra[np.argsort(-share, kind="stable")[:left]] = 1
        counts = np.minimum(counts + extra, most)
    return counts


def _blocks(n_users: int, n_items: int) -> list[slice]:
    size = max(1, BLOCK_CELLS // n_items)
    return [slice(start, min(start + size, n_users)) for start in range(0, n_users, size)]


def _draw(
    users: slice, counts: NDArray[np.int64], truth: Truth, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw counts[x] distinct items for each user of the block, in order of drawing."""
    cumulative = _cumulative(truth.user_factors[users], truth)
    drawn = np.empty(0, dtype=np.int64)  # numbers x · N + y, by user, in order of drawing
    missing = counts
    n_items = cumulative.shape[1]
    while missing.any():
        tries = np.where(missing > 0, 2 * missing + 4, 0)
        row = np.repeat(np.arange(len(counts)), tries)
        points = np.sort(rng.random(len(row)) + row)  # sorted look-ups stay in cache
        item = np.searchsorted(cumulative.ravel(), points, side="right") - row * n_items
        number = row * n_items + np.clip(item, 0, n_items - 1)
        number = number[_shuffled_within(row, rng)]
        drawn = _first_of_each(np.concatenate((drawn, number)), counts, n_items)
        missing = counts - np.bincount(drawn // n_items, minlength=len(counts))
    return (drawn % n_items).astype(np.int32)


def _cumulative(user_factors: Floats, truth: Truth) -> NDArray[np.float64]:
    """Row x holds x plus the cumulative p(y | x), so that the rows in a line are ascending."""
    scores = user_factors @ truth.item_factors.T + truth.item_bias  # (B, N)
    scores -= scores.max(axis=1, keepdims=True)
    cumulative = np.cumsum(np.exp(scores), axis=1, dtype=np.float64)
    cumulative /= cumulative[:, -1:]
    cumulative += np.arange(len(cumulative))[:, None]
    return cumulative


def _shuffled_within(row: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Undo the sorting of the points: a random order of the entries of each row."""
    return np.argsort(row + rng.random(len(row)), kind="stable")


def _first_of_each(number: NDArray[np.int64], counts: NDArray[np.int64], n_items: int) -> NDArray[np.int64]:
    """Keep first occurrences, at most counts[x] per user, by user and in order of drawing."""
    order = np.argsort(number, kind="stable")
    is_first = np.empty(len(number), dtype=bool)
    is_first[order] = np.concatenate(([True], np.diff(number[order]) != 0)) if len(number) else True
    kept = number[is_first]
    kept = kept[np.argsort(kept // n_items, kind="stable")]
    user = kept // n_items
    lengths = np.bincount(user, minlength=len(counts))
    within = np.arange(len(kept)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return kept[within < counts[user]]


def _times(counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Ascending times for each user: a random first moment, then random gaps, within a year."""
    gaps = rng.exponential(size=int(counts.sum()) + len(counts))
    ends = np.cumsum(counts + 1)  # one gap more than events, so that the last is not always at the year's end
    total = np.cumsum(gaps)
    before = np.concatenate(([0.0], total[ends[:-1] - 1]))
    span = total[ends - 1] - before
    is_event = np.ones(len(gaps), dtype=bool)
    is_event[ends - 1] = False
    fraction = (total - np.repeat(before, counts + 1)) / np.repeat(span, counts + 1)
    return (YEAR * fraction[is_event]).astype(np.int64)
