"""Cold users and items, for every model."""

from __future__ import annotations

import numpy as np
import pytest
from fitted import small
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, ParameterError, UnknownIdError
from taylorank.registry import MODELS

EMPTY_USER, COLD_ITEM = 7, 4


@pytest.fixture(scope="module")
def data():
    """30 users × 20 items; user 7 and item 4 have no interactions, item 11 is the most popular, then 2."""
    rng = np.random.default_rng(5)
    cells = rng.random((30, 20)) < 0.25
    cells[:, 11], cells[:20, 2], cells[20:, 2] = True, True, False
    cells[EMPTY_USER], cells[:, COLD_ITEM] = False, False
    return tr.Interactions.from_matrix(sparse.csr_array(cells.astype(np.float32)))


@pytest.fixture(scope="module", params=MODELS)
def model(request, data):
    return small(request.param).fit(data)


def by_popularity(data):
    counts = np.asarray(data.matrix.sum(axis=0)).ravel()
    return [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > 0], counts


def test_known_users_without_history_get_the_popular_items(model, data):
    order, counts = by_popularity(data)
    ids, scores = model.recommend([EMPTY_USER, 0], n=5)
    assert ids[0].tolist() == order[:5]
    expected = counts[order[:5]] / (1 if isinstance(model, tr.Popularity) else counts.sum())
    np.testing.assert_allclose(scores[0], expected, rtol=1e-6)
    assert ids[1].tolist() == model.recommend([0], n=5)[0][0].tolist()


def test_unknown_users_are_an_error_that_names_the_remedy(model):
    with pytest.raises(UnknownIdError, match=r"unknown user 99, 98 .*fold_in; cold=\"popularity\""):
        model.recommend([0, 99, 98])
    with pytest.raises(UnknownIdError, match=r"unknown user 50, 51, 52 and 7 more"):
        model.recommend(range(50, 60))
    with pytest.raises(ParameterError, match="cold='guess' is unknown; choose from popularity, nan, error"):
        model.recommend([0], cold="guess")


def test_each_choice(model, data):
    order, _ = by_popularity(data)
    asked = ["bob", 3, EMPTY_USER, 99]
    ids, scores = model.recommend(asked, n=4, cold="popularity")
    assert ids[[0, 2, 3]].tolist() == [order[:4]] * 3
    assert ids[1].tolist() == model.recommend([3], n=4)[0][0].tolist()
    known = model.recommend([EMPTY_USER], n=4, cold="popularity")[1][0]
    assert scores[0].tolist() == known.tolist() == scores[3].tolist()
    ids, scores = model.recommend(asked, n=4, cold="nan")
    nothing = [0, 3] if isinstance(model, tr.Popularity) else [0, 2, 3]
    assert np.isnan(scores[nothing]).all()
    assert (ids[nothing] == -1).all()
    assert ids[1].tolist() == model.recommend([3], n=4)[0][0].tolist()
    if not isinstance(model, tr.Popularity):
        with pytest.raises(UnknownIdError, match="user 7 has no history"):
            model.recommend([3, EMPTY_USER], cold="error")
    assert model.recommend([3], cold="error")[0].shape == (1, 10)


def test_lists_for_strangers_obey_seen_items_and_exclude(model, data):
    order, _ = by_popularity(data)
    seen = tr.Interactions.from_arrays([99, 99], [order[0], order[2]])
    ids, _ = model.recommend([99], n=2, seen=[data, seen], cold="popularity")
    assert ids[0].tolist() == [order[1], order[3]]
    ids, _ = model.recommend([99], n=3, items=[1, 2, 3], exclude=[2], cold="popularity")
    assert set(ids[0].tolist()) <= {1, 3, -1}
    assert (ids[0] == -1).sum() >= 1


def test_items_that_nobody_met_are_not_recommended(model, data):
    assert np.isfinite(model.scores(np.arange(30))).all()
    ids, scores = model.recommend(list(range(30)), n=20, seen=[])
    for row, values in zip(ids.tolist(), scores, strict=True):
        found = [i for i in row if i >= 0]
        assert sorted(found) == [i for i in range(20) if i != COLD_ITEM]
        assert np.all(np.diff(values[~np.isnan(values)]) <= 0)


def test_neighbours_of_what_is_unknown_are_padding(model):
    if hasattr(model, "similar_items"):
        ids, values = model.similar_items([COLD_ITEM, 11], n=25)
        assert ids.shape == values.shape == (2, 25)
        assert (ids[0] == -1).all()
        assert np.isnan(values[0]).all()
        assert COLD_ITEM not in ids[1]
        assert 11 not in ids[1]
        assert ids[1, 0] >= 0
    if hasattr(model, "similar_users"):
        ids, values = model.similar_users([EMPTY_USER, 0], n=3)
        assert (ids[0] == -1).all()
        everyone, _ = model.similar_users([0], n=29)
        assert EMPTY_USER not in everyone


def test_a_cold_user_is_explained_by_popularity(model, data):
    why = model.explain(EMPTY_USER, 11)
    assert why.items.tolist() == []
    assert why.score == why.base == pytest.approx(model.recommend([EMPTY_USER], n=1)[1][0, 0])


def test_popularity_is_that_of_training_after_fold_in_and_from_files(model, data, tmp_path):
    if isinstance(model, tr.Neural):
        pytest.skip("learns users by descent")
    order, counts = by_popularity(data)
    folded = model.fold_in([("new", 3), ("new", 1), ("empty", 99), ("new", 99)])
    assert folded.item_popularity.tolist() == counts.tolist()
    assert folded.recommend(["empty"], n=3)[0][0].tolist() == order[:3]
    assert folded.data_fingerprint == model.data_fingerprint
    model.save(tmp_path / "m.tr", with_seen=False)
    loaded = tr.load(tmp_path / "m.tr")
    assert loaded.item_popularity.tolist() == counts.tolist()
    assert loaded.data_fingerprint == model.data_fingerprint
    other = tr.Interactions.from_arrays([1, 2, 2], [5, 5, 6])
    refitted = folded.set_params(**({"factors": 1} if hasattr(model, "factors") else {})).fit(other)
    assert refitted.item_popularity.tolist() == [2, 1]


@pytest.mark.parametrize("name", ["ease", "itemknn"])
def test_item_models_without_histories_say_so(name, data, tmp_path):
    small(name).fit(data).save(tmp_path / "m.tr", with_seen=False)
    loaded = tr.load(tmp_path / "m.tr")
    with pytest.raises(DataError, match="fold_in their histories"):
        loaded.recommend([0])
    fresh = small(name).fit(data)
    history = [(0, int(i)) for i in data.items_of(0)]
    assert loaded.fold_in(history).recommend([0])[0].tolist() == fresh.recommend([0])[0].tolist()


def test_evaluate_counts_users_without_history_with_the_popular_list(model, data):
    order, _ = by_popularity(data)
    test = tr.Interactions.from_matrix(sparse.csr_array(([1.0, 1.0], ([EMPTY_USER, EMPTY_USER], order[1:3])), (30, 20)))
    assert tr.evaluate(model, test, k=3)["recall@3"] == 1.0
    assert tr.evaluate(model, test, k=1)["recall@1"] == 0.0
    assert tr.evaluate(model, test, k=3)["mrr@3"] == 0.5
