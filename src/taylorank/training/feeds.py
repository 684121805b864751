"""Batches of a training set, cut on the device without a loop over users or pairs.

Which batches a loss wants depends on where its work lies. A loss that looks at all items does its work once per query,
so a batch is some users with all their items. A loss with draws does its work per positive, so a batch is some
positives. A sequence model reads histories, so a batch is some users, with one positive per place in the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taylorank.data import Interactions
from taylorank.errors import DataError
from taylorank.losses.batch import Positives


@dataclass(frozen=True, eq=False)
class Batch:
    """Queries and their positives; the loss is Σ w ℓ / `scale`."""

    contexts: Tensor  # (B,) users, or (B, L) histories
    users: Tensor  # (P or B,) the user of each query
    positives: Positives
    scale: float
    places: Tensor | None = None  # (B, L) bool: the places of a history that have a positive


class Feed(Protocol):
    """One pass over the data, in an order drawn from `generator`."""

    @property
    def steps(self) -> int:
        """Batches in a pass."""
        ...

    def batches(self, generator: torch.Generator) -> Iterator[Batch]:
        """Draw an order and cut it."""
        ...


def pair_weights(data: Interactions, context_exponent: float) -> NDArray[np.float32]:
    """r_xy · I_x^(ρ−1) of each pair, so that Σ_y of a user's weights is I_x^ρ; (nnz,)."""
    rows = data.by_user.row_of_entry()
    totals = np.bincount(rows, weights=data.strengths, minlength=data.n_users)
    if context_exponent == 1:
        return np.array(data.strengths, dtype=np.float32)
    with np.errstate(divide="ignore"):
        factors = np.where(totals > 0, totals ** (context_exponent - 1), 0.0)
    weights: NDArray[np.float32] = (data.strengths * factors[rows]).astype(np.float32)
    return weights


class Shuffled:
    """Cuts `users`, the user of each entry, into batches in a random order."""

    users: Tensor
    batch_size: int
    device: str

    @property
    def steps(self) -> int:
        """Batches in a pass."""
        return -(-len(self.users) // self.batch_size)

    def shuffled(self, generator: torch.Generator) -> tuple[Tensor, ...]:
        """Return the positions in `users` of each batch."""
        order = torch.randperm(len(self.users), generator=generator, device=self.device)
        return torch.split(order, int(self.batch_size))


class UserFeed(Shuffled):
    """Batches of users with all their positives, for losses over all items."""

    def __init__(self, data: Interactions, *, weights: NDArray[np.float32], batch_size: int, device: str) -> None:
        rows = data.by_user
        self.device = device
        self.lengths = torch.as_tensor(rows.row_lengths.astype(np.int64), device=device)
        self.starts = torch.as_tensor(rows.indptr[:-1].astype(np.int64), device=device)
        self.columns = torch.as_tensor(rows.indices.astype(np.int64), device=device)
        self.weights = torch.as_tensor(weights, device=device)
        self.users = torch.nonzero(self.lengths).flatten()  # (M',) those with interactions
        self.batch_size = min(batch_size, len(self.users))
        self.weight_per_user = float(weights.sum(dtype=np.float64)) / len(self.users)

    def batches(self, generator: torch.Generator) -> Iterator[Batch]:
        """Users in a random order."""
        for places in self.shuffled(generator):
            users = self.users[places]
            yield Batch(users, users, self.positives(users), self.weight_per_user * len(users))

    def positives(self, users: Tensor) -> Positives:
        """Gather the rows of `users`."""
        lengths = self.lengths[users]
        rows = torch.repeat_interleave(lengths)  # (P,) 0…B−1
        ends = lengths.cumsum(0)
        places = torch.arange(len(rows), device=self.device) + (self.starts[users] - ends + lengths)[rows]
        return Positives(rows, self.columns[places], self.weights[places])


class PairFeed(Shuffled):
    """Batches of positives, for losses with draws and for trees."""

    def __init__(self, data: Interactions, *, weights: NDArray[np.float32], batch_size: int, device: str) -> None:
        self.device = device
        self.users = torch.as_tensor(data.by_user.row_of_entry().astype(np.int64), device=device)
        self.columns = torch.as_tensor(data.by_user.indices.astype(np.int64), device=device)
        self.weights = torch.as_tensor(weights, device=device)
        self.batch_size = min(batch_size, len(self.users))
        self.mean_weight = float(weights.mean(dtype=np.float64))

    def batches(self, generator: torch.Generator) -> Iterator[Batch]:
        """Pairs in a random order."""
        rows = torch.arange(self.batch_size, device=self.device)
        for places in self.shuffled(generator):
            users = self.users[places]
            positives = Positives(rows[: len(places)], self.columns[places], self.weights[places])
            yield Batch(users, users, positives, self.mean_weight * len(places))


class SequenceFeed(Shuffled):
    """Batches of histories; the positive of each place is the item that came next."""

    def __init__(self, histories: NDArray[np.int64], *, padding: int, batch_size: int, device: str) -> None:
        long_enough = (histories != padding).sum(axis=1) > 1
        if not long_enough.any():
            raise DataError("no user has two items, so no item comes next", "give longer histories, or use mf")
        self.users = torch.as_tensor(np.flatnonzero(long_enough), device=device)
        self.histories = torch.as_tensor(histories, device=device)  # (M, L + 1)
        self.padding, self.device = padding, device
        self.batch_size = min(batch_size, len(self.users))
        pairs = int((histories[:, :-1] != padding).sum())
        self.pairs_per_user = pairs / len(self.users)

    def batches(self, generator: torch.Generator) -> Iterator[Batch]:
        """Users in a random order."""
        for chosen in self.shuffled(generator):
            users = self.users[chosen]
            histories = self.histories[users]
            places = histories[:, :-1] != self.padding  # (B, L)
            columns = histories[:, 1:][places]
            rows = torch.arange(len(columns), device=self.device)
            positives = Positives(rows, columns, torch.ones(len(columns), device=self.device))
            of_query = users[:, None].expand(places.shape)[places]
            yield Batch(histories[:, :-1], of_query, positives, self.pairs_per_user * len(users), places)
