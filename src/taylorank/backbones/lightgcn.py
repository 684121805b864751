"""LightGCN: factors smoothed over the user-item graph (He et al., SIGIR 2020)."""

from __future__ import annotations

from typing import Any, Literal, Self

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.backbones.backbone import Backbone, Encoded, shorten, squared_lengths, with_rows
from taylorank.backbones.graph import Graph
from taylorank.backbones.initial import normal, seeded
from taylorank.backbones.similarity import Similarity
from taylorank.checks import check_whole
from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError


class LightGCN(Backbone):
    """o_xy = P_x · Q_y / t with [P; Q] = (E + A E + … + A^L E) / (L + 1), or P_x · Q_y / (|P_x| |Q_y| t) ("cosine").

    A = D^(−½) [[0, R], [Rᵀ, 0]] D^(−½) is the graph of the interactions, without strengths, and E are the parameters,
    N(0, std²) at first. `encode` propagates all M + N vectors once; its cost is L sparse products, and as many for
    the gradient. Users and items without interactions keep E / (L + 1).

    `ranks_by="dot"` with cosines: trained by cosines, ranked by P_x · Q_y. Draws from the batch push items off by
    their popularity; cosines then rank without it, and the lengths of Q, which grow with it from a small `std`, bring
    it back.

    >>> data = Interactions.from_arrays(["ann", "ann", "bob"], ["tea", "milk", "tea"])
    >>> encoded = LightGCN.build(data, factors=4, layers=2).encode()
    >>> encoded.scores(torch.tensor([0, 1])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        graph: CSR,
        layers: int = 3,
        similarity: Literal["dot", "cosine"] = "dot",
        temperature: float = 1.0,
        ranks_by: Literal["similarity", "dot"] = "similarity",
        std: float = 0.1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(n_users=n_users, n_items=n_items, factors=factors)
        if ranks_by not in ("similarity", "dot"):
            raise ParameterError(f"ranks_by={ranks_by!r} is unknown", "choose similarity or dot")
        if (graph.n_rows, graph.n_columns) != (n_users, n_items):
            raise ParameterError(
                f"the graph is {graph.n_rows} × {graph.n_columns} and the model {n_users} × {n_items}",
                "give the training data's users × items",
            )
        self.similarity = Similarity(similarity, temperature)
        self.ranks_by = ranks_by
        self.layers = check_whole(layers, "layers", least=0)
        self.graph = Graph(graph)
        self.embeddings = normal(n_users + n_items, factors, std=std, generator=seeded(generator))

    @classmethod
    def build(cls, data: Interactions, factors: int, **options: Any) -> Self:
        """Make the backbone of `data`, whose interactions are the graph."""
        return super().build(data, factors, graph=data.by_user, **options)

    def encode(self) -> Encoded:
        """Propagate once."""
        return self._encoded(self.similarity)

    def encode_to_rank(self) -> Encoded:
        """Propagate once; by inner products where they rank."""
        return self._encoded(Similarity() if self.ranks_by == "dot" else self.similarity)

    def _encoded(self, similarity: Similarity) -> Encoded:
        vectors = self.graph.propagate(self.embeddings, self.layers)
        users, items = vectors[: self.n_users], vectors[self.n_users :]
        users, items = similarity.query(users), similarity.item(items)
        return Encoded(
            lambda contexts: functional.embedding(contexts, users),
            lambda columns=None: items if columns is None else functional.embedding(columns, items),
        )

    def project_to_unit_ball(self) -> None:
        """Shorten every row of E that is longer than 1."""
        shorten(self.embeddings)

    def squared_norms(self, users: Tensor | None, columns: Tensor) -> Tensor:
        """Return |E_x|² + |E_y|², before they are smoothed."""
        of_items = squared_lengths(self.embeddings, columns + self.n_users)
        return of_items if users is None else of_items + squared_lengths(self.embeddings, users)

    def warm_start(self, user_factors: Any, item_factors: Any) -> None:
        """Begin with E = [user_factors; item_factors]; the scores are those of the smoothed factors.

        Rows and columns of NaN stay as they are.
        """
        users = with_rows(self.embeddings[: self.n_users], user_factors, name="user_factors")
        items = with_rows(self.embeddings[self.n_users :], item_factors, name="item_factors")
        with torch.no_grad():
            self.embeddings.copy_(torch.cat((users, items)))
