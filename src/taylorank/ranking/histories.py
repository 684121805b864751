"""Histories of users over the items that a model knows."""

from __future__ import annotations

import numpy as np

from taylorank.data import Ids, Interactions
from taylorank.errors import DataError


def over_items(data: Interactions, items: Ids) -> Interactions:
    """Express `data` over the id space `items`; interactions with other items are dropped."""
    if data.items == items:
        return data
    position = items.positions(data.item_ids)
    known = position[data.by_user.indices] >= 0
    if not known.any():
        raise DataError("the model knows none of these items", "check that both use the same ids")
    kept = data.select(known, "items unknown to the model ignored")
    return Interactions.from_positions(
        (kept.users, kept.by_user.row_of_entry()),
        (items, position[kept.by_user.indices].astype(np.int32)),
        strengths=None if kept.is_binary else kept.strengths,
        timestamps=kept.timestamps,
    )
