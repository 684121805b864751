"""Matrix factorisation: one vector per user and per item."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.backbone import Backbone, Encoded, looked_up, shorten, squared_lengths, with_rows
from taylorank.backbones.initial import normal, seeded
from taylorank.backbones.similarity import Similarity
from taylorank.errors import ParameterError


class MF(Backbone):
    """o_xy = P_x · Q_y / t + b_y + a_x, or with P_x · Q_y / (|P_x| |Q_y| t) ("cosine").

    Biases are off unless asked for; they are appended to the vectors, [P_x/t, 1, a_x] · [Q_y, b_y, 1], which are then
    wider by 1 each, and begin at 0. P and Q begin at N(0, std²).

    `sparse=True` gives sparse gradients (for torch.optim.SparseAdam) wherever vectors are looked up by number; losses
    that ask for all items at once still give those a dense one.

    >>> model = MF(n_users=3, n_items=5, factors=4, item_bias=True)
    >>> encoded = model.encode()
    >>> encoded.queries(torch.tensor([0, 2])).shape, encoded.items().shape
    (torch.Size([2, 5]), torch.Size([5, 5]))
    """

    def __init__(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        similarity: Literal["dot", "cosine"] = "dot",
        temperature: float = 1.0,
        item_bias: bool = False,
        user_bias: bool = False,
        sparse: bool = False,
        std: float = 0.1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(n_users=n_users, n_items=n_items, factors=factors)
        for name, value in (("item_bias", item_bias), ("user_bias", user_bias)):
            if not isinstance(value, bool):
                raise ParameterError(f"{name}={value!r} is neither True nor False", "give one of them")
        generator = seeded(generator)
        self.similarity, self.sparse = Similarity(similarity, temperature), sparse
        self.user_factors = normal(n_users, factors, std=std, generator=generator)
        self.item_factors = normal(n_items, factors, std=std, generator=generator)
        self.user_bias = nn.Parameter(torch.zeros(n_users, 1)) if user_bias else None
        self.item_bias = nn.Parameter(torch.zeros(n_items, 1)) if item_bias else None

    @property
    def width(self) -> int:
        """Factors, and one more for each kind of bias."""
        return self.factors + (self.item_bias is not None) + (self.user_bias is not None)

    @property
    def tables(self) -> tuple[nn.Parameter, nn.Parameter] | None:
        """P and Q, unless biases, cosines or a temperature come between."""
        is_plain = self.similarity == Similarity() and self.width == self.factors
        return (self.user_factors, self.item_factors) if is_plain else None

    def encode(self) -> Encoded:
        """Return the functions to the vectors; nothing is precomputed."""
        return Encoded(self._queries, self._items)

    def project_to_unit_ball(self) -> None:
        """Shorten every P_x and Q_y that is longer than 1; biases stay."""
        shorten(self.user_factors)
        shorten(self.item_factors)

    def squared_norms(self, users: Tensor | None, columns: Tensor) -> Tensor:
        """Return |P_x|² + |Q_y|²."""
        of_items = squared_lengths(self.item_factors, columns, sparse=self.sparse)
        return of_items if users is None else of_items + squared_lengths(self.user_factors, users, sparse=self.sparse)

    def warm_start(self, user_factors: Any, item_factors: Any) -> None:
        """Begin at given factors, whose inner products the scores then are (cosine keeps their directions alone).

        Rows and columns of NaN stay as they are.
        """
        scale = self.similarity.temperature if self.similarity.kind == "dot" else 1.0
        users = with_rows(self.user_factors, user_factors, name="user_factors", scale=scale)
        items = with_rows(self.item_factors, item_factors, name="item_factors")
        with torch.no_grad():
            self.user_factors.copy_(users)
            self.item_factors.copy_(items)
            for bias in (self.user_bias, self.item_bias):
                if bias is not None:
                    bias.zero_()

    def _queries(self, users: Tensor) -> Tensor:
        vectors = looked_up(self.user_factors, users, through=self.similarity.query, sparse=self.sparse)
        ones = None if self.item_bias is None else torch.ones_like(vectors[..., :1])
        return _side_by_side(vectors, ones, self._rows(self.user_bias, users))

    def _items(self, columns: Tensor | None = None) -> Tensor:
        vectors = looked_up(self.item_factors, columns, through=self.similarity.item, sparse=self.sparse)
        ones = None if self.user_bias is None else torch.ones_like(vectors[..., :1])
        return _side_by_side(vectors, self._rows(self.item_bias, columns), ones)

    def _rows(self, table: Any, index: Tensor | None) -> Any:
        if table is None or index is None:
            return table
        return functional.embedding(index, table, sparse=self.sparse)


def _side_by_side(vectors: Tensor, *more: Tensor | None) -> Tensor:
    columns = [column for column in more if column is not None]
    return torch.cat([vectors, *columns], dim=-1) if columns else vectors
