"""SASRec looks at the past alone, never at padding, and sequences stand in the order of time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from taylorank.backbones import SASRec, sequences
from taylorank.data import Interactions
from taylorank.errors import DataError, ParameterError

N = 9


@pytest.fixture
def model() -> SASRec:
    return SASRec(n_users=12, n_items=N, factors=6, length=8, heads=2, blocks=2, std=0.5).double().eval()


def states(model: SASRec, *rows: list[int]) -> torch.Tensor:
    return model.encode().queries(torch.tensor(rows))


def slow_states(model: SASRec, row: list[int]) -> torch.Tensor:
    """The same transformer over one sequence without padding: a loop over heads and positions."""
    width = model.factors // model.blocks[0].heads
    X = model.item_factors[row] * math.sqrt(model.factors) + model.positions[-len(row) :]
    for block in model.blocks:
        q, k, v = block.project(block.before_attention(X)).chunk(3, dim=1)
        mixed = torch.zeros_like(X)
        for start in range(0, model.factors, width):
            part = slice(start, start + width)
            for end in range(1, len(row) + 1):
                weights = torch.softmax(k[:end, part] @ q[end - 1, part] / math.sqrt(width), dim=0)
                mixed[end - 1, part] = weights @ v[:end, part]
        X = X + block.merge(mixed)
        X = X + block.narrow(functional.gelu(block.widen(block.before_hidden(X))))
    return model.final(X)


def test_slow_twin(model) -> None:
    with torch.no_grad():
        torch.testing.assert_close(states(model, [N, N, 4, 1, 1, 7])[0, 2:], slow_states(model, [4, 1, 1, 7]))


def test_later_items_do_not_change_earlier_states(model) -> None:
    first, second = states(model, [N, 3, 1, 4, 1, 5], [N, 3, 1, 4, 6, 2])
    torch.testing.assert_close(first[:4], second[:4])
    assert (first[4:] - second[4:]).abs().min(dim=1).values.gt(1e-6).all()


def test_earlier_items_matter(model) -> None:
    first, second = states(model, [3, 1, 4], [2, 1, 4])
    assert (first[-1] - second[-1]).abs().max() > 1e-3


@pytest.mark.parametrize("padding", [1, 3, 5])
def test_more_padding_changes_nothing(model, padding) -> None:
    short = states(model, [3, 1, 4])
    padded = states(model, [N] * padding + [3, 1, 4])
    torch.testing.assert_close(padded[:, padding:], short)
    assert torch.equal(padded[:, :padding], torch.zeros_like(padded[:, :padding]))


def test_neighbours_in_the_batch_do_not_matter(model) -> None:
    together = states(model, [N, 3, 1, 4], [N, N, N, N], [5, 6, 7, 8])
    torch.testing.assert_close(together[0], states(model, [N, 3, 1, 4])[0])


def test_empty_sequences_are_zero_in_training_too(model) -> None:
    model.train()
    encoded = model.encode()
    result = encoded.queries(torch.tensor([[N, N, N], [N, N, 2]]))
    assert torch.equal(result[0], torch.zeros_like(result[0]))
    (result @ encoded.items().T).square().sum().backward()
    for parameter in model.parameters():
        assert torch.isfinite(parameter.grad).all()
    assert torch.equal(model.item_factors.grad[N], torch.zeros(6, dtype=torch.float64))


def test_item_vectors_are_the_input_embeddings(model) -> None:
    items = model.encode().items()
    assert items.shape == (N, 6)
    torch.testing.assert_close(items, model.item_factors[:N])
    torch.testing.assert_close(model.encode().items(torch.tensor([[3, 8]]))[0], items[[3, 8]])


def test_new_sequences_are_folded_in(model) -> None:
    """A user who was not there in training: only the sequence counts."""
    scores = model.encode().queries(torch.tensor([[2, 2, 5]]))[:, -1] @ model.encode().items().T
    assert scores.shape == (1, N)
    torch.testing.assert_close(scores, slow_states(model, [2, 2, 5])[-1:] @ model.item_factors[:N].T)


def test_initial_values_are_truncated() -> None:
    model = SASRec(n_users=1, n_items=3000, factors=8, std=0.02, length=5)
    assert model.item_factors.abs().max() <= 0.04
    assert 0.015 < model.item_factors.std() < 0.02  # a normal cut off at 2 deviations has 0.88 of its deviation


def test_it_learns_a_cycle() -> None:
    """Next item = (item + 1) mod 7, from any prefix."""
    torch.manual_seed(0)
    model = SASRec(n_users=1, n_items=7, factors=8, length=6, blocks=1, dropout=0.0, std=0.1)
    rows = (torch.arange(7)[:, None] + torch.arange(7)) % 7  # (7, 7): inputs and their next items
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        encoded = model.encode()
        scores = encoded.queries(rows[:, :-1]) @ encoded.items().T
        loss = functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    best = (model.eval().encode().queries(torch.tensor([[7, 7, 2, 3]]))[:, -1] @ model.encode().items().T).argmax()
    assert best == 4


def test_sequences_are_in_the_order_of_time(data) -> None:
    for length in (1, 3, 20):
        result = sequences(data, length)
        assert result.shape == (12, length)
        assert result.dtype == np.int64
        for user in range(12):
            start, stop = data.by_user.indptr[user : user + 2]
            pairs = sorted(zip(data.timestamps[start:stop], data.by_user.indices[start:stop], strict=True))
            items = [item for _, item in pairs][-length:]
            assert result[user].tolist() == [9] * (length - len(items)) + items


def test_items_of_one_moment_stand_by_number() -> None:
    when = np.array(["2020-01-02", "2020-01-01", "2020-01-01"], dtype="datetime64[us]")
    log = Interactions.from_arrays([1, 1, 1], [10, 30, 20], timestamps=when)
    assert sequences(log, 4).tolist() == [[3, 1, 2, 0]]


def test_refusals(data, model) -> None:
    timeless = Interactions.from_matrix(data.matrix)
    with pytest.raises(DataError, match="timestamps"):
        sequences(timeless, 3)
    with pytest.raises(DataError, match="timestamps"):
        SASRec.build(timeless, factors=4)
    for options, words in (
        ({"heads": 3}, "3 heads do not divide 4 factors"),
        ({"dropout": 1.0}, "dropout"),
        ({"length": 0}, "length"),
        ({"blocks": 0}, "blocks"),
        ({"std": -1}, "std"),
    ):
        with pytest.raises(ParameterError, match=words):
            SASRec.build(data, factors=4, **options)
    with pytest.raises(ParameterError, match="sequences are 1 × 9 and the model reads B × 1 to 8"):
        states(model, [0] * 9)
    with pytest.raises(ParameterError, match="cannot begin at given factors"):
        model.warm_start(torch.zeros(12, 6), torch.zeros(N, 6))
