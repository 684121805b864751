"""Further parts of the data to hold back, where the first cannot tell the best candidates apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from taylorank.data import merge
from taylorank.selection.found import Found
from taylorank.selection.hold_out import HeldBack, hold_back


def further_parts(held: HeldBack, share: float, *, random_state: int) -> Iterator[HeldBack]:
    """Yield other parts as large: what came before the last part of each user, and so on back; else random ones.

    >>> from taylorank.data import planted
    >>> parts = further_parts(hold_back(planted(30, 20, interactions=300)), 0.1, random_state=0)
    >>> earlier = next(parts)
    >>> earlier.kind, earlier.train.nnz + earlier.valid.nnz
    ('last', 270)
    """
    whole = merge(held.train, held.valid)
    for number in itertools.count(1):
        data = held.train if held.kind == "last" else whole
        held = hold_back(data, share, hold_out=held.kind, random_state=random_state + number)
        if not held.valid.nnz:
            return
        yield held


def contenders(found: Sequence[Found], best: Found) -> list[Found]:
    """Return the best and those that it is not clearly ahead of, of those judged on as many parts."""
    return [
        one for one in found if one is best or (len(one.looks) == len(best.looks) and not best.is_clearly_ahead_of(one))
    ]
