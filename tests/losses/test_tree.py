"""Trees over items, and the probabilities they make."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from taylorank import losses
from taylorank.errors import ParameterError
from taylorank.losses.hierarchical import TreeCriterion
from taylorank.losses.tree import balanced_tree, build_tree, huffman_tree


def check_tree(tree, n):
    """Every inner node has two children, of opposite sign, one level below."""
    children = np.arange(1, 2 * n - 1)
    assert np.bincount(tree.parent[children], minlength=2 * n - 1).tolist() == [2] * (n - 1) + [0] * n
    assert np.bincount(tree.parent[children], weights=tree.sign[children], minlength=n - 1).tolist()[: n - 1] == [0] * (
        n - 1
    )
    assert (tree.depth[children] == tree.depth[tree.parent[children]] + 1).all()
    assert tree.depth[0] == 0


def shortest(counts) -> float:
    """The least Σ count · depth, by a heap: each merge costs what it merges."""
    heap, total = list(counts), 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=60))
def test_huffman_trees_are_shortest(counts):
    tree = huffman_tree(np.array(counts, dtype=float))
    check_tree(tree, len(counts))
    met = np.maximum(counts, 1)
    assert met @ tree.depth[len(counts) - 1 :] == pytest.approx(shortest(met.tolist()))


@given(st.integers(2, 200))
def test_balanced_trees_are_level(n):
    tree = balanced_tree(n)
    check_tree(tree, n)
    leaves = tree.depth[n - 1 :]
    assert leaves.max() - leaves.min() <= 1
    assert leaves.max() == int(np.ceil(np.log2(n)))


@pytest.mark.parametrize("tree", ["huffman", "balanced"])
@pytest.mark.parametrize("n_items", [2, 3, 37])
def test_probabilities_sum_to_one_and_are_the_loss(tree, n_items):
    popularity = torch.arange(n_items) ** 2.0
    module = (
        losses.get("hsm").criterion(n_users=3, n_items=n_items, factors=4, popularity=popularity, tree=tree).double()
    )
    draw = torch.Generator().manual_seed(0)
    module.nodes.data.normal_(generator=draw)
    queries = torch.randn(3, 4, generator=draw, dtype=torch.float64)
    scores = module.scores(queries)
    torch.testing.assert_close(scores.exp().sum(1), torch.ones(3, dtype=torch.float64))
    for row in range(3):
        for item in range(n_items):
            one = losses.Positives(torch.tensor([row]), torch.tensor([item]), torch.ones(1))
            assert module(queries, None, one).item() == pytest.approx(-scores[row, item].item())


def test_many_positives_or_few_give_the_same_gradients():
    """Few positives gather their paths, many share one product with all nodes."""
    draw = torch.Generator().manual_seed(0)
    module = TreeCriterion(balanced_tree(40), 4).double()
    module.nodes.data.normal_(generator=draw)
    queries = torch.randn(3, 4, generator=draw, dtype=torch.float64, requires_grad=True)
    rows, columns = torch.arange(3).repeat_interleave(8), torch.randint(0, 40, (24,), generator=draw)
    weights = torch.rand(24, generator=draw)

    def gradient(some):
        value = module(queries, None, losses.Positives(rows[some], columns[some], weights[some]))
        return torch.stack([value.detach(), *(g.sum() for g in torch.autograd.grad(value, (queries, module.nodes)))])

    one_by_one = sum(gradient(slice(i, i + 1)) for i in range(24))
    torch.testing.assert_close(gradient(slice(None)), one_by_one)
    assert module.paths(columns[:1])[0].numel() * 4 < 3 * 39  # few
    assert module.paths(columns)[0].numel() * 4 >= 3 * 39  # many


def test_a_tree_has_no_vectors_to_export():
    with pytest.raises(ParameterError, match=r"use criterion\.scores"):
        TreeCriterion(balanced_tree(4), 2).export(torch.zeros(1, 2), torch.zeros(4, 2))


def test_trees_that_cannot_be():
    with pytest.raises(ParameterError, match="two items or more"):
        balanced_tree(1)
    with pytest.raises(ParameterError, match="tree='oak' is unknown; choose from huffman, balanced"):
        build_tree("oak", None, 4)
    with pytest.raises(ParameterError, match="needs the popularity"):
        build_tree("huffman", None, 4)
