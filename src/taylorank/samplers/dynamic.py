"""Dynamic negative sampling: the hardest of m by the current scores (Zhang et al., SIGIR 2013)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from taylorank.checks import check_whole
from taylorank.data import CSR
from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives
from taylorank.samplers.independent import ROUNDS, PopularitySampler, UniformSampler
from taylorank.samplers.sampler import ItemVectors, users_of_positives

CHUNK = 1 << 24  # elements of item vectors that are gathered at once: 64 MiB of float32


class DynamicSampler:
    """argmax_{y ∈ pool} o_xy, with a pool of m candidates of its own for each negative.

    Candidates come from q ∝ max(popularity, 1)^`exponent` (0: uniform). Scores are taken without gradient. The draws
    of one positive are independent given the scores, whatever n is. There is no closed form of their probability,
    so `log_q` is None. A candidate that is a positive of the user cannot be chosen; where the whole pool is, the
    draw is masked.
    """

    def __init__(
        self,
        *,
        n_items: int,
        popularity: Any = None,
        positives: CSR | None = None,
        device: torch.device | str = "cpu",
        pool: int = 16,
        exponent: float = 0.0,
        rounds: int = ROUNDS,
    ) -> None:
        self.pool = check_whole(pool, "pool")
        shared: dict[str, Any] = {"n_items": n_items, "positives": positives, "device": device, "rounds": rounds}
        self.candidates = (
            UniformSampler(**shared)
            if exponent == 0
            else PopularitySampler(popularity=popularity, exponent=exponent, **shared)
        )

    @torch.no_grad()
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
        """Draw n negatives for each positive, a chunk of positives at a time."""
        if queries is None or items is None:
            raise ParameterError("dynamic sampling needs the current scores", "pass queries= and items=")
        check_whole(n, "n")
        whose = None if self.candidates.seen is None else users_of_positives(positives, users)
        rows = max(1, CHUNK // (n * self.pool * queries.shape[1]))
        parts = [
            self._hardest(
                queries.index_select(0, positives.rows[start : start + rows]),
                n,
                items=items,
                users=None if whose is None else whose[start : start + rows],
                generator=generator,
            )
            for start in range(0, len(positives.rows), rows)
        ]
        columns = torch.cat([part for part, _ in parts]) if parts else positives.columns.new_empty((0, n))
        masks = [mask for _, mask in parts if mask is not None]
        return Negatives(columns, None, None, torch.cat(masks) if masks else None)

    def _hardest(
        self, queries: Tensor, n: int, *, items: ItemVectors, users: Tensor | None, generator: torch.Generator
    ) -> tuple[Tensor, Tensor | None]:
        """Return the hardest candidate of each pool, (p, n), and whether it is a positive all the same."""
        pools, mask = self.candidates.columns((len(queries), n * self.pool), users=users, generator=generator)
        scores = torch.bmm(items(pools), queries[:, :, None]).squeeze(2)  # (p, n·m)
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        shape = (len(queries), n, self.pool)
        hardest = scores.view(shape).argmax(2, keepdim=True)  # (p, n, 1)
        columns = pools.view(shape).gather(2, hardest).squeeze(2)
        return columns, None if mask is None else mask.view(shape).gather(2, hardest).squeeze(2)
