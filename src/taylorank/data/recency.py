"""Strengths that fade with time: what is long ago counts for less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_number
from taylorank.data.csr import freeze
from taylorank.data.describe import are_moments, seconds_in
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError, ParameterError

SECONDS_OF_A_DAY = 86_400.0
LEAST = 2.0**-20  # of a strength: nothing is forgotten altogether


def faded(data: Interactions, half_life: float) -> Interactions:
    """Return the same interactions with strengths r_xy · 2^(−age / half_life).

    Times that are dates or seconds since 1970 (or thousandths, millionths, billionths of them) have an age in days, up
    to the last moment of the data; numbers that are places in a sequence an age in places, up to the last place of each
    user. For models that weigh strengths, such as RG² (whose `half_life` it is), WRMF and iALS.

    >>> data = Interactions.from_arrays([1, 1, 1], ["a", "b", "c"], timestamps=[1, 2, 3])
    >>> faded(data, 1).strengths.tolist()
    [0.25, 0.5, 1.0]
    """
    check_half_life(half_life)
    if data.timestamps is None:
        raise DataError("how long ago things were is unknown: the data has no times", "read with timestamp=…")
    if not data.nnz:
        return data
    fading = np.maximum(np.exp2(-ages(data) / half_life), LEAST)
    weights = (data.strengths.astype(np.float64) * fading).astype(np.float32)
    rows = replace(data.by_user, weights=None if np.all(weights == 1) else freeze(weights))
    return replace(data, by_user=rows)


def ages(data: Interactions) -> NDArray[np.float64]:
    """Return how long ago each interaction was: days before the last of all, or places before the user's last."""
    times: Any = data.timestamps
    if times.dtype.kind == "M":
        return np.asarray((times.max() - times) / np.timedelta64(1, "D"), dtype=np.float64)
    values = times.astype(np.float64)
    if are_moments(times):
        return np.asarray((values.max() - values) * seconds_in(times) / SECONDS_OF_A_DAY)
    rows = data.by_user.row_of_entry()
    last = np.full(data.n_users, -np.inf)
    np.maximum.at(last, rows, values)
    return np.asarray(last[rows] - values)


def check_half_life(half_life: float) -> None:
    """Refuse what is not a number above 0."""
    if not check_number(half_life, "half_life", least=0) > 0:
        raise ParameterError(f"half_life={half_life:g} forgets everything", "give a number above 0, such as 30 (days)")
