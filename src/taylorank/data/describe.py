"""What a set of interactions looks like, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.interactions import Interactions
from taylorank.data.steps import Step

_FIRST_PLAUSIBLE_SECOND = 100_000_000  # March 1973; smaller numbers are positions, not times


_DAY = 86_400  # seconds


@dataclass(frozen=True)
class Spread:
    """Interactions per user, or per item; those without any count as 0."""

    min: int
    median: float
    mean: float
    max: int


@dataclass(frozen=True)
class Description:
    """Sizes, spreads and the inequality of item popularity.

    `gini` = Σ_i (2i - n - 1) x_i / (n Σ_i x_i) over the popularities x_1 ≤ … ≤ x_n of the n items: 0 if all are equally
    popular, towards 1 if one takes all. `top_share` is the part of all interactions that goes to the most popular
    1 % of the items (at least one item).
    """

    users: int
    items: int
    interactions: int
    density: float
    per_user: Spread
    per_item: Spread
    gini: float
    top_share: float
    first: str | None
    last: str | None
    steps: tuple[Step, ...]


def describe(data: Interactions) -> Description:
    """Return the numbers that `taylorank datasets stats` shows.

    >>> facts = describe(Interactions.from_arrays([1, 1, 2], ["a", "b", "a"]))
    >>> facts.per_item.max, round(facts.gini, 3)
    (2, 0.167)
    """
    popularity = np.bincount(data.by_user.indices, minlength=data.n_items)
    first, last = _span(data.timestamps, simulated=data.truth is not None)
    return Description(
        users=data.n_users,
        items=data.n_items,
        interactions=data.nnz,
        density=data.density,
        per_user=_spread(data.by_user.row_lengths),
        per_item=_spread(popularity),
        gini=_gini(popularity),
        top_share=_top_share(popularity),
        first=first,
        last=last,
        steps=data.steps,
    )


def are_moments(times: NDArray[Any]) -> bool:
    """Whether these are dates or numbers as large as clocks give, and not positions in a sequence."""
    return bool(times.dtype.kind == "M" or (len(times) > 0 and times.max() >= _FIRST_PLAUSIBLE_SECOND))


def seconds_in(times: NDArray[Any]) -> float:
    """Return how many seconds the unit of numbers since 1970 has, by their size: 1, or 1e-3, 1e-6, 1e-9.

    >>> seconds_in(np.array([956_703_932])), seconds_in(np.array([956_703_932_000]))
    (1.0, 0.001)
    """
    largest = float(times.max())
    return next((unit for unit in (1.0, 1e-3, 1e-6) if largest * unit < 100 * _FIRST_PLAUSIBLE_SECOND), 1e-9)


def _spread(counts: NDArray[np.int64]) -> Spread:
    if not len(counts):
        return Spread(0, 0.0, 0.0, 0)
    return Spread(int(counts.min()), float(np.median(counts)), float(counts.mean()), int(counts.max()))


def _gini(counts: NDArray[np.int64]) -> float:
    n, total = len(counts), int(counts.sum())
    if not total:
        return 0.0
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float(weights @ np.sort(counts) / (n * total))


def _top_share(counts: NDArray[np.int64]) -> float:
    total = int(counts.sum())
    if not total:
        return 0.0
    top = -(-len(counts) // 100)
    return float(np.sort(counts)[-top:].sum() / total)


def _span(times: NDArray[Any] | None, *, simulated: bool = False) -> tuple[str | None, str | None]:
    """The first and the last moment; planted data have seconds of a year that never was."""
    if times is None or not len(times):
        return None, None
    if simulated and times.dtype.kind in "iuf" and times.max() < _FIRST_PLAUSIBLE_SECOND:
        return f"day {int(times.min() // _DAY) + 1}", f"day {int(times.max() // _DAY) + 1} of a simulated year"
    dated = times.dtype.kind == "M" or not are_moments(times)
    values = (times.min(), times.max()) if dated else (times.min() * seconds_in(times), times.max() * seconds_in(times))
    return _moment(values[0]), _moment(values[1])


def _moment(value: Any) -> str:
    """Write a time as a date where it is one: datetimes, and numbers that can be seconds since 1970."""
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]"))
    seconds = float(value)
    if _FIRST_PLAUSIBLE_SECOND <= seconds < 100 * _FIRST_PLAUSIBLE_SECOND:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{seconds:,.0f}" if seconds == int(seconds) else f"{seconds:,g}"
