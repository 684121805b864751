"""Two towers: MLPs over ids and side features (Covington et al., RecSys 2016; Yi et al., RecSys 2019)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.backbone import Backbone, Encoded, shorten, squared_lengths
from taylorank.backbones.features import Features, check_features
from taylorank.backbones.initial import linear, normal, seeded
from taylorank.backbones.similarity import Similarity
from taylorank.checks import check_name, check_number, check_whole
from taylorank.data import Interactions
from taylorank.errors import ParameterError

Activation = Callable[[Tensor], Tensor]


def softplus(states: Tensor) -> Tensor:
    """log(1 + e^s) − log 2, which is 0 at 0 as the others are."""
    return functional.softplus(states) - math.log(2)


ACTIVATIONS: dict[str, Activation] = {"gelu": functional.gelu, "softplus": softplus, "relu": functional.relu}


class TwoTower(Backbone):
    """o_xy = f(x) · g(y) / t, with f(x) = MLP(E_x + Σ_f X_xf W_f) and g alike; "cosine" divides by |f(x)| |g(y)|.

    `user_features` and `item_features` are SciPy CSR matrices with a row per user or item (`hash_columns` tames very
    wide ones); without them a tower sees the id alone. The MLP has layers of widths `hidden`, each followed by
    `activation` ("gelu", "softplus" less log 2, or "relu"), and a linear layer of width `factors` on top; embeddings
    are as wide as its first layer's input, `factors`. Embeddings begin at N(0, std²), the weights of a layer with n
    inputs at a truncated N(0, 2/n). The first two activations are smooth, as second-order steps need them.

    With `id_dropout` features make the vectors of items without interactions: their ids are left out, E_y = 0, losses
    over all items do not count them, and they are recommended if they have features. In training the ids of this share
    of the rows of a tower with features are left out as well, anew at each step, so that the features learn to do
    without; 0 leaves out none, 1 all. None: such items have random ids and are not recommended.

    >>> from scipy import sparse
    >>> model = TwoTower(n_users=3, n_items=5, factors=4, hidden=(8,), item_features=sparse.eye_array(5, format="csr"))
    >>> model.encode().scores(torch.tensor([0, 2])).shape
    torch.Size([2, 5])
    """

    rows_at_once: ClassVar[int | None] = 1 << 16

    def __init__(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        user_features: Any = None,
        item_features: Any = None,
        id_dropout: float | None = None,
        hidden: Sequence[int] = (128,),
        activation: str = "gelu",
        similarity: Literal["dot", "cosine"] = "dot",
        temperature: float = 1.0,
        std: float = 0.1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(n_users=n_users, n_items=n_items, factors=factors)
        generator = seeded(generator)
        self.similarity = Similarity(similarity, temperature)
        if not isinstance(hidden, list | tuple):
            raise ParameterError(f"hidden={hidden!r} is no list of widths", "write a list, such as [128]")
        through = check_name(activation, ACTIVATIONS, "activation")
        widths = [factors, *(check_whole(width, "hidden") for width in hidden), factors]
        users = None if user_features is None else check_features(user_features, n_users, "user_features")
        items = None if item_features is None else check_features(item_features, n_items, "item_features")
        if id_dropout is not None:
            _check_dropout(id_dropout, users, items)
        common: dict[str, Any] = {"widths": widths, "activation": through, "std": std, "generator": generator}
        self.users = Tower(n_users, users, dropout=id_dropout, **common)
        self.items = Tower(n_items, items, dropout=id_dropout, **common)

    @classmethod
    def build(cls, data: Interactions, factors: int, **options: Any) -> Self:
        """Make the towers of `data`, which says whose ids can be learned."""
        model = super().build(data, factors, **options)
        for tower, known in ((model.users, data.by_user.row_lengths > 0), (model.items, data.item_popularity > 0)):
            if tower.known is not None:
                tower.known.copy_(torch.as_tensor(known))
        return model

    @property
    def hidden_items(self) -> Tensor | None:
        """Items without interactions, where ids are left out of training."""
        known = self.items.known
        return None if known is None or bool(known.all()) else known == 0

    @property
    def nameless_items(self) -> Tensor | None:
        """Items with neither interactions nor features, where ids are left out of training."""
        hidden, features = self.hidden_items, self.items.features
        return hidden if hidden is None or features is None else hidden & (features.indptr.diff() == 0)

    def encode(self) -> Encoded:
        """Return the functions to the vectors; nothing is precomputed."""
        return Encoded(
            lambda users: self.users(users, self.similarity.query),
            lambda columns=None: self.items(columns, self.similarity.item),
        )

    def project_to_unit_ball(self) -> None:
        """Shorten every embedding of an id or a feature that is longer than 1."""
        for tower in (self.users, self.items):
            shorten(tower.ids)
            if tower.features is not None:
                shorten(tower.features.table)

    def squared_norms(self, users: Tensor | None, columns: Tensor) -> Tensor:
        """Return the squared lengths of the embeddings of the ids; features and layers are left to weight decay."""
        of_items = squared_lengths(self.items.ids, columns)
        return of_items if users is None else of_items + squared_lengths(self.users.ids, users)


class Tower(nn.Module):
    """y ↦ finish(MLP(E_y + Σ_f X_yf W_f)), each distinct y computed once."""

    known: Tensor | None  # (count,) 1 where an id can be learned, else 0; None: all

    def __init__(
        self,
        count: int,
        features: Any,
        *,
        widths: Sequence[int],
        activation: Activation,
        std: float,
        generator: torch.Generator,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.dropout = 0.0 if dropout is None or features is None else dropout
        self.register_buffer("known", None if dropout is None else torch.ones(count), persistent=False)
        self.ids = normal(count, widths[0], std=std, generator=generator)
        self.features = None if features is None else Features(features, widths[0], std=std, generator=generator)
        self.layers = nn.ModuleList(
            linear(inputs, outputs, generator=generator) for inputs, outputs in pairwise(widths)
        )

    def forward(self, numbers: Tensor | None, finish: Callable[[Tensor], Tensor]) -> Tensor:
        """Return `finish` of the vectors of the given numbers, (…, factors); None: of all."""
        if numbers is None:
            return finish(self._vectors(torch.arange(len(self.ids), device=self.ids.device)))
        used = torch.zeros(len(self.ids), dtype=torch.bool, device=self.ids.device)
        used[numbers] = True  # marking is linear, where torch.unique would sort
        place = used.cumsum(0).sub_(1)
        return functional.embedding(place[numbers], finish(self._vectors(used.nonzero().squeeze(1))))

    def _vectors(self, numbers: Tensor) -> Tensor:
        states = functional.embedding(numbers, self.ids)
        if self.known is not None:
            states = states * self._kept(numbers)[:, None]
        if self.features is not None:
            states = states + self.features(numbers)
        for layer in self.layers[:-1]:
            states = self.activation(layer(states))
        vectors: Tensor = self.layers[-1](states)
        return vectors

    def _kept(self, numbers: Tensor) -> Tensor:
        """1 for ids that count, else 0, (len(numbers),)."""
        assert self.known is not None
        kept = self.known[numbers]
        if self.training and self.dropout:
            kept = kept * (torch.rand(len(numbers), device=numbers.device) >= self.dropout)
        return kept


def _check_dropout(value: Any, users: Any, items: Any) -> None:
    if not 0 <= check_number(value, "id_dropout") <= 1:
        raise ParameterError(f"id_dropout={value!r} is not a share", "give a number from 0 to 1")
    if users is None and items is None:
        raise ParameterError("id_dropout leaves nothing of a tower without features", "give item_features")
