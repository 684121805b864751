"""Batches hold every pair once per pass, with the weights that the objective asks for."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from taylorank.data import Interactions, planted  # noqa: E402
from taylorank.training.feeds import PairFeed, SequenceFeed, UserFeed, pair_weights  # noqa: E402


@pytest.fixture
def data() -> Interactions:
    return planted(60, 25, interactions=500)


def pairs_of(data: Interactions) -> set[tuple[int, int]]:
    return set(zip(data.by_user.row_of_entry().tolist(), data.by_user.indices.tolist(), strict=True))


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_users_come_once_with_all_they_met(data, size):
    weights = np.arange(1, data.nnz + 1, dtype=np.float32)
    feed = UserFeed(data, weights=weights, batch_size=size, device="cpu")
    batches = list(feed.batches(torch.Generator().manual_seed(0)))
    assert len(batches) == feed.steps
    found = [
        (int(batch.contexts[row]), int(column), float(weight))
        for batch in batches
        for row, column, weight in zip(*batch.positives, strict=True)
    ]
    expected = zip(data.by_user.row_of_entry(), data.by_user.indices, weights, strict=True)
    assert sorted(found) == sorted((int(x), int(y), float(w)) for x, y, w in expected)
    assert sum(batch.scale for batch in batches) == pytest.approx(weights.sum(), rel=1e-5)
    assert all(bool((batch.positives.rows.diff() >= 0).all()) for batch in batches)


@pytest.mark.parametrize("size", [1, 64, 10_000])
def test_pairs_come_once(data, size):
    feed = PairFeed(data, weights=pair_weights(data, 1.0), batch_size=size, device="cpu")
    batches = list(feed.batches(torch.Generator().manual_seed(0)))
    found = [pair for b in batches for pair in zip(b.contexts.tolist(), b.positives.columns.tolist(), strict=True)]
    assert len(found) == data.nnz
    assert set(found) == pairs_of(data)


def test_order_changes_with_every_pass_and_repeats_with_the_seed(data):
    def orders(seed):
        generator = torch.Generator().manual_seed(seed)
        feed = UserFeed(data, weights=pair_weights(data, 1.0), batch_size=60, device="cpu")
        return [torch.cat([b.contexts for b in feed.batches(generator)]).tolist() for _ in range(2)]

    first, second = orders(0)
    assert first != second
    assert orders(0) == [first, second]
    assert orders(1)[0] != first


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.3])
def test_weights_of_a_user_sum_to_a_power_of_the_total(exponent):
    data = Interactions.from_arrays([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], strengths=[1.0, 3.0, 2.0, 2.0, 1.0])
    weights = pair_weights(data, exponent)
    sums = np.bincount(data.by_user.row_of_entry(), weights=weights)
    assert sums == pytest.approx(np.array([4.0, 5.0]) ** exponent, rel=1e-6)
    assert weights[1] / weights[0] == pytest.approx(3.0)


def test_positive_of_each_place_is_the_next_item():
    histories = np.array([[9, 9, 1, 2], [3, 4, 5, 6], [9, 9, 9, 7]])  # 9 is padding; one item alone teaches nothing
    feed = SequenceFeed(histories, padding=9, batch_size=8, device="cpu")
    (batch,) = feed.batches(torch.Generator().manual_seed(0))
    places = batch.contexts[batch.places].tolist()
    assert sorted(zip(places, batch.positives.columns.tolist(), strict=True)) == [(1, 2), (3, 4), (4, 5), (5, 6)]
    assert batch.scale == pytest.approx(4)
    assert sorted(batch.users.tolist()) == [0, 1, 1, 1]
