"""The area under the ROC curve, over the whole ranking of each user."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR
from taylorank.metrics.judged import Values


def auc(scores: NDArray[Any], relevant: CSR, *, of: NDArray[np.int64] | None = None) -> Values:
    """Σ_{y relevant} Σ_{z} ([s_y > s_z] + ½ [s_y = s_z]) / (R · Z), z over the Z candidates that are not relevant.

    Shapes: `scores` (B, N), −inf for items that are no candidates; row x of `relevant` holds the relevant items of x
    and `of` (B,) says how many there are in all (default: as many). A relevant item that is no candidate loses every
    comparison. NaN where nothing is to be compared.

    All pairs of relevant items together count R (R − 1) / 2 whatever their scores, so the sum over z is the sum over
    all candidates less that, and needs only the place of each relevant score among the sorted scores of its row.

    >>> auc(np.array([[0.3, 0.1, 0.2, 0.2]]), CSR(np.array([0, 1]), np.array([2], dtype=np.int32), None, 4))
    array([0.5])
    """
    place = relevant.row_of_entry()
    own = scores[place, relevant.indices]
    candidate = own > -np.inf
    place, own = place[candidate], own[candidate]
    ascending = np.sort(scores, axis=1)
    first = places_in_rows(ascending, place, own, after_equal=False)
    last = places_in_rows(ascending, place, own, after_equal=True)
    absent = np.count_nonzero(ascending == -np.inf, axis=1)
    wins = (first + last - 1) / 2 - absent[place]  # over all candidates but itself
    ranked = np.bincount(place, minlength=len(scores))
    others = scores.shape[1] - absent - ranked
    won = np.bincount(place, wins, minlength=len(scores)) - ranked * (ranked - 1) / 2
    pairs = (relevant.row_lengths if of is None else of) * others
    shares: Values = np.divide(won, pairs, out=np.full(len(scores), np.nan), where=pairs > 0)
    return shares


def places_in_rows(
    ascending: NDArray[Any], rows: NDArray[Any], values: NDArray[Any], *, after_equal: bool
) -> NDArray[np.int64]:
    """Return, for each value, how many numbers of its row of `ascending` (B, N) are smaller (or equal, if asked).

    A binary search for all values at once.

    >>> places_in_rows(np.array([[1.0, 2.0, 2.0]]), np.array([0, 0]), np.array([2.0, 0.0]), after_equal=True)
    array([3, 0])
    """
    low = np.zeros(len(values), dtype=np.int64)
    high = np.full(len(values), ascending.shape[1], dtype=np.int64)
    for _ in range(ascending.shape[1].bit_length()):
        middle = (low + high) // 2
        at = ascending[rows, np.minimum(middle, ascending.shape[1] - 1)]
        right = ((at <= values) if after_equal else (at < values)) & (low < high)
        low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
    return low
