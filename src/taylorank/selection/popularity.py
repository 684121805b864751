"""Quality by popularity: who finds only the hits, and who finds the rare?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.ranking import Rankable, ranker_of, recommend

GROUPS = 5


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

    All interactions of a group count alike, whoever made them; items are grouped by their counts in `train`.
    """
    known = ranker_of(model).users.positions(test.user_ids) >= 0
    rows = np.flatnonzero((test.by_user.row_lengths > 0) & known)
    ranked, _ = recommend(model, test.user_ids[rows], k, seen=seen)
    row_of = np.repeat(np.arange(test.n_users), test.by_user.row_lengths)
    place = np.full(test.n_users, -1)
    place[rows] = np.arange(len(rows))
    counted = place[row_of] >= 0
    items = test.by_user.indices[counted]
    found = (ranked[place[row_of[counted]]] == test.item_ids[items][:, None]).any(axis=1)
    of_item, position = popularity_groups(train), train.items.positions(test.item_ids)
    group = np.where(position >= 0, of_item[position], GROUPS - 1)[items]  # what train does not know is rarest
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
