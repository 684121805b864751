"""Histories: the data of a fit, and those of new users over the items that a model knows."""

from __future__ import annotations

from typing import Any

from taylorank.data import Interactions, read_interactions
from taylorank.errors import DataError
from taylorank.ranking.histories import over_items

__all__ = ["over_items", "training_data"]


def training_data(train: Any) -> Interactions:
    """Read what a model is fitted to; refuse data without interactions."""
    data = read_interactions(train)
    if not data.nnz:
        raise DataError("the training data has no interactions", "check the split and the cleaning steps")
    return data
