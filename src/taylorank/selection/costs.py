"""What fits will take, in seconds and memory, before they are made."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.models import IALS
from taylorank.selection.spaces import RANKS
from taylorank.selection.tuning import FIT_OF_BEST, Tuning
from taylorank.system import available_memory
from taylorank.torch_extra import uses_cuda

FACTOR_BYTES = 6 * 8  # of a rank, for each user and item: what a spectral fit holds at its peak
CUDA_RATE = 1e13  # operations of an inversion in a second: half of what an H200 does on 40,981 items


def ranks_in_memory(data: Interactions) -> tuple[int, ...]:
    """Return the ranks whose spectral fit half of the free memory holds; the smallest in any case."""
    free = available_memory()
    each = FACTOR_BYTES * (data.n_users + data.n_items)
    allowed = [rank for rank in RANKS.values if free is None or rank * each <= free / 2]
    return tuple(allowed or RANKS.values[:1])


def ease_seconds(data: Interactions, judged: int, *, device: Any) -> float:
    """Return N³ + 2 N · (interactions judged) operations, at half the rate of a matrix product."""
    rate = CUDA_RATE if uses_cuda(device) else product_rate() / 2
    return float((float(data.n_items) ** 3 + 2.0 * data.n_items * judged) / rate)


def local_ease_seconds(data: Interactions, neighbours: int, *, device: Any) -> float:
    """Return N k³ operations, the products of the items that a user has, k² of them for each item, and N² cells."""
    if uses_cuda(device):
        return float(data.n_items * neighbours**3 / CUDA_RATE)
    pairs = float(np.square(data.by_user.row_lengths, dtype=np.float64).sum())
    lookups = 4e-9 * data.n_items * neighbours**2
    return float(data.n_items * neighbours**3 / product_rate() + 1e-8 * pairs + lookups + 3e-9 * data.n_items**2)


def ease_costs(data: Interactions, neighbours: Iterable[int], judged: int, *, device: Any) -> dict[int | None, float]:
    """Return the seconds of a fit of EASE on all items (None), and on so many neighbours of each."""
    costs: dict[int | None, float] = {None: ease_seconds(data, judged, device=device)}
    costs |= {k: local_ease_seconds(data, k, device=device) for k in neighbours if k < data.n_items}
    return costs


def ials_seconds(model: IALS, data: Interactions) -> float:
    """Return the seconds of a fit, from those of one sweep of fewer factors where the data has no more."""
    short = IALS(**{**model.get_params(), "iterations": 1, "factors": min(model.factors, data.n_users, data.n_items)})
    began = time.perf_counter()
    short.fit(data)
    return model.iterations * (time.perf_counter() - began)


def product_rate(size: int = 768) -> float:
    """Return the operations per second of a product of two square matrices in double precision on this machine."""
    square = np.random.default_rng(0).random((size, size))
    square @ square  # the first is slow
    began = time.perf_counter()
    square @ square
    return float(2 * size**3 / max(time.perf_counter() - began, 1e-6))


def fit_of_best(found: Tuning) -> float:
    """Return the seconds of the fit of the best point of a path; if it came from a file, those to its first value."""
    if FIT_OF_BEST in found.parts:
        return found.parts[FIT_OF_BEST]
    number = next(trial.fit for trial in found.trials if trial.params == found.best)
    return max(trial.seconds for trial in found.trials if trial.fit == number)


def longest_trial(found: Tuning) -> float:
    """Return the seconds of the longest trial."""
    return max(trial.seconds for trial in found.trials)
