"""Two towers over ids and sparse features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.nn import functional

from taylorank.backbones import TwoTower, hash_columns
from taylorank.errors import ParameterError


def features(rows: int, columns: int, seed: int) -> sparse.csr_array:
    matrix = sparse.random_array((rows, columns), density=0.3, format="csr", rng=np.random.default_rng(seed))
    matrix.data[:] -= 0.5
    return matrix


def build(**options) -> TwoTower:
    given = {"user_features": features(5, 4, 0), "item_features": features(7, 11, 1), "hidden": (6, 3), **options}
    return TwoTower(n_users=5, n_items=7, factors=4, **given).double()


def dense_tower(tower, matrix: sparse.csr_array | None) -> torch.Tensor:
    states = tower.ids
    if matrix is not None:
        states = states + torch.tensor(matrix.toarray().astype(np.float32)).double() @ tower.features.table
    *inner, last = tower.layers
    for layer in inner:
        states = tower.activation(states @ layer.weight.T + layer.bias)
    return states @ last.weight.T + last.bias


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("hidden", [(), (6, 3)])
def test_values_and_gradients_are_those_of_dense_features(similarity, hidden) -> None:
    model = build(similarity=similarity, temperature=0.5, hidden=hidden)
    users, columns = torch.tensor([4, 0, 4]), torch.tensor([[6, 2], [2, 2], [0, 6]])

    def loss(queries: torch.Tensor, items: torch.Tensor, everything: torch.Tensor) -> torch.Tensor:
        return (queries[:, None] * items).sum(2).sin().sum() + (queries @ everything.T).square().sum()

    encoded = model.encode()
    got = loss(encoded.queries(users), encoded.items(columns), encoded.items())
    gradients = torch.autograd.grad(got, list(model.parameters()))
    queries, items = dense_tower(model.users, features(5, 4, 0)), dense_tower(model.items, features(7, 11, 1))
    if similarity == "cosine":
        queries, items = functional.normalize(queries, dim=1), functional.normalize(items, dim=1)
    wanted = loss(queries[users] / 0.5, items[columns], items)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(encoded.items(), items)
    for a, b in zip(gradients, torch.autograd.grad(wanted, list(model.parameters())), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("activation", "expected", "is_smooth"),
    [
        ("gelu", lambda s: s * 0.5 * (1 + torch.erf(s / 2**0.5)), True),
        ("softplus", lambda s: torch.log1p(s.exp()) - np.log(2), True),
        ("relu", lambda s: s.clamp_min(0), False),
    ],
)
def test_activations(activation, expected, is_smooth) -> None:
    """A smooth one has a second derivative where a state is no zero; that of relu is 0."""
    through = build(activation=activation).users.activation
    states = torch.linspace(-2, 2, 8, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(through(states), expected(states))
    (slope,) = torch.autograd.grad(through(states).sum(), states, create_graph=True)
    bends = torch.autograd.grad(slope.sum(), states, allow_unused=True)[0]
    assert (bends is not None and bool((bends.abs() > 1e-3).any())) == is_smooth
    assert build().users.activation is functional.gelu


def test_without_features_the_ids_count_alone() -> None:
    model = build(user_features=None, item_features=None)
    torch.testing.assert_close(model.encode().items(), dense_tower(model.items, None))
    assert model.encode().scores(torch.arange(5)).shape == (5, 7)


def test_rows_without_features() -> None:
    empty = sparse.csr_array((7, 11))
    model = build(item_features=empty)
    torch.testing.assert_close(model.encode().items(), dense_tower(model.items, empty))


def test_features_are_not_saved(tmp_path) -> None:
    assert not any("indptr" in name or "values" in name for name in build().state_dict())


def test_unit_ball() -> None:
    model = build(std=5.0)
    model.project_to_unit_ball()
    for tower in (model.users, model.items):
        assert tower.ids.norm(dim=1).max() < 1 + 1e-9
        assert tower.features.table.norm(dim=1).max() < 1 + 1e-9


def test_hashing_keeps_inner_products_on_average() -> None:
    matrix = features(6, 300, 2)
    wanted = (matrix @ matrix.T).toarray()
    hashed = [hash_columns(matrix, 64, random_state=seed) for seed in range(300)]
    assert hashed[0].shape == (6, 64)
    assert (hashed[0] != hash_columns(matrix, 64, random_state=0)).nnz == 0
    mean = np.mean([(h @ h.T).toarray() for h in hashed], axis=0)
    np.testing.assert_allclose(mean, wanted, atol=0.25)
    deviation = np.std([(h @ h.T).toarray() for h in hashed], axis=0)
    assert 0.01 < deviation.max() < 3


def test_refusals() -> None:
    for options, words in (
        ({"user_features": features(4, 4, 0)}, "user_features is 4 × 4; give 5 rows"),
        ({"item_features": np.ones((7, 2))}, "not a sparse matrix"),
        ({"item_features": sparse.csr_array(np.full((7, 2), np.nan))}, "not finite"),
        ({"hidden": (0,)}, "hidden"),
        ({"activation": "tanh"}, "no activation is called 'tanh'; choose from gelu, softplus, relu"),
        ({"similarity": "angle"}, "choose dot or cosine"),
        ({"temperature": 0.0}, "temperature"),
    ):
        with pytest.raises(ParameterError, match=words):
            build(**options)
    with pytest.raises(ParameterError, match="buckets"):
        hash_columns(features(3, 3, 0), 0)
