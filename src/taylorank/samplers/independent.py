"""Independent draws from a fixed proposal: uniform, and popularity to a power.

With `positives` (the seen items of every user), a draw that the user has seen is drawn again, `rounds` times at most,
and what still hits is masked. `log_q` stays that of the proposal. Given that no positive is drawn, the probability is
q_y / (1 − Σ_{z seen} q_z), so every negative of a user has the same −log(1 − Σ q_z) too little: negligible
unless the user has seen a good part of the proposal's mass.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from taylorank.checks import check_whole
from taylorank.data import CSR
from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives
from taylorank.samplers.proposals import PowerProposal, Proposal, UniformProposal
from taylorank.samplers.sampler import ItemVectors, check_generator, users_of_positives
from taylorank.samplers.seen import Seen, draw_unseen

ROUNDS = 8


class IndependentSampler:
    """n independent draws from `proposal` for each positive, those that the user has seen drawn again."""

    def __init__(
        self, proposal: Proposal, n_items: int, *, positives: CSR | None, device: torch.device, rounds: int
    ) -> None:
        self.proposal, self.device = proposal, device
        self.rounds = check_whole(rounds, "rounds", least=0)
        self.seen = None if positives is None else Seen(positives, n_items, device)

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
        """Draw n negatives for each positive; scores are not used."""
        shape = (len(positives.rows), check_whole(n, "n"))
        whose = None if self.seen is None else users_of_positives(positives, users)
        columns, mask = self.columns(shape, users=whose, generator=generator)
        return Negatives(columns, self.proposal.log_q(columns), self.proposal.log_q(positives.columns), mask)

    def columns(
        self, shape: tuple[int, int], *, users: Tensor | None, generator: torch.Generator
    ) -> tuple[Tensor, Tensor | None]:
        """Return draws and their mask; `users` are those of the rows of the draws."""
        check_generator(generator, self.device)
        propose = partial(self.proposal.draw, generator=generator)
        if self.seen is None or users is None:
            return propose(shape), None
        return draw_unseen(propose, shape, seen=self.seen, users=users, rounds=self.rounds)


class UniformSampler(IndependentSampler):
    """q_y = 1/N.

    >>> sampler = UniformSampler(n_items=5)
    >>> batch = Positives(torch.tensor([0, 1]), torch.tensor([3, 4]), torch.ones(2))
    >>> sampler.draw(batch, 3, generator=torch.Generator().manual_seed(0)).columns.shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        *,
        n_items: int,
        popularity: Any = None,
        positives: CSR | None = None,
        device: torch.device | str = "cpu",
        rounds: int = ROUNDS,
    ) -> None:
        place = torch.device(device)
        proposal = UniformProposal(check_whole(n_items, "n_items"), place)
        super().__init__(proposal, n_items, positives=positives, device=place, rounds=rounds)


class PopularitySampler(IndependentSampler):
    """q_y ∝ max(popularity_y, 1)^β, with β = `exponent`: 1 is popularity, 0 uniform, ¾ as in word2vec.

    >>> sampler = PopularitySampler(n_items=3, popularity=[0, 1, 3], exponent=1.0)
    >>> sampler.proposal.log_q(torch.arange(3)).exp()
    tensor([0.2000, 0.2000, 0.6000])
    """

    def __init__(
        self,
        *,
        n_items: int,
        popularity: Any = None,
        positives: CSR | None = None,
        device: torch.device | str = "cpu",
        exponent: float = 0.75,
        rounds: int = ROUNDS,
    ) -> None:
        place = torch.device(device)
        proposal = PowerProposal(popularity, exponent, place)
        check_count(n_items, proposal.n_items)
        super().__init__(proposal, n_items, positives=positives, device=place, rounds=rounds)


def check_count(n_items: int, given: int) -> None:
    """Refuse popularities of another number of items."""
    if check_whole(n_items, "n_items") != given:
        raise ParameterError(f"popularity has {given} items and n_items is {n_items}", "give one count per item")
