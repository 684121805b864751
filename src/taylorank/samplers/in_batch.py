"""In-batch negatives with log Q: the other positives of the batch (Yi et al., RecSys 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from taylorank.checks import check_whole
from taylorank.data import CSR
from taylorank.losses.batch import Negatives, Positives
from taylorank.samplers.independent import check_count
from taylorank.samplers.proposals import powers
from taylorank.samplers.sampler import ItemVectors, check_generator, users_of_positives
from taylorank.samplers.seen import Seen


class InBatchSampler:
    """The batch's own positives serve as negatives for all its rows; q_y = popularity_y / Σ popularity.

    No item vector is computed that the batch does not need anyway. `mask` hides draws that equal the positive and,
    with `positives`, those that the user has seen. A batch with more than `limit` positives offers `limit` of them,
    drawn with replacement, because the scores take P × limit; `n` is ignored.

    >>> sampler = InBatchSampler(n_items=3, popularity=[1, 1, 2])
    >>> batch = Positives(torch.tensor([0, 1]), torch.tensor([2, 0]), torch.ones(2))
    >>> drawn = sampler.draw(batch, 1, generator=torch.Generator())
    >>> drawn.columns, drawn.log_q.exp()
    (tensor([2, 0]), tensor([0.5000, 0.2500]))
    >>> drawn.mask
    tensor([[ True, False],
            [False,  True]])
    """

    def __init__(
        self,
        *,
        n_items: int,
        popularity: Any = None,
        positives: CSR | None = None,
        device: torch.device | str = "cpu",
        limit: int = 4096,
    ) -> None:
        self.device = torch.device(device)
        self.limit = check_whole(limit, "limit")
        share = powers(popularity, 1.0)
        check_count(n_items, len(share))
        self._log_q = torch.from_numpy(np.log(share).astype(np.float32)).to(self.device)
        self.seen = None if positives is None else Seen(positives, n_items, self.device)

    def draw(
        self,
        positives: Positives,
        n: int,
        *,
        queries: Tensor | None = None,
        items: ItemVectors | None = None,
        users: Tensor | None = None,
        generator: torch.Generator,
    ) -> Negatives:
        """Return the positives of the batch, shared by all of them."""
        columns = positives.columns
        if len(columns) > self.limit:
            check_generator(generator, self.device)
            chosen = torch.randint(len(columns), (self.limit,), generator=generator, device=self.device)
            columns = columns.index_select(0, chosen)
        mask = positives.columns[:, None] == columns
        if self.seen is not None:
            whose = users_of_positives(positives, users)
            mask |= self.seen.contains(whose[:, None], columns)
        log_q, positive_log_q = (self._log_q.index_select(0, y) for y in (columns, positives.columns))
        return Negatives(columns, log_q, positive_log_q, mask)
