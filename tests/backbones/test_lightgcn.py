"""LightGCN is the dense formula, forwards and backwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from taylorank.backbones import LightGCN
from taylorank.backbones.graph import Graph
from taylorank.data import CSR
from taylorank.errors import ParameterError
from taylorank.kernels.cuda import gather_sum


def adjacency(data) -> torch.Tensor:
    """D^(−½) [[0, R], [Rᵀ, 0]] D^(−½), dense."""
    R = torch.tensor(data.matrix.toarray() > 0, dtype=torch.float64)
    m, n = R.shape
    A = torch.zeros(m + n, m + n, dtype=torch.float64)
    A[:m, m:], A[m:, :m] = R, R.T
    degrees = A.sum(1)
    scale = torch.where(degrees > 0, degrees.rsqrt(), 0)
    return scale[:, None] * A * scale


def dense_vectors(data, embeddings: torch.Tensor, layers: int) -> torch.Tensor:
    A = adjacency(data)
    powers = [torch.linalg.matrix_power(A, layer) @ embeddings for layer in range(layers + 1)]
    return sum(powers) / (layers + 1)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_propagation_and_gradient_are_the_dense_ones(data, layers) -> None:
    model = LightGCN.build(data, factors=5, layers=layers).double()
    users, columns = torch.tensor([0, 4, 4, 11]), torch.tensor([[3, 7], [3, 3]])
    encoded = model.encode()
    loss = (encoded.queries(users).sin().sum() + encoded.items(columns).cos().sum()) * encoded.items().square().sum()
    loss.backward()
    leaf = model.embeddings.detach().clone().requires_grad_()
    dense = dense_vectors(data, leaf, layers)
    items = dense[data.n_users :]
    wanted = (dense[users].sin().sum() + items[columns].cos().sum()) * items.square().sum()
    wanted.backward()
    torch.testing.assert_close(encoded.items(), items, rtol=1e-6, atol=1e-8)  # the graph's values are float32
    torch.testing.assert_close(model.embeddings.grad, leaf.grad, rtol=1e-5, atol=1e-8)


def test_gradcheck_twice(data) -> None:
    """A linear map that is its own adjoint; second derivatives work too."""
    graph = Graph(data.by_user).double()
    vectors = torch.randn(data.n_users + data.n_items, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: graph.propagate(x, 2), vectors)
    assert torch.autograd.gradgradcheck(lambda x: graph.propagate(x, 2).square(), vectors)


def test_both_products_agree(data) -> None:
    graph = Graph(data.by_user)
    vectors = torch.randn(data.n_users + data.n_items, 7)
    wanted = adjacency(data).float() @ vectors
    torch.testing.assert_close(graph.product(vectors), wanted)
    torch.testing.assert_close(gather_sum(graph.rows, vectors, weights=graph.values), wanted)  # a GPU's


def test_strengths_do_not_matter(data) -> None:
    weighted = CSR(data.by_user.indptr, data.by_user.indices, np.full(data.nnz, 7, dtype=np.float32), data.n_items)
    assert torch.equal(Graph(weighted).values, Graph(data.by_user).values)


def test_warm_start_sets_layer_0(data) -> None:
    users, items = torch.randn(12, 3, dtype=torch.float64), torch.randn(9, 3, dtype=torch.float64)
    model = LightGCN.build(data, factors=3, layers=2).double()
    model.warm_start(users.numpy(), items)
    wanted = dense_vectors(data, torch.cat([users, items]), 2)
    torch.testing.assert_close(
        model.encode().scores(torch.arange(12)), wanted[:12] @ wanted[12:].T, rtol=1e-5, atol=1e-6
    )
    flat = LightGCN.build(data, factors=3, layers=0)
    flat.warm_start(users, items)
    torch.testing.assert_close(flat.encode().scores(torch.arange(12)), (users @ items.T).float(), rtol=1e-4, atol=1e-5)


def test_the_graph_is_not_saved_but_moves_along(data) -> None:
    model = LightGCN.build(data, factors=3)
    assert list(model.state_dict()) == ["embeddings"]
    assert model.to("meta").graph.indices.is_meta


def test_refusals(data) -> None:
    with pytest.raises(ParameterError, match="layers"):
        LightGCN.build(data, factors=3, layers=-1)
    with pytest.raises(ParameterError, match="the graph is 12 × 9 and the model 12 × 8"):
        LightGCN(n_users=12, n_items=8, factors=3, graph=data.by_user)
