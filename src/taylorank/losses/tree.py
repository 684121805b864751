"""A binary tree over items, as arrays: who is whose parent, and on which side.

Inner nodes are 0 (the root) to N − 2, the leaf of item y is N − 1 + y. Of two children one has sign +1 and one −1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Tree:
    """2N − 1 nodes."""

    parent: NDArray[np.int64]  # (2N − 1,); the root is its own
    sign: NDArray[np.int8]  # (2N − 1,); 0 for the root
    depth: NDArray[np.int64]  # (2N − 1,)

    @property
    def n_items(self) -> int:
        """N."""
        return (len(self.parent) + 1) // 2


def balanced_tree(n_items: int) -> Tree:
    """Return the tree whose leaves differ in depth by at most 1.

    >>> balanced_tree(4).depth.tolist()
    [0, 1, 1, 2, 2, 2, 2]
    """
    nodes = np.arange(2 * _at_least_two(n_items) - 1)
    parent = np.maximum(nodes - 1, 0) // 2
    sign = np.where(nodes % 2 == 1, 1, -1).astype(np.int8)
    sign[0] = 0
    return Tree(parent, sign, np.floor(np.log2(nodes + 1)).astype(np.int64))


def huffman_tree(popularity: NDArray[np.floating]) -> Tree:
    """Return the tree with the least Σ_y popularity_y · depth_y; an item without interactions counts 1.

    >>> huffman_tree(np.array([8.0, 1.0, 1.0, 1.0])).depth[3:].tolist()
    [1, 3, 3, 2]
    """
    n = _at_least_two(len(popularity))
    left, right = _merges(np.maximum(np.asarray(popularity, dtype=np.float64), 1.0))
    # merge t made temporary node n + t; the last is the root 0, so merge t becomes inner node n − 2 − t
    name = np.concatenate((n - 1 + np.arange(n), n - 2 - np.arange(n - 1)))
    inner = n - 2 - np.arange(n - 1)
    parent = np.zeros(2 * n - 1, dtype=np.int64)
    sign = np.zeros(2 * n - 1, dtype=np.int8)
    parent[name[left]], sign[name[left]] = inner, 1
    parent[name[right]], sign[name[right]] = inner, -1
    return Tree(parent, sign, _depths(parent))


def build_tree(kind: str, popularity: NDArray[np.floating] | None, n_items: int) -> Tree:
    """Return the tree called `kind`."""
    if kind == "balanced":
        return balanced_tree(n_items)
    if kind != "huffman":
        raise ParameterError(f"tree={kind!r} is unknown", "choose from huffman, balanced")
    if popularity is None:
        raise ParameterError("a Huffman tree needs the popularity of the items", "give it, or use tree='balanced'")
    return huffman_tree(popularity)


def _merges(counts: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two nodes that each of N − 1 merges joins. Merged counts come in ascending order, so two queues do."""
    n = len(counts)
    order = np.argsort(counts, kind="stable")
    leaf_weights, leaf_names = [*counts[order].tolist(), np.inf, np.inf], order.tolist()
    merged = [np.inf] * (n + 1)
    pairs = np.empty((2, n - 1), dtype=np.int64)
    leaf = node = 0
    for t in range(n - 1):
        weight = 0.0
        for side in (0, 1):
            if leaf_weights[leaf] <= merged[node]:
                weight += leaf_weights[leaf]
                pairs[side, t] = leaf_names[leaf]
                leaf += 1
            else:
                weight += merged[node]
                pairs[side, t] = n + node
                node += 1
        merged[t] = weight
    return pairs[0], pairs[1]


def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return depths by doubling: after i rounds every node knows its ancestor 2^i above."""
    ancestor, depth = parent.copy(), (np.arange(len(parent)) > 0).astype(np.int64)
    while ancestor.any():
        depth += depth[ancestor]
        ancestor = ancestor[ancestor]
    return depth


def _at_least_two(n_items: int) -> int:
    return check_whole(n_items, "n_items", least=2, remedy="a tree needs two items or more")
