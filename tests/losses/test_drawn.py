"""Scores of drawn items by the kernels of sparse matrices are those of gathered vectors, and so are the gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

import taylorank as tr
from taylorank import losses
from taylorank.kernels import backend
from taylorank.losses import drawn
from taylorank.losses.batch import Negatives, Positives


@pytest.fixture(autouse=True, scope="module")
def however_few():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawn, "FEWEST_NUMBERS", 0)
        yield


needs_native = pytest.mark.skipif(backend.native is None, reason="no native kernels")


def gathered(query, table, columns):
    return (functional.embedding(columns, table) * query[:, None]).sum(-1)


def both_ways(query, table, columns, gradient):
    """(scores, gradient of the queries, gradient of the table), by the kernels and by gathering."""
    found = []
    for way in (
        lambda q, v: drawn.drawn_scores(q, lambda c: functional.embedding(c, v), columns),
        lambda q, v: gathered(q, v, columns),
    ):
        q, v = query.clone().requires_grad_(), table.clone().requires_grad_()
        scores = way(q, v)
        scores.backward(gradient)
        found.append((scores.detach(), q.grad, v.grad))
    return found


@needs_native
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 12), st.integers(1, 70), st.integers(1, 30)),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**31),
)
def test_kernels_do_what_gathering_does(shape, dtype, seed):
    count, draws, width, n_items = shape
    draw = torch.Generator().manual_seed(seed)
    query, table = (torch.randn(n, width, generator=draw, dtype=dtype) for n in (count, n_items))
    columns = torch.randint(0, n_items, (count, draws), generator=draw)
    gradient = torch.randn(count, draws, generator=draw, dtype=dtype)
    for ours, plain in zip(*both_ways(query, table, columns, gradient), strict=True):  # few items: always the kernels
        assert ours.dtype == dtype
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)


@needs_native
def test_few_draws_of_many_items_and_mixed_precision_are_gathered(monkeypatch):
    called = []
    plain = drawn.nonzero_scores
    monkeypatch.setattr(drawn, "nonzero_scores", lambda *a, **k: called.append(1) or plain(*a, **k))
    table = torch.randn(1000, 4)
    for columns, expected in (([[0, 2 * drawn.MOST_ITEMS - 1]], 1), ([[0, 2 * drawn.MOST_ITEMS]], 1)):
        scores = drawn.drawn_scores(torch.ones(1, 4), lambda c: table[c], torch.tensor(columns))
        torch.testing.assert_close(scores, table[torch.tensor(columns)].sum(-1))
        assert len(called) == expected
    with torch.autocast("cpu", dtype=torch.bfloat16):
        drawn.drawn_scores(torch.randn(5, 4), lambda c: table[c], torch.randint(0, 9, (5, 64)))
    assert len(called) == 1
    assert drawn.drawn_scores(torch.ones(3, 4), lambda c: table[c], torch.zeros(3, 0, dtype=torch.int64)).shape == (
        3,
        0,
    )


@needs_native
def test_few_numbers_are_gathered(monkeypatch):
    monkeypatch.setattr(drawn, "FEWEST_NUMBERS", 1 << 15)
    assert not drawn._are_many(torch.zeros(64, 2, dtype=torch.int64), 64)
    assert drawn._are_many(torch.zeros(64, 8, dtype=torch.int64), 64)


@needs_native
def test_second_derivatives_are_exact():
    draw = torch.Generator().manual_seed(0)
    query, table = (torch.randn(n, 3, generator=draw, dtype=torch.float64, requires_grad=True) for n in (4, 6))
    columns = torch.randint(0, 6, (4, 5), generator=draw)

    def scores(q, v):
        return drawn.drawn_scores(q, lambda c: functional.embedding(c, v), columns).tanh()

    assert torch.autograd.gradcheck(scores, (query, table))
    assert torch.autograd.gradgradcheck(scores, (query, table))
    hessian = torch.autograd.functional.hessian
    ours = hessian(lambda v: scores(query.detach(), v).square().sum(), table.detach())
    plain = hessian(lambda v: gathered(query.detach(), v, columns).tanh().square().sum(), table.detach())
    torch.testing.assert_close(ours, plain)


@needs_native
def test_what_the_kernels_cannot_take_is_gathered():
    """Numbers counted from the end, and items of half precision."""
    query, table = torch.randn(3, 4), torch.randn(8, 4)
    columns = torch.tensor([[0, -1], [2, 3], [1, 5]])
    torch.testing.assert_close(
        drawn.drawn_scores(query, lambda c: table[c], columns), gathered(query, table, columns % 8)
    )
    with pytest.raises(IndexError):
        drawn.drawn_scores(query, lambda c: functional.embedding(c, table), columns)
    half = table.bfloat16()
    found = drawn.drawn_scores(query, lambda c: half[c], columns.abs())
    torch.testing.assert_close(found, (half[columns.abs()] @ query.bfloat16()[:, :, None]).squeeze(-1))


@needs_native
def test_gradients_that_are_no_plain_arrays():
    """A sum's gradient is one number expanded over all; a frozen table has none."""
    query, table = torch.randn(6, 8, requires_grad=True), torch.randn(11, 8)
    columns = torch.randint(0, 11, (6, 5))
    drawn.drawn_scores(query, lambda c: table[c], columns).sum().backward()
    torch.testing.assert_close(query.grad, table[columns].sum(1))


@needs_native
@pytest.mark.parametrize("name", ["sampled-softmax", "nce", "bpr", "bce", "hinge", "uib", "hsm"])
def test_criteria_do_not_depend_on_the_kernels(name, monkeypatch):
    draw = torch.Generator().manual_seed(1)
    queries, table = (torch.randn(n, 16, generator=draw, dtype=torch.float64) for n in (30, 200))
    columns = torch.randint(0, 200, (30, 8), generator=draw)
    log_q = torch.full((30, 8), -5.3, dtype=torch.float64)
    negatives = Negatives(columns, log_q, log_q[:, 0], torch.rand(30, 8, generator=draw) < 0.1)
    positives = Positives(torch.arange(30), columns[:, 0], torch.rand(30, generator=draw, dtype=torch.float64))
    found = []
    for has in (drawn._has_kernels, lambda query: False):
        monkeypatch.setattr(drawn, "_has_kernels", has)
        criterion = losses.get(name).criterion(n_users=30, n_items=200, factors=16, popularity=torch.ones(200)).double()
        with torch.no_grad():
            for parameter in criterion.parameters():
                parameter.fill_(0.1)
        q, v = queries.clone().requires_grad_(), table.clone().requires_grad_()
        value = criterion(q, lambda c, v=v: functional.embedding(c, v), positives, negatives, users=torch.arange(30))
        value.backward()
        of_items = torch.zeros_like(v) if v.grad is None else v.grad
        found.append((value.detach(), q.grad, of_items, *(p.grad for p in criterion.parameters())))
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain)


@needs_native
def test_training_is_the_same_to_rounding(monkeypatch):
    data = tr.planted(80, 50, interactions=1500, seed=2)
    found = []
    for has in (drawn._has_kernels, lambda query: False):
        monkeypatch.setattr(drawn, "_has_kernels", has)
        model = tr.Neural("sampled-softmax", factors=8, negatives=16, epochs=3, device="cpu").fit(data)
        found.append(torch.as_tensor(model.item_factors_))
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-4)
