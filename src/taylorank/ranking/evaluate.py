"""Full-ranking evaluation: every item is a candidate, none is sampled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import DataError, DataWarning, ParameterError
from taylorank.metrics import METRICS
from taylorank.ranking.best import best_items
from taylorank.ranking.mask import entries_of, seen_parts
from taylorank.ranking.scorer import Scorer


def evaluate(
    model: Scorer,
    test: Interactions,
    *,
    k: int | Sequence[int] = (10, 20),
    seen: Interactions | Sequence[Interactions] | None = None,
) -> dict[str, float]:
    """Return the mean of each metric at each cutoff over the users with test items: {"ndcg@10": …, …}.

    Items in `seen` (the training data by default; give train and validation for a test) are left out of the
    ranking. Users that the model does not know are left out of the mean, with a warning; test items that it does
    not know stay relevant and are never found.
    """
    cutoffs = sorted({int(c) for c in ([k] if isinstance(k, int | np.integer) else k)})
    if not cutoffs or cutoffs[0] < 1:
        raise ParameterError(f"k={k!r} holds no cutoff ≥ 1", "give one or more, such as (10, 20)")
    masks = seen_parts(model, seen)
    rows, users = test_rows(model, test)
    sums = {f"{name}@{c}": 0.0 for c in cutoffs for name in METRICS}
    best_of, size = best_items(model, masks)
    for start in range(0, len(users), size):
        ranked, _ = best_of(users[start : start + size], cutoffs[-1])
        hits, relevant = hits_of(ranked, model, test, rows[start : start + size], cutoffs[-1])
        for c in cutoffs:
            for name, metric in METRICS.items():
                sums[f"{name}@{c}"] += float(metric(hits[:, :c], relevant).sum())
    return {name: total / len(users) for name, total in sums.items()}


def test_rows(model: Scorer, test: Interactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of `test` with items, and the model's positions of those users."""
    rows = np.flatnonzero(test.by_user.row_lengths > 0)
    if not len(rows):
        raise DataError("the test data has no interactions", "split with a larger share for test")
    users = rows if model.users == test.users else model.users.positions(test.user_ids[rows])
    known = users >= 0
    if not known.all():
        if not known.any():
            raise DataError("the model knows none of the test users", "check that both use the same ids")
        lost = int((~known).sum())
        warnings.warn(f"{lost:,} of {len(rows):,} test users are unknown to the model and left out", DataWarning, 3)
    return rows[known], users[known]


def hits_of(
    ranked: NDArray[np.int64], model: Scorer, test: Interactions, rows: NDArray[np.int64], k: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return whether the item at each rank is in the user's test row (B, k), and how many that row holds (B,)."""
    row_of, columns = entries_of(test, rows)
    if test.items != model.items:
        columns = model.items.positions(test.items.take(columns))
    n_items = len(model.items)
    relevant = np.sort((row_of * n_items + columns)[columns >= 0])
    wanted = np.arange(len(rows))[:, None] * n_items + ranked
    hits = np.zeros((len(rows), k), dtype=bool)
    hits[:, : ranked.shape[1]] = _contains(relevant, wanted) & (ranked >= 0)
    return hits, np.bincount(row_of, minlength=len(rows))


def _contains(ascending: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(wanted.shape, dtype=bool)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[place] == wanted
    return found
