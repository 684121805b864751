"""Data drawn from a softmax model that is known, so that a ranking can be compared with the best possible one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole, typed
from taylorank.data.assemble import from_codes
from taylorank.data.csr import INDEX_LIMIT
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.data.shuffle import check_seed
from taylorank.data.threads import map_in_threads
from taylorank.data.truth import Floats, Truth
from taylorank.deprecation import also_named
from taylorank.errors import ParameterError

BLOCK_CELLS = 1 << 21
TILE = 1 << 18  # multiplications; for more, OpenBLAS starts its threads
ROUNDS = 4  # of drawing with replacement; users who then lack items draw by exponential arrival times
DENSE = 16  # users with more than a sixteenth of all items draw by exponential arrival times at once
YEAR = 365 * 24 * 3600


@also_named(seed="random_state")
@typed
def planted(
    n_users: int = 2000,
    n_items: int = 1000,
    *,
    factors: int = 8,
    interactions: int = 60_000,
    popularity: float = 0.8,
    taste: float = 1.5,
    random_state: int = 0,
    seed: int = 0,
) -> Interactions:
    """Draw `interactions` distinct pairs from p(y | x) ∝ exp(P_x · Q_y + b_y).

    P and Q are Gaussian with P_x · Q_y of standard deviation `taste`; b_y = −`popularity` · log(rank of y), so
    item counts have a long tail of about that Zipf exponent; activity is log-normal over users. Each user draws
    from p one item after the other and skips those it has, as people do. Timestamps, in seconds within a year,
    follow the order of the draws. The distribution stays with the data as `data.truth`, through `core` and
    every split. `seed` is the older name of `random_state`.

    >>> data = planted(50, 40, interactions=300, random_state=1)
    >>> data.nnz, data.truth.probabilities(data.user_ids[:1], data.item_ids).sum().round(6)
    (300, np.float64(1.0))
    """
    _check(n_users, n_items, factors, interactions, popularity, taste)
    check_seed(random_state)
    rng = np.random.default_rng([random_state, 0])
    truth = _truth(n_users, n_items, factors, popularity, taste, rng)
    counts = _activity(n_users, n_items, interactions, rng)
    items = _draw_all(counts, truth, random_state)
    users = np.repeat(np.arange(n_users, dtype=np.int32), counts)
    data = from_codes(
        (Ids(np.arange(n_users)), users),
        (Ids(np.arange(n_items)), items),
        None,
        _times(counts, rng),
        duplicates="last",
        action=f"planted softmax of {factors} factors, popularity {popularity:g}, taste {taste:g}, seed {random_state}",
    )
    return replace(data, truth=truth)


def _check(n_users: int, n_items: int, factors: int, interactions: int, popularity: float, taste: float) -> None:
    for name, value in (("users", n_users), ("items", n_items), ("factors", factors), ("interactions", interactions)):
        check_whole(value, name)
    if max(n_users, n_items) >= INDEX_LIMIT:
        raise ParameterError(f"{max(n_users, n_items):,} users or items exceed 2³¹ - 1", "lower the sizes")
    if factors * (n_users + n_items) >= INDEX_LIMIT:
        raise ParameterError(f"factors={factors:,} of {n_users:,} users × {n_items:,} items", "give fewer")
    if not n_users <= interactions <= n_users * n_items // 2:
        raise ParameterError(
            f"{interactions:,} interactions do not fit {n_users:,} users × {n_items:,} items",
            f"ask for {n_users:,} (one each) to {n_users * n_items // 2:,} (half of all pairs)",
        )
    if not (0 <= popularity < np.inf and 0 <= taste <= 10):
        raise ParameterError(
            f"popularity={popularity}, taste={taste}", "popularity is finite and ≥ 0, taste from 0 to 10"
        )


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


def _draw_all(counts: NDArray[np.int64], truth: Truth, seed: int) -> NDArray[np.int32]:
    """Draw for all users, in blocks with a random stream each, so that threads do not change the outcome."""
    n_items = len(truth.item_bias)
    size = max(1, BLOCK_CELLS // n_items)

    def draw(number: int) -> NDArray[np.int32]:
        users = slice(number * size, (number + 1) * size)
        rng = np.random.default_rng([seed, 1 + number])
        return _draw(truth.user_factors[users], counts[users], truth, rng)

    return np.concatenate(list(map_in_threads(draw, iter(range(-(-len(counts) // size))))))


def _draw(user_factors: Floats, counts: NDArray[np.int64], truth: Truth, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw counts[x] distinct items for each user x of the block, by user, in order of drawing.

    Users with few items draw with replacement and skip repeats, which is quick. Those with many, or with most of
    their probability on few items, draw by exponential arrival times, one for every item.
    """
    logits = _product(user_factors, truth.item_factors.T)
    logits += truth.item_bias
    logits -= logits.max(axis=1, keepdims=True)
    wanted = np.where(counts * DENSE > logits.shape[1], 0, counts)
    items, done = _draw_repeatedly(logits, wanted, rng)
    by_arrival = ~done & (counts > 0)
    drawn = np.empty(int(counts.sum()), dtype=np.int32)
    is_by_arrival = np.repeat(by_arrival, counts)
    drawn[~is_by_arrival] = items
    drawn[is_by_arrival] = _draw_by_arrival(logits[by_arrival], counts[by_arrival], rng)
    return drawn


def _product(left: Floats, right: Floats) -> Floats:
    """Multiply in tiles so small that BLAS stays on this thread: its own would wait for work in a busy loop."""
    out = np.empty((len(left), right.shape[1]), dtype=np.float32)
    width = max(1, TILE // (16 * right.shape[0]))
    for i in range(0, len(left), 16):
        for j in range(0, right.shape[1], width):
            np.matmul(left[i : i + 16], right[:, j : j + width], out=out[i : i + 16, j : j + width])
    return out


def _draw_by_arrival(logits: Floats, counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw without replacement: item y arrives after an exponential time of rate p(y | x), the first ones are drawn."""
    arrival = np.log(rng.standard_exponential(logits.shape)) - logits  # the logarithm of the time; no underflow
    order = np.argsort(arrival, axis=1).astype(np.int32)
    return order[np.arange(order.shape[1]) < counts[:, None]]


def _draw_repeatedly(
    logits: Floats, counts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Draw with replacement, a few rounds; return the items of users who got enough distinct ones, and who they are.

    Draws come sorted by (user, item) with a random arrival time each, so that repeats are neighbours; a user
    keeps the items that arrive first.
    """
    mass = np.exp(logits).astype(np.float64).ravel()
    np.cumsum(mass, out=mass)  # twice as fast as cumsum(…, dtype=np.float64) of float32
    n_items = logits.shape[1]
    cells = np.empty(0, dtype=np.int64)  # x · N + y, ascending
    arrivals = np.empty(0)
    missing = counts
    for round_ in range(ROUNDS):
        tries = np.where(missing > 0, missing + missing // 2 + 8, 0)
        if not tries.any():
            break
        new_cells = _random_cells(mass, tries, rng)
        new_arrivals = rng.random(len(new_cells)) + round_  # after all of the earlier rounds
        cells, arrivals = _merged(np.concatenate((cells, new_cells)), np.concatenate((arrivals, new_arrivals)), round_)
        missing = np.maximum(counts - np.bincount(cells // n_items, minlength=len(counts)), 0)
    done = (counts > 0) & (missing == 0)
    user = cells // n_items
    order = np.argsort(user * ROUNDS + arrivals)
    cells, user = cells[order], user[order]
    first = np.searchsorted(user, np.arange(len(counts)))
    keep = done[user] & (np.arange(len(cells)) - first[user] < counts[user])
    items: NDArray[np.int64] = cells[keep] % n_items
    return items.astype(np.int32), done


def _random_cells(mass: NDArray[np.float64], tries: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw tries[x] cells of row x in proportion to their mass; ascending."""
    n_items = len(mass) // len(tries)
    high = mass[n_items - 1 :: n_items]
    low = np.concatenate(([0.0], high[:-1]))
    points = np.repeat(low, tries) + np.repeat(high - low, tries) * rng.random(int(tries.sum()))
    points.sort()  # sorted look-ups stay in cache
    cells = np.searchsorted(mass, points, side="right")
    row = np.repeat(np.arange(len(tries)), tries)  # rounding may step over the end of a row
    return np.minimum(cells, (row + 1) * n_items - 1)


def _merged(
    cells: NDArray[np.int64], arrivals: NDArray[np.float64], round_: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct cells, ascending, each with its earliest arrival."""
    if round_:
        order = np.argsort(cells, kind="stable")
        cells, arrivals = cells[order], arrivals[order]
    starts = np.flatnonzero(np.concatenate(([True], cells[1:] != cells[:-1])))
    return cells[starts], np.minimum.reduceat(arrivals, starts)


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
    seconds: NDArray[np.float64] = YEAR * fraction[is_event]
    return seconds.astype(np.int64)
