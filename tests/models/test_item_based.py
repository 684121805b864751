from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.models import item_based, largest_entries


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 60, interactions=5000, random_state=4).split()


def test_item_neighbours_are_shrunk_cosines(parts):
    train = parts[0]
    R = train.matrix.toarray().astype(np.float64)
    norms = np.linalg.norm(R, axis=0)
    cosines = (R.T @ R) / (np.outer(norms, norms) + 3.0)
    np.fill_diagonal(cosines, 0)
    W = tr.ItemKNN(neighbours=5, shrink=3.0).fit(train).item_weights_.toarray()
    for i in range(60):
        kept = np.flatnonzero(W[i])
        assert len(kept) <= 5
        np.testing.assert_allclose(W[i, kept], cosines[i, kept], rtol=1e-5)
        assert W[i, kept].min() >= np.sort(cosines[i])[-5] - 1e-6


@pytest.mark.parametrize("model", [tr.EASE(50.0), tr.ItemKNN(20)])
def test_they_beat_popularity_and_fold_in(model, parts):
    train, valid, test = parts
    fitted = model.fit(train)
    ours = tr.evaluate(fitted, test, seen=[train, valid])["ndcg@10"]
    assert ours > tr.evaluate(tr.Popularity().fit(train), test, seen=[train, valid])["ndcg@10"]
    item = train.item_ids[0]
    guest = fitted.fold_in([("new", int(item))])
    assert item not in guest.recommend(["new"], n=5)[0]
    users = train.user_ids[:3]
    again = fitted.fold_in(train).recommend(users)[0]
    assert again.tolist() == fitted.recommend(users)[0].tolist()


def test_bad_parameters_are_refused(parts):
    for bad in (tr.EASE(0.0), tr.EASE(max_items=5), tr.ItemKNN(0), tr.ItemKNN(shrink=-1)):
        with pytest.raises(ParameterError):
            bad.fit(parts[0])


def test_equal_neighbours_are_kept_by_id():
    """Ten items that always come together: every cosine is the same, and the smaller ids are kept."""
    users, items = np.repeat(np.arange(30), 10), np.tile(np.arange(10), 30)
    model = tr.ItemKNN(neighbours=3, shrink=0.0).fit(tr.Interactions.from_arrays(users, items))
    kept = [row.indices.tolist() for row in model.item_weights_]
    assert kept == [[1, 2, 3], [0, 2, 3], [0, 1, 3], *[[0, 1, 2]] * 7]
    assert model.similar_items([9], n=3)[0].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("neighbours", [1, 3, 20, 2000])
@pytest.mark.parametrize("shrink", [0.0, 10.0])
def test_neighbours_by_entries_are_those_of_the_whole_strip(neighbours, shrink, monkeypatch):
    rng = np.random.default_rng(3)
    users, items = rng.integers(0, 300, 2600), rng.integers(0, 1300, 2600)
    data = tr.Interactions.from_arrays(users, items, strengths=rng.choice([1.0, 2.0, 5.0], 2600))
    few = tr.ItemKNN(neighbours, shrink=shrink).fit(data).item_weights_
    monkeypatch.setattr(largest_entries, "SPARSE_SHARE", np.inf)
    whole = tr.ItemKNN(neighbours, shrink=shrink).fit(data).item_weights_
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(few, part), getattr(whole, part))


def test_items_that_hardly_meet_take_no_dense_strips(monkeypatch):
    """A strip of 512 × 100,000 cells with a few thousand entries."""
    monkeypatch.setattr(item_based, "top_k_scores", None)
    rng = np.random.default_rng(0)
    data = tr.Interactions.from_arrays(rng.integers(0, 40_000, 100_000), np.arange(100_000))
    model = tr.ItemKNN().fit(data)
    user = int(data.user_ids[0])
    mine = data.items_of(user)
    assert set(model.item_weights_[[mine[0]]].indices.tolist()) == {*mine.tolist()} - {mine[0]}
