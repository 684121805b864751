"""Hierarchical softmax: a positive costs the length of its path in a binary tree over the items.

    ℓ = −log p(y | u) = Σ_{nodes a on the path to y} log(1 + exp(−s_a u·w_a))    s_a = ±1: the child it takes

The probabilities of all items sum to 1 by construction. Node vectors w take the place of item vectors.
Morin, Bengio (2005); Mikolov et al. (2013) with Huffman's tree.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives, pick, widen
from taylorank.losses.criterion import Criterion, weighted_sum
from taylorank.losses.drawn import drawn_scores
from taylorank.losses.tree import Tree


def hsm(path_scores: Tensor, signs: Tensor) -> Tensor:
    """ℓ = Σ_a log(1 + exp(−s_a o_a)), for node scores (P, L) and signs (P, L), 0 beyond the path's end → (P,).

    >>> import torch
    >>> hsm(torch.zeros(1, 3), torch.tensor([[1, -1, 0]]))
    tensor([1.3863])
    """
    scores = widen(path_scores)
    return (functional.softplus(-signs.to(scores.dtype) * scores) * (signs != 0)).sum(1)


class TreeCriterion(Criterion):
    """Owns the node vectors (N − 1, K) and gives the log probabilities of all items."""

    kind = "structured"
    scoring = "tree"
    parent: Tensor
    sign: Tensor
    order: Tensor

    def __init__(self, tree: Tree, factors: int) -> None:
        super().__init__()
        self.n_items, self.height = tree.n_items, int(tree.depth.max())
        self.nodes = nn.Parameter(torch.zeros(self.n_items - 1, factors))
        self.register_buffer("parent", torch.from_numpy(tree.parent))
        self.register_buffer("sign", torch.from_numpy(tree.sign))
        self.register_buffer("order", torch.from_numpy(tree.depth.argsort(kind="stable")))
        self.level_sizes = torch.bincount(torch.from_numpy(tree.depth)).tolist()

    def forward(
        self,
        queries: Tensor,
        items: object,
        positives: Positives,
        negatives: Negatives | None = None,
        *,
        users: Tensor | None = None,
    ) -> Tensor:
        """Return the sum; `items` is not used."""
        nodes, signs = self.paths(positives.columns)
        if nodes.numel() * 4 < len(queries) * len(self.nodes):
            scores = drawn_scores(pick(queries, positives.rows), functools.partial(pick, self.nodes), nodes)  # (P, L)
        else:  # so many positives per query that one product with all nodes costs less
            table = queries @ self.nodes.T.to(queries.dtype)  # (B, N − 1)
            scores = (
                table.view(-1).gather(0, (positives.rows[:, None] * len(self.nodes) + nodes).view(-1)).view_as(nodes)
            )
        return weighted_sum(hsm(scores, signs), positives)

    def paths(self, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return nodes and signs (P, L) from leaf to root, all paths at once; the root pads, with sign 0."""
        node = columns + (self.n_items - 1)
        nodes, signs = [], []
        for _ in range(self.height):
            signs.append(self.sign[node])
            node = self.parent[node]
            nodes.append(node)
        return torch.stack(nodes, 1), torch.stack(signs, 1)

    def export(self, queries: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """Refuse: a sum over paths is no inner product."""
        raise ParameterError("a tree has no item vectors to rank by", "use criterion.scores(queries)")

    def item_directions(self) -> Tensor:
        """Return v_y = ½ Σ_a s_a w_a over the path to y, (N, K): log p(y | u) ≈ u·v_y − depth · log 2 near u = 0."""
        nodes, signs = self.paths(torch.arange(self.n_items, device=self.nodes.device))
        total = self.nodes.new_zeros(self.n_items, self.nodes.shape[1])
        for node, sign in zip(nodes.T, signs.T, strict=True):
            total += 0.5 * sign[:, None] * self.nodes[node]
        return total

    def scores(self, queries: Tensor) -> Tensor:
        """Return log p(y | u) for queries (B, K) and all items, (B, N), level by level from the root."""
        steps = widen(queries) @ self.nodes.T.to(widen(queries).dtype)  # (B, N − 1)
        levels = [steps.new_zeros(len(queries), 1)]
        place = torch.zeros_like(self.parent)  # where a node stands in its level
        for nodes in torch.split(self.order, self.level_sizes)[1:]:
            above = self.parent[nodes]
            levels.append(levels[-1][:, place[above]] + functional.logsigmoid(self.sign[nodes] * steps[:, above]))
            place[nodes] = torch.arange(len(nodes), device=nodes.device)
        leaves = self.order >= self.n_items - 1
        found = torch.cat(levels, 1)[:, leaves]
        return found[:, torch.argsort(self.order[leaves])]
