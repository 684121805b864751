"""Strengths in another unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taylorank.data.csr import freeze
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError


def in_units(data: Interactions, unit: float) -> Interactions:
    """Return the same interactions with strengths r_xy / unit.

    >>> in_units(Interactions.from_arrays([1, 1], [1, 2], strengths=[0.5, 2]), 0.5).strengths.tolist()
    [1.0, 4.0]
    """
    if unit == 1 or not data.nnz:
        return data
    scaled = data.strengths.astype(np.float64) / unit
    low, high = float(scaled.min()), float(scaled.max())
    if not (float(np.finfo(np.float32).tiny) <= low and high <= float(np.finfo(np.float32).max)):
        raise DataError(
            f"strengths from {low * unit:g} to {high * unit:g} are too far apart", "limit them, or take their logarithm"
        )
    weights = scaled.astype(np.float32)
    rows = replace(data.by_user, weights=None if np.all(weights == 1) else freeze(weights))
    return replace(data, by_user=rows)
