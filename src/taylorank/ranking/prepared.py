"""What an evaluation knows before it looks at a model's scores: worked out once for many models of the same ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions
from taylorank.errors import LeakageWarning, warn_caller
from taylorank.metrics import Gain
from taylorank.ranking.masks import Hidden
from taylorank.ranking.ranker import Ranker
from taylorank.ranking.relevance import Relevance, relevance, warn_of_unknown
from taylorank.ranking.rows import common, take_rows

OVERLAP_USERS = 1 << 16  # compared with what is hidden at a time


@dataclass(frozen=True, eq=False)
class Prepared:
    """The test users with what is relevant to each and what is hidden from each, in positions of a model."""

    users: Ids
    items: Ids
    seen: tuple[Interactions, ...]
    gain: Gain
    truth: Relevance
    hidden: Hidden
    _blocks: dict[int, list[tuple[slice, NDArray[np.int64]]]] = field(default_factory=dict)

    def is_for(self, ranker: Ranker, seen: tuple[Interactions, ...], gain: Gain) -> bool:
        """Whether it holds for this model, these masks and this gain."""
        same_masks = len(seen) == len(self.seen) and all(a is b for a, b in zip(seen, self.seen, strict=True))
        return same_masks and gain == self.gain and ranker.users == self.users and ranker.items == self.items

    def blocks(self, size: int) -> list[tuple[slice, NDArray[np.int64]]]:
        """Return the users in blocks of `size`: places among the test users, and positions in the model."""
        if size not in self._blocks:
            places = [slice(start, start + size) for start in range(0, len(self.truth.users), size)]
            self._blocks[size] = [
                (slice(*place.indices(len(self.truth.users))), self.truth.users[place]) for place in places
            ]
            for _, positions in self._blocks[size]:
                self.hidden.keep(positions)
        return self._blocks[size]

    @cached_property
    def overlap(self) -> int:
        """How many relevant items are hidden from their own user, so that no ranking can find them."""
        count = 0
        for rows, positions in self.blocks(OVERLAP_USERS):
            masked = self.hidden.of(positions)
            if masked is not None:
                count += common(take_rows(self.truth.rows, np.arange(rows.start, rows.stop)), masked)
        return count

    def warn(self) -> None:
        """Warn of test users and items that the model does not know, and of test items that are hidden."""
        warn_of_unknown(self.truth)
        total = int(self.truth.counts.sum())
        if self.overlap:
            warn_caller(
                f"{self.overlap:,} of {total:,} test pairs ({self.overlap / total:.1%}) were seen before (they are in "
                "`seen`, the training data by default): hidden from the ranking, they count as misses; remove them "
                "from the test data, or pass seen=[] to rank all items",
                LeakageWarning,
            )


_LAST: dict[int, tuple[ref[Interactions], Prepared]] = {}  # the last one of each test set, as long as that lives


def prepared(ranker: Ranker, test: Interactions, seen: list[Interactions], gain: Gain) -> Prepared:
    """Return what is known of this evaluation, from the last one of `test` if that was of the same kind."""
    masks, key = tuple(seen), id(test)
    of_test, last = _LAST.get(key, (None, None))
    if of_test is not None and of_test() is test and last is not None and last.is_for(ranker, masks, gain):
        return last
    truth = relevance(ranker, test, gain)
    made = Prepared(ranker.users, ranker.items, masks, gain, truth, Hidden(ranker, masks))
    if not any(mask is test for mask in masks):  # else it would keep itself alive
        _LAST[key] = ref(test, lambda _: _LAST.pop(key, None)), made
    return made
