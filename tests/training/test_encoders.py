"""Jacobian products of encoders, in one piece or in batches, are those of the dense Jacobian."""

from __future__ import annotations

import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import taylorank as tr  # noqa: E402
from taylorank.backbones import MF, LightGCN, TwoTower  # noqa: E402
from taylorank.errors import ParameterError, TrainingWarning  # noqa: E402
from taylorank.training.encoders import Encoders, Tables  # noqa: E402

M, N, K = 6, 5, 2


def mlp(rows, *extra):
    return nn.Sequential(nn.Embedding(rows, 3), nn.Linear(3, 4), nn.Tanh(), *extra, nn.Linear(4, K)).double()


def backbone(name):
    data = tr.planted(M, N, interactions=12)
    features = sparse.random_array((N, 4), density=0.5, format="csr", rng=0)
    sizes = {"n_users": M, "n_items": N, "factors": K}
    return {
        "mf": lambda: MF(**sizes, item_bias=True, user_bias=True),
        "cosine": lambda: MF(**sizes, similarity="cosine", temperature=0.5),
        "two-tower": lambda: TwoTower(**sizes, hidden=(4,), std=1.0),
        "features": lambda: TwoTower(**sizes, hidden=(), item_features=features, std=1.0),
        "lightgcn": lambda: LightGCN.build(data, factors=K),
    }[name]().double()


def encoders(name, row_batch=None):
    torch.manual_seed(0)
    if name == "modules":
        return Encoders(mlp(M), mlp(N), n_users=M, n_items=N, row_batch=row_batch)
    if name == "one for both":
        shared = mlp(max(M, N))
        return Encoders(shared, shared, n_users=M, n_items=N, row_batch=row_batch)
    return Encoders.of_backbone(backbone(name), row_batch=row_batch)


NAMES = ["modules", "one for both", "mf", "cosine", "two-tower", "features", "lightgcn"]


def flat(pair):
    return torch.cat([part.flatten() for part in pair])


def random(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("row_batch", [None, 4, 1])
@pytest.mark.parametrize("name", NAMES)
def test_products_are_those_of_the_dense_jacobian(name, row_batch):
    whole, batched = encoders(name), encoders(name, row_batch)
    theta = whole.start()
    J = torch.autograd.functional.jacobian(lambda t: flat(_vectors(whole, t)), theta)
    d = random(len(theta), 1)
    P, Q = batched.vectors(theta)
    torch.testing.assert_close(flat(batched.push(theta, d)), J @ d)
    g = (random(P.shape, 2), random(Q.shape, 3))
    torch.testing.assert_close(batched.pull(theta, g), J.T @ flat(g))


@pytest.mark.parametrize("name", NAMES)
def test_curvature_of_the_encoders_is_their_second_derivative(name):
    whole, batched = encoders(name), encoders(name, 4)
    theta = whole.start()
    P, Q = whole.vectors(theta)
    g, h = (random(P.shape, 2), random(Q.shape, 3)), (random(P.shape, 4), random(Q.shape, 5))
    d, e = random(len(theta), 1), 1e-5
    second = (whole.pull(theta + e * d, g) - whole.pull(theta - e * d, g)) / (2 * e)
    found = batched.pull_with_curvature(theta, h, direction=d, gradients=g)
    torch.testing.assert_close(found, batched.pull(theta, h) + second, rtol=1e-5, atol=1e-6)


def _vectors(encoders, theta):
    """The vectors with a graph, which `vectors` leaves out."""
    return encoders._per_side(lambda encode, side, rows: encode(encoders._split(theta)))


def test_tables_are_encoders_without_work():
    model = MF(n_users=M, n_items=N, factors=K).double()
    tables, general = Tables(*model.tables), Encoders.of_backbone(model)
    theta = tables.start()
    torch.testing.assert_close(theta, general.start())
    d, g = random(len(theta), 1), (random((M, K), 2), random((N, K), 3))
    torch.testing.assert_close(tables.vectors(theta), general.vectors(theta))
    torch.testing.assert_close(tables.push(theta, d), general.push(theta, d))
    torch.testing.assert_close(tables.pull(theta, g), general.pull(theta, g))
    tables.write(d)
    torch.testing.assert_close(general.start(), d)


def test_only_plain_factors_are_tables():
    sizes = {"n_users": M, "n_items": N, "factors": K}
    assert MF(**sizes, item_bias=True).tables is None
    assert MF(**sizes, similarity="cosine").tables is None
    assert MF(**sizes, temperature=2.0).tables is None
    assert TwoTower(**sizes).tables is None


def test_what_is_written_is_what_is_read():
    found = encoders("two-tower")
    theta = random(len(found.start()), 7)
    found.write(theta)
    torch.testing.assert_close(found.start(), theta)


def test_dropout_is_switched_off_and_said_so():
    with pytest.warns(TrainingWarning, match=r"Dropout \(0.3\) is switched off"):
        found = Encoders(mlp(M, nn.Dropout(0.5)), mlp(N), n_users=M, n_items=N)
    theta = found.start()
    torch.testing.assert_close(found.vectors(theta), found.vectors(theta))


def test_batch_norm_is_refused_until_it_is_frozen():
    towers = mlp(M, nn.BatchNorm1d(4)), mlp(N)
    with pytest.raises(ParameterError, match=r"BatchNorm1d .* depend on the rows beside it.*LayerNorm"):
        Encoders(*towers, n_users=M, n_items=N)
    towers[0].eval()
    whole, batched = (Encoders(*towers, n_users=M, n_items=N, row_batch=size) for size in (None, 2))
    torch.testing.assert_close(whole.vectors(whole.start()), batched.vectors(batched.start()))


def test_memory_that_runs_out_halves_the_rows(monkeypatch):
    found = encoders("modules", 6)
    expected = found.vectors(found.start())
    tower, most = found.module[0], 2
    forward = tower.forward

    def small(rows):
        if len(rows) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(rows)

    monkeypatch.setattr(tower, "forward", small)
    with pytest.warns(TrainingWarning, match="ran out of memory") as caught:
        again = found.vectors(found.start())
    assert [str(one.message)[-21:] for one in caught] == ["with 3 rows at a time", "with 1 rows at a time"]
    assert found.row_batch == 1
    torch.testing.assert_close(again, expected)


def test_memory_for_no_row_is_an_error(monkeypatch):
    found = encoders("modules", 1)

    def none(rows):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(found.module[0], "forward", none)
    with pytest.raises(ParameterError, match="one row of the encoders does not fit"):
        found.vectors(found.start())


def test_what_is_random_without_a_module_is_refused():
    class Noisy(nn.Embedding):
        def forward(self, rows):
            return nn.functional.dropout(super().forward(rows), 0.5)

    with pytest.raises(ParameterError, match="the encoder of the items gives other vectors at each call"):
        Encoders(nn.Embedding(4, 3), Noisy(5, 3), n_users=4, n_items=5)


def test_frozen_parameters_stay():
    users, items = nn.Embedding(4, 3), nn.Embedding(5, 3).requires_grad_(False)
    encoders = Encoders(users, items, n_users=4, n_items=5)
    theta = encoders.start()
    assert theta.shape == (12,)
    P, Q = encoders.vectors(2 * theta)
    torch.testing.assert_close(P, 2 * users.weight.detach())
    torch.testing.assert_close(Q, items.weight)
    pulled = encoders.pull(theta, (torch.ones(4, 3), torch.ones(5, 3)))
    torch.testing.assert_close(pulled, torch.ones(12))
    assert not encoders.push(theta, theta)[1].any()
    zeros = encoders.pull_with_curvature(theta, (P, Q), direction=theta, gradients=(P, Q))
    torch.testing.assert_close(zeros, P.flatten())


def test_modules_without_parameters_are_refused():
    with pytest.raises(ParameterError, match="no parameters"):
        Encoders(nn.Identity(), nn.Identity(), n_users=M, n_items=N)
