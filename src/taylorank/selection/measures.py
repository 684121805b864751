"""What a comparison measures beside the metrics: how fast a fit converges, and how well rare items are found."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.ranking import Rankable, ranker_of, recommend
from taylorank.selection.attempt import snapshot

STEP_RATIO = 1.15  # every step at first, then in equal ratios: a chart on a log axis needs no more
GROUPS = 5


def convergence(model: Any, train: Interactions, value_of: Callable[[Rankable], float]) -> list[dict[str, float]]:
    """Fit `model` and return [{"step", "seconds", "value"}, …], the last being the end of the fit.

    Steps are measured where `fit` has a callback whose argument gives a snapshot (see `attempt.snapshot`); any
    other model has one point, at its end. The time of measuring snapshots is not counted.
    """
    points: list[dict[str, float]] = []
    paused, step, next_step = 0.0, 1, 1
    start = time.perf_counter()

    def after_step(progress: Any) -> None:
        nonlocal paused, step, next_step
        began = time.perf_counter()
        step = int(progress.step)
        now = snapshot(progress) if step >= next_step else None
        if now is not None:
            points.append({"step": step, "seconds": began - start - paused, "value": value_of(now)})
            next_step = max(step + 1, math.ceil(step * STEP_RATIO))
        paused += time.perf_counter() - began

    model.fit(train, **({"callback": after_step} if _takes_callback(model) else {}))
    end = {"step": step, "seconds": time.perf_counter() - start - paused, "value": value_of(model)}
    return [*(point for point in points if point["step"] != step), end]


def _takes_callback(model: Any) -> bool:
    try:
        return "callback" in inspect.signature(model.fit).parameters
    except (TypeError, ValueError):
        return False


def popularity_groups(train: Interactions, groups: int = GROUPS) -> NDArray[np.int64]:
    """Return each item's group, 0 the most popular: groups hold about equal shares of the training interactions.

    An item belongs where the middle of its share falls, so every group but the first few holds many items.

    >>> data = Interactions.from_arrays([1, 2, 3, 4, 1, 2, 3, 4], [7, 7, 7, 7, 8, 8, 9, 10])
    >>> popularity_groups(data, 2).tolist()
    [0, 1, 1, 1]
    """
    counts = np.bincount(train.by_user.indices, minlength=train.n_items)
    order = np.argsort(-counts, kind="stable")
    ahead = np.cumsum(counts[order]) - counts[order] / 2
    of_ranked = np.minimum((groups * ahead / max(counts.sum(), 1)).astype(np.int64), groups - 1)
    of_item = np.empty(train.n_items, dtype=np.int64)
    of_item[order] = of_ranked
    return of_item


def recall_by_popularity(
    model: Rankable,
    test: Interactions,
    *,
    train: Interactions,
    seen: Interactions | Sequence[Interactions] | None,
    k: int = 10,
) -> list[dict[str, Any]]:
    """Return for each group of items: of the test interactions with them, the share in the user's first k.

    All interactions of a group have the same weight; items are grouped by their counts in `train`.
    """
    items, found = _found_in_lists(model, test, seen, k)
    of_item, position = popularity_groups(train), train.items.positions(test.item_ids)
    group = np.where(position >= 0, of_item[position], GROUPS - 1)[items]  # items that train lacks count as the rarest
    totals = np.bincount(group, minlength=GROUPS)
    hits = np.bincount(group, found, minlength=GROUPS)
    sizes = np.bincount(of_item, minlength=GROUPS)
    return [
        {
            "bucket": f"{100 * g // GROUPS}–{100 * (g + 1) // GROUPS} %",
            "items": int(sizes[g]),
            "interactions": int(totals[g]),
            "recall": float(hits[g] / totals[g]) if totals[g] else None,
        }
        for g in range(GROUPS)
    ]


def _found_in_lists(
    model: Rankable, test: Interactions, seen: Interactions | Sequence[Interactions] | None, k: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the item of every test interaction of users whom the model knows, and whether their first k have it."""
    known = ranker_of(model).users.positions(test.user_ids) >= 0
    rows = np.flatnonzero((test.by_user.row_lengths > 0) & known)
    ranked, _ = recommend(model, test.user_ids[rows], k, seen=seen)
    list_of_row = np.full(test.n_users, -1)
    list_of_row[rows] = np.arange(len(rows))
    lists = np.repeat(list_of_row, test.by_user.row_lengths)
    items = test.by_user.indices[lists >= 0]
    found: NDArray[np.bool_] = (ranked[lists[lists >= 0]] == test.item_ids[items][:, None]).any(axis=1)
    return items, found
