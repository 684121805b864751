"""MF scores what its formula says."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from taylorank.backbones import MF
from taylorank.errors import ParameterError


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("temperature", [1.0, 0.2])
@pytest.mark.parametrize("item_bias", [False, True])
@pytest.mark.parametrize("user_bias", [False, True])
def test_formula(similarity, temperature, item_bias, user_bias) -> None:
    options = {"similarity": similarity, "temperature": temperature, "item_bias": item_bias, "user_bias": user_bias}
    model = MF(n_users=4, n_items=6, factors=3, **options).double()
    wanted = torch.zeros(4, 6, dtype=torch.float64)
    with torch.no_grad():
        for bias, shape in ((model.item_bias, (1, 6)), (model.user_bias, (4, 1))):
            if bias is not None:
                wanted += bias.normal_().view(shape)
    for x, p in enumerate(model.user_factors):
        for y, q in enumerate(model.item_factors):
            product = p @ q if similarity == "dot" else functional.cosine_similarity(p, q, dim=0)
            wanted[x, y] += product.item() / temperature
    encoded = model.encode()
    torch.testing.assert_close(encoded.scores(torch.arange(4)), wanted)
    assert encoded.queries(torch.tensor([1])).shape == (1, model.width)
    assert encoded.items(torch.tensor([[1, 2, 3], [0, 0, 5]])).shape == (2, 3, model.width)
    torch.testing.assert_close(encoded.items(torch.tensor([[5]]))[0, 0], encoded.items()[5])


def test_initial_values() -> None:
    model = MF(n_users=2000, n_items=1000, factors=8, std=0.3, generator=torch.Generator().manual_seed(1))
    for table in (model.user_factors, model.item_factors):
        assert abs(table.mean().item()) < 0.02
        assert abs(table.std().item() - 0.3) < 0.02


@pytest.mark.parametrize("options", [{}, {"similarity": "cosine", "item_bias": True, "user_bias": True}])
def test_sparse_gradients_are_the_dense_ones(options) -> None:
    users, columns = torch.tensor([0, 2, 2]), torch.tensor([1, 5, 1])
    gradients = []
    for sparse in (False, True):
        model = MF(n_users=4, n_items=6, factors=3, sparse=sparse, **options)
        encoded = model.encode()
        (encoded.queries(users) * encoded.items(columns)).sum().exp().backward()
        assert all(p.grad.is_sparse == sparse for p in model.parameters())
        gradients.append([p.grad.to_dense() for p in model.parameters()])
    for dense, other in zip(*gradients, strict=True):
        torch.testing.assert_close(dense, other)


@pytest.mark.parametrize("options", [{}, {"temperature": 0.1}, {"item_bias": True, "user_bias": True}])
def test_warm_start_gives_the_scores_of_the_factors(options) -> None:
    users, items = torch.randn(4, 3), torch.randn(6, 3)
    model = MF(n_users=4, n_items=6, factors=3, **options)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(3)
    frozen = users.numpy()
    frozen.flags.writeable = False
    model.warm_start(frozen, items)
    torch.testing.assert_close(model.encode().scores(torch.arange(4)), users @ items.T)


def test_warm_start_refuses_other_shapes() -> None:
    model = MF(n_users=4, n_items=6, factors=3)
    before = model.user_factors.clone()
    with pytest.raises(ParameterError, match="item_factors are 6 × 2 and the embeddings 6 × 3"):
        model.warm_start(torch.zeros(4, 3), torch.zeros(6, 2))
    with pytest.raises(ParameterError, match="not finite"):
        model.warm_start(torch.zeros(4, 3), torch.full((6, 3), torch.nan))
    assert torch.equal(model.user_factors, before)


def test_unit_ball() -> None:
    model = MF(n_users=50, n_items=60, factors=3, std=1.0)
    before = model.item_factors.detach().clone()
    model.project_to_unit_ball()
    lengths = before.norm(dim=1)
    assert (lengths < 1).any()
    assert (lengths > 1).any()
    torch.testing.assert_close(model.item_factors[lengths < 1], before[lengths < 1])
    torch.testing.assert_close(model.item_factors[lengths > 1], functional.normalize(before[lengths > 1]))
    assert model.user_factors.norm(dim=1).max() < 1 + 1e-6


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_many_lookups_are_those_of_few(similarity):
    model = MF(n_users=4, n_items=5, factors=3, similarity=similarity, temperature=0.5, item_bias=True)
    columns = torch.arange(30).reshape(2, 15) % 5
    weights = torch.randn(2, 15, 4, generator=torch.Generator().manual_seed(0))
    gradients = []
    for parts in ([columns], columns.reshape(-1, 3).split(1)):  # more than there are items; fewer
        found = torch.cat([model.encode().items(part).reshape(-1, 4) for part in parts])
        penalty = torch.cat([model.squared_norms(None, part).flatten() for part in parts])
        ((found * weights.reshape(-1, 4)).sum() + penalty.square().sum()).backward()
        gradients.append([p.grad.clone() for p in (model.item_factors, model.item_bias)])
        model.zero_grad()
    torch.testing.assert_close(gradients[0], gradients[1])
