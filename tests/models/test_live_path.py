"""Ranks and thresholds that act at once: the same lists as a model of `path()`, with nothing copied."""

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.models.live_path import KEPT, LivePath, has_live_path
from taylorank.ranking import explain, recommend


@pytest.fixture(scope="module")
def data():
    planted = tr.planted(300, 120, interactions=6000, random_state=3)
    strengths = np.random.default_rng(0).choice([1.0, 2.0, 3.0], planted.nnz)
    return tr.Interactions.from_arrays(
        planted.user_ids[planted.by_user.row_of_entry()], planted.item_ids[planted.by_user.indices], strengths=strengths
    )


@pytest.fixture(scope="module", params=[{}, {"score_penalty": 0.5}, {"popularity_discount": 0.4}, {"ranking": "lift"}])
def model(data, request):
    return tr.RG2(16, tolerance=0, **request.param).fit(data)


HISTORIES = [("a", 3), ("a", 17), ("a", 40), ("b", 5), ("c", 8), ("c", 9)]


@pytest.mark.parametrize("rank", [1, 5, 16])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6])
def test_lists_are_those_of_a_model_of_the_path(model, rank, share):
    slow = next(model.path([rank], [share])).fold_in(HISTORIES)
    live = LivePath(model).ranker(rank, share).for_histories(slow.seen)
    assert live.vectors.users.shape == (3, 16)
    expected = slow.ranker.scores_of(np.arange(3))
    np.testing.assert_allclose(live.scores_of(np.arange(3)), expected, rtol=2e-4, atol=2e-5 * np.abs(expected).max())
    assert np.array_equal(recommend(live, ["a", "b", "c"], 5)[0], slow.recommend(["a", "b", "c"], 5)[0])


def test_reasons_are_those_of_a_model_of_the_path(model):
    slow = next(model.path([7], [0.15])).fold_in(HISTORIES)
    live = LivePath(model).ranker(7, 0.15).for_histories(slow.seen)
    a, b = explain(live, "a", 25), slow.explain("a", 25)
    assert list(a.items) == list(b.items)
    np.testing.assert_allclose(a.contributions, b.contributions, rtol=1e-3, atol=1e-5 * abs(b.score))
    assert a.score == pytest.approx(b.score, rel=1e-3)


def test_settings_share_the_vectors_of_the_items_and_the_last_few_are_kept(data):
    live = LivePath(tr.RG2(8).fit(data))
    first = live.ranker(2, 0.1)
    assert live.ranker(2, 0.1) is first
    assert live.ranker(3, 0.3).vectors.items is first.vectors.items
    for share in np.linspace(0, 0.9, KEPT):
        live.ranker(5, float(share))
    assert live.ranker(2, 0.1) is not first
    assert len(live._kept) == KEPT


def test_what_is_not_given_is_that_of_the_model(data):
    model = tr.RG2(8, regularization=0.3, tolerance=0).fit(data)
    live = LivePath(model)
    same = recommend(live.ranker().for_histories(data), data.user_ids[:20], 5, seen=data)[0]
    assert np.array_equal(same, model.fold_in(data).recommend(data.user_ids[:20], 5)[0])


def test_what_was_not_fitted_is_refused(data):
    live = LivePath(tr.RG2(8).fit(data))
    for rank in (0, 9):
        with pytest.raises(ParameterError, match=f"rank {rank} was not fitted; choose 1 to 8"):
            live.ranker(rank, 0.1)
    with pytest.raises(ParameterError, match=r"outside \[0, 1\)"):
        live.ranker(4, 1.0)


def test_models_without_an_svd_have_no_path(data):
    for model in (tr.Popularity(), tr.RG2(4, solver="als", iterations=2), tr.RG2.literal(4, iterations=2)):
        assert not has_live_path(model.fit(data))
        with pytest.raises(ParameterError, match=r"keeps no path; save RG2 or RGX .* with path=True"):
            LivePath(model)
