"""Splits by each user's own time: what came last is held back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taylorank.data.interactions import Interactions
from taylorank.data.shuffle import rank_within_rows, tie_keys
from taylorank.data.split import check_ratios, cut_rows, held_counts, shown_ratios
from taylorank.errors import DataError

MOST_TIED = 0.5  # of the users with several interactions, the share who may have all of them at one moment


def split_tail(
    data: Interactions, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, random_state: int = 0
) -> tuple[Interactions, ...]:
    """Split each user's interactions in the order of their times: the last go to test, those before to validation.

    As many as `split` takes. Interactions of one user at the same moment are ordered at random.

    >>> data = Interactions.from_arrays([1] * 4, ["a", "b", "c", "d"], timestamps=[4, 3, 2, 1])
    >>> [part.items_of(1).tolist() for part in split_tail(data, (0.75, 0.25))]
    [['b', 'c', 'd'], ['a']]
    """
    ratios = check_ratios(ratios)
    times = data.timestamps
    if times is None:
        raise DataError("what came last is unknown: the data has no times", "read with timestamp=…, or split at random")
    newest_first = np.lexsort((tie_keys(data.by_user.indices, times, random_state), times))[::-1]
    rank = rank_within_rows(data.by_user, newest_first)
    return cut_rows(data, rank, held_counts(data.by_user.row_lengths, ratios), f"split_tail {shown_ratios(ratios)}")


def knows_order(data: Interactions) -> bool:
    """Whether there are times that tell the interactions of most users apart.

    >>> pairs = [1, 1, 2, 2], ["a", "b", "a", "b"]
    >>> [knows_order(Interactions.from_arrays(*pairs, timestamps=t)) for t in (None, [1, 2, 3, 4], [1, 1, 3, 3])]
    [False, True, False]
    """
    times, lengths = data.timestamps, data.by_user.row_lengths
    several = lengths > 1
    if times is None or not several.any():
        return False
    starts = data.by_user.indptr[:-1][several]
    first = np.repeat(times[starts], lengths[several])
    differs: Any = times[np.repeat(several, lengths)] != first
    row = np.repeat(np.arange(len(starts)), lengths[several])
    ordered = np.bincount(row, weights=differs, minlength=len(starts)) > 0
    return bool(ordered.mean() >= 1 - MOST_TIED)
