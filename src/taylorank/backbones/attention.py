"""One pre-norm transformer block."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.initial import linear


class Block(nn.Module):
    """X ← X + drop(MultiHead(norm X)); X ← X + drop(W₂ gelu(W₁ norm X)), with X of shape (B, L, K)."""

    def __init__(
        self, factors: int, *, heads: int, hidden: int, dropout: float, std: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before_attention, self.before_hidden = nn.LayerNorm(factors), nn.LayerNorm(factors)
        self.project = linear(factors, 3 * factors, std=std, generator=generator)  # queries, keys, values
        self.merge = linear(factors, factors, std=std, generator=generator)
        self.widen = linear(factors, hidden, std=std, generator=generator)
        self.narrow = linear(hidden, factors, std=std, generator=generator)

    def forward(self, states: Tensor, allowed: Tensor) -> Tensor:
        """Return the new states; `allowed` (B, 1, L, L) says which keys each position may look at."""
        states = states + self._drop(self.merge(self._attend(self.before_attention(states), allowed)))
        return states + self._drop(self.narrow(functional.gelu(self.widen(self.before_hidden(states)))))

    def _attend(self, states: Tensor, allowed: Tensor) -> Tensor:
        batch, length, factors = states.shape
        parts = self.project(states).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, L, K/H)
        dropout = self.dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=dropout)
        return mixed.transpose(1, 2).reshape(batch, length, factors)

    def _drop(self, states: Tensor) -> Tensor:
        return functional.dropout(states, self.dropout, self.training)
