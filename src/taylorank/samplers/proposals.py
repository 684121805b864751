"""Proposals: fixed distributions q over the items, with O(1) draws and known log q."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taylorank.checks import check_number
from taylorank.errors import ParameterError
from taylorank.samplers.alias import alias_table

WORD_BITS = 63  # what Tensor.random_ fills of a signed 64-bit word


class Proposal(Protocol):
    """A distribution over N items."""

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Return independent draws, int64."""
        ...

    def log_q(self, columns: Tensor) -> Tensor:
        """Return log q of the given items, float32, in their shape."""
        ...


class UniformProposal:
    """q_y = 1/N.

    One random word per draw, reduced modulo N: no item's probability is off by more than a factor 1 + N/2³².
    """

    def __init__(self, n_items: int, device: torch.device) -> None:
        self.n_items, self.device = n_items, device
        self._log_q = torch.tensor(-math.log(n_items), device=device)

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Return independent draws."""
        return torch.randint(self.n_items, shape, generator=generator, device=self.device)

    def log_q(self, columns: Tensor) -> Tensor:
        """Return −log N in the shape of `columns`, without memory."""
        return self._log_q.expand(columns.shape)


class PowerProposal:
    """q_y ∝ max(popularity_y, 1)^β: an alias table in which one random 63-bit word makes a draw.

    The word's high bits choose the slot, its low c bits toss the coin. The slot's threshold and alias share one
    word too, so that a draw costs one random read. N/2^(63−c) bounds the relative error of a slot, 2^−c that of its
    coin, with c = 27 for N < 2²⁷.
    """

    def __init__(self, popularity: Any, exponent: float, device: torch.device) -> None:
        q = powers(popularity, exponent)
        self.n_items, self.device = len(q), device
        item_bits = (self.n_items - 1).bit_length()
        self._coin_bits, self._item_bits = max(27, item_bits), item_bits
        keep, alias = alias_table(q)
        last = (1 << self._coin_bits) - 1  # keep = 1 needs no threshold of its own: the alias is the slot itself
        threshold = np.minimum(np.rint(keep * (last + 1)).astype(np.int64), last)
        self._table = torch.from_numpy(threshold << item_bits | alias).to(device)
        self._log_q = torch.from_numpy(np.log(q).astype(np.float32)).to(device)

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Return independent draws."""
        words = torch.empty(math.prod(shape), dtype=torch.int64, device=self.device).random_(generator=generator)
        slots = (words >> self._coin_bits).mul_(self.n_items).bitwise_right_shift_(WORD_BITS - self._coin_bits)
        entries = self._table.index_select(0, slots)
        coins = words.bitwise_and_((1 << self._coin_bits) - 1)
        keep = coins < (entries >> self._item_bits)
        aliases = entries.bitwise_and_((1 << self._item_bits) - 1)
        return torch.where(keep, slots, aliases).view(shape)

    def log_q(self, columns: Tensor) -> Tensor:
        """Return log q of the given items."""
        return self._log_q.index_select(0, columns.reshape(-1)).view(columns.shape)


def powers(popularity: Any, exponent: float) -> NDArray[np.float64]:
    """Return q ∝ max(popularity, 1)^β, which is positive for items without interactions too; sums to 1.

    >>> powers([0, 1, 3], 1.0)
    array([0.2, 0.2, 0.6])
    """
    if popularity is None:
        raise ParameterError("the sampler needs the popularity of the items", "pass popularity=, one count per item")
    check_number(exponent, "exponent")
    counts = popularity.detach().cpu().numpy() if isinstance(popularity, Tensor) else np.asarray(popularity)
    counts = counts.astype(np.float64)
    if counts.ndim != 1 or not len(counts) or not np.all(np.isfinite(counts)) or np.any(counts < 0):
        raise ParameterError("popularity is not a list of finite counts ≥ 0", "give one count per item")
    logs = exponent * np.log(np.maximum(counts, 1))
    q: NDArray[np.float64] = np.exp(logs - logs.max())
    q /= q.sum()
    if not np.all(q > 0):
        raise ParameterError(f"exponent={exponent} leaves some items no probability", "bring it nearer to 0")
    return q
