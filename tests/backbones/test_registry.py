"""What holds for every backbone."""

from __future__ import annotations

import inspect

import pytest
import torch

from taylorank import backbones
from taylorank.errors import ParameterError

OPTIONS = {"sasrec": {"length": 6, "dropout": 0.3}}


def make(name: str, data, seed: int | None = None) -> backbones.Backbone:
    generator = {} if seed is None else {"generator": torch.Generator().manual_seed(seed)}
    return backbones.get(name).build(data, factors=4, **OPTIONS.get(name, {}), **generator)


def contexts(model: backbones.Backbone, data) -> torch.Tensor:
    return torch.arange(12) if model.takes == "users" else torch.from_numpy(backbones.sequences(data, 6))


@pytest.mark.parametrize("name", backbones.names())
def test_one_interface(name, data) -> None:
    model = make(name, data)
    encoded = model.encode()
    queries = encoded.queries(contexts(model, data))
    assert queries.shape == ((12, model.width) if model.takes == "users" else (12, 6, model.width))
    items = encoded.items()
    assert items.shape == (9, model.width)
    columns = torch.tensor([[0, 8], [3, 3], [1, 0]])
    torch.testing.assert_close(encoded.items(columns), items[columns])
    assert encoded.scores(contexts(model, data)).shape == (*queries.shape[:-1], 9)
    (queries.sum() + encoded.items(columns).square().sum()).backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", backbones.names())
def test_a_seed_gives_the_same_model(name, data) -> None:
    before = torch.get_rng_state()
    first, again, other, default = (make(name, data, seed) for seed in (3, 3, 4, None))
    assert torch.equal(torch.get_rng_state(), before)  # nothing is drawn from the global generator
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(default.parameters(), make(name, data, 0).parameters(), strict=True))


@pytest.mark.parametrize("name", backbones.names())
def test_saved_and_loaded(name, data) -> None:
    first, other = make(name, data, 1).eval(), make(name, data, 2).eval()
    other.load_state_dict(first.state_dict())
    seen = contexts(first, data)
    assert torch.equal(first.encode().scores(seen), other.encode().scores(seen))


def test_dropout_follows_the_global_seed(data) -> None:
    model = make("sasrec", data, 1)
    results = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        results.append(model.encode().queries(contexts(model, data)))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


@pytest.mark.parametrize("name", backbones.names())
@pytest.mark.parametrize("option", ["n_users", "n_items", "factors"])
def test_counts_are_checked(name, option, data) -> None:
    counts = {"n_users": 12, "n_items": 9, "factors": 4, option: 0}
    more = {"graph": data.by_user} if name == "lightgcn" else {}
    with pytest.raises(ParameterError, match=option):
        backbones.get(name)(**counts, **more)


def test_unknown_names() -> None:
    with pytest.raises(ParameterError, match="no backbone is called 'gru'; choose from mf, lightgcn"):
        backbones.get("gru")


@pytest.mark.parametrize("name", backbones.names())
def test_the_registry_says_what_the_backbone_does(name, data) -> None:
    registered, model = backbones.get(name), make(name, data)
    assert type(model) is registered.cls
    assert model.takes == registered.takes
    given = {"n_users", "n_items", "factors", "graph", "similarity", "temperature", "sparse", "generator"}
    signature = inspect.signature(registered.cls).parameters
    assert {k: p.default for k, p in signature.items() if k not in given} == registered.options
    assert ("sparse" in signature) == registered.has_sparse_gradients
    if registered.begins_at_factors:
        model.warm_start(torch.ones(12, 4), torch.ones(9, 4))
        assert model.encode().items().shape == (9, 4)
    else:
        with pytest.raises(ParameterError, match="cannot begin at given factors; use mf or lightgcn"):
            model.warm_start(torch.ones(12, 4), torch.ones(9, 4))
