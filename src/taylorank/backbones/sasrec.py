"""SASRec: causal self-attention over the history of a user (Kang and McAuley, ICDM 2018)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.attention import Block
from taylorank.backbones.backbone import Backbone, Encoded, looked_up, shorten, squared_lengths
from taylorank.backbones.initial import seeded, truncated
from taylorank.backbones.registry import get
from taylorank.backbones.similarity import Similarity
from taylorank.backbones.time_order import times_of
from taylorank.checks import check_number, check_whole
from taylorank.data import Interactions
from taylorank.errors import ParameterError


class SASRec(Backbone):
    """o_xy = h_x · Q_y / t with h_x the last state of a causal transformer over x's sequence (y₁ … y_L).

    "cosine" divides by |h_x| |Q_y| as well.

    X⁰_l = √K Q_{y_l} + S_l, then `blocks` pre-norm blocks, then a layer norm; Q is shared between input and output. A
    context is a row of item numbers, padded on the left with n_items: (B, L) → (B, L, K), and state l depends on
    y₁ … y_l alone, so that a training step can ask every position for its next item, and `[:, -1]` is the query of
    the whole sequence. New users need no training: there are no user parameters. In training all
    places of all histories have the same weight; strengths are ignored.

    Positions are counted from the end (the last item has position `length` − 1), so more padding changes nothing.
    No other position attends to padding; states at padding are 0, and so are those of an empty sequence. All weights
    begin at a normal of deviation `std`, cut off at 2 std; `hidden` None is 4 · factors.

    >>> model = SASRec(n_users=2, n_items=5, factors=4, length=3, heads=2).eval()
    >>> model.encode().queries(torch.tensor([[5, 0, 3]])).shape
    torch.Size([1, 3, 4])
    """

    takes: ClassVar[Literal["users", "sequences"]] = get("sasrec").takes

    def __init__(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        length: int = 50,
        blocks: int = 2,
        heads: int = 1,
        hidden: int | None = None,
        dropout: float = 0.2,
        similarity: Literal["dot", "cosine"] = "dot",
        temperature: float = 1.0,
        std: float = 0.02,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(n_users=n_users, n_items=n_items, factors=factors)
        generator = seeded(generator)
        self.similarity = Similarity(similarity, temperature)
        self.length, self.dropout = check_whole(length, "length"), check_number(dropout, "dropout", least=0)
        if factors % check_whole(heads, "heads"):
            raise ParameterError(f"{heads} heads do not divide {factors} factors", "choose a divisor")
        if self.dropout >= 1:
            raise ParameterError(f"dropout={dropout} leaves nothing", "give a number in [0, 1)")
        width = 4 * factors if hidden is None else check_whole(hidden, "hidden")
        self.item_factors = truncated(n_items + 1, factors, std=std, generator=generator)  # the last row is padding
        self.positions = truncated(length, factors, std=std, generator=generator)
        self.blocks = nn.ModuleList(
            Block(factors, heads=heads, hidden=width, dropout=self.dropout, std=std, generator=generator)
            for _ in range(check_whole(blocks, "blocks"))
        )
        self.final = nn.LayerNorm(factors)

    @classmethod
    def build(cls, data: Interactions, factors: int, **options: Any) -> Self:
        """Make the backbone of `data`, which must have timestamps (`sequences(data, length)`)."""
        times_of(data)
        return super().build(data, factors, **options)

    def encode(self) -> Encoded:
        """Return the functions to the vectors; nothing is precomputed."""
        return Encoded(self._states, self._items)

    def project_to_unit_ball(self) -> None:
        """Shorten every Q_y that is longer than 1."""
        shorten(self.item_factors)

    def squared_norms(self, users: Tensor | None, columns: Tensor) -> Tensor:
        """Return |Q_y|²; users have no embedding."""
        return squared_lengths(self.item_factors, columns)

    def _states(self, contexts: Tensor) -> Tensor:
        """Return the states of (B, L) sequences, (B, L, K)."""
        if contexts.ndim != 2 or not 1 <= contexts.shape[1] <= self.length:
            shape = " × ".join(map(str, contexts.shape))
            raise ParameterError(
                f"sequences are {shape} and the model reads B × 1 to {self.length}",
                "keep the last items, or raise length",
            )
        real = contexts != self.n_items  # (B, L)
        states = functional.embedding(contexts, self.item_factors, padding_idx=self.n_items) * math.sqrt(self.factors)
        states = functional.dropout(states + self.positions[-contexts.shape[1] :], self.dropout, self.training)
        allowed = _causal(real)
        for block in self.blocks:
            states = block(states, allowed)
        final: Tensor = self.similarity.query(self.final(states)) * real[:, :, None]
        return final

    def _items(self, columns: Tensor | None = None) -> Tensor:
        table = self.item_factors
        return looked_up(table[: self.n_items], columns, through=self.similarity.item)


def _causal(real: Tensor) -> Tensor:
    """Return which keys each position attends to, (B, 1, L, L): real ones not after it, and itself.

    Attending to itself keeps the softmax of a padding position from having no term; no other position attends to it.
    """
    length = real.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=real.device).tril()
    itself = torch.eye(length, dtype=torch.bool, device=real.device)
    return ((past & real[:, None, :]) | itself)[:, None]
