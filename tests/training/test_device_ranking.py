"""Ranking on a device gives the lists of the kernels; here the device is the CPU."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import taylorank as tr
from taylorank.data import CSR, Ids, Interactions, planted
from taylorank.kernels import ItemVectors
from taylorank.kernels import top_k as kernel
from taylorank.ranking import Ranker, Vectors, recommend
from taylorank.training import device_ranking, restore


def both(users, items, *, k, seen, allowed=None):
    """The lists of the device with what it leaves to the CPU, and those of the kernel."""
    data = Interactions(seen, Ids(range(len(users))), Ids(range(len(items))))
    vectors = Vectors(users, ItemVectors(items))
    there = device_ranking.DeviceRanking(items, device="cpu")
    ranker = Ranker(data.users, data.items, data, vectors=vectors, rankable=allowed, on_device=there)
    return recommend(ranker, data.user_ids, k), kernel(users, items, k=k, seen=seen, allowed=allowed)


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("cells", [64, 1 << 20])
def test_lists_are_those_of_the_kernel(k, cells, monkeypatch):
    monkeypatch.setattr(device_ranking, "BLOCK_CELLS", cells)
    rng = np.random.default_rng(0)
    data = planted(30, 20, interactions=200)
    users, items = (rng.normal(size=(n, 4)).astype(np.float32) for n in (30, 20))
    allowed = np.arange(20) != 3
    (ids, scores), (expected, values) = both(users, items, k=k, seen=data.by_user, allowed=allowed)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_allclose(scores, values, rtol=1e-5, atol=1e-6)  # products of size 1 may cancel


def test_equal_scores_come_by_number_and_everything_may_be_hidden():
    users, items = np.ones((3, 1), np.float32), np.ones((6, 1), np.float32)
    everything = CSR(np.array([0, 0, 6, 9]), np.array([0, 1, 2, 3, 4, 5, 0, 1, 2], np.int32), None, 6)
    (ids, scores), (expected, values) = both(users, items, k=4, seen=everything)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_array_equal(scores, values)


@pytest.mark.parametrize("cells", [64, 1 << 20])
def test_a_tree_ranks_as_on_the_cpu(cells, monkeypatch):
    train, _, test = planted(60, 30, interactions=900).split(seed=0)
    model = tr.Neural("hsm", factors=4, epochs=2, batch_size=64, device="cpu").fit(train)
    model.user_factors_[3] = 0  # probabilities of one depth are equal: the CPU must decide
    expected = model.recommend(train.user_ids, n=7)
    figures = tr.evaluate(model, test, metrics=("ndcg@10", "recall@5"))
    calls = []
    tree = restore.DeviceRanking(
        model.item_factors, score=restore.tree_of(model)[0].scores, block_cells=cells, device="cpu"
    )

    def there(rows, **more):
        calls.append(len(rows))
        return tree(rows, **more)

    monkeypatch.setattr(restore, "device_ranking", lambda model: there)
    model.device = "cpu"  # drops the ranker
    found = model.recommend(train.user_ids, n=7)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
    assert dict(tr.evaluate(model, test, metrics=("ndcg@10", "recall@5"))) == pytest.approx(dict(figures))
    assert sum(calls) >= 2 * train.n_users - 10
