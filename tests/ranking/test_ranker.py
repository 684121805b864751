"""The one interface between a model and all that ranks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from fitted import CLOSED_FORM, small

import taylorank as tr
from taylorank.errors import DataError, NotFittedError, ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models import Recommender
from taylorank.ranking import Ranker, Vectors, evaluate, explain, protocol, ranker_of, recommend, similar_items
from taylorank.ranking.protocols import folded_in
from taylorank.registry import MODELS


@pytest.fixture(scope="module")
def parts():
    return tr.planted(80, 40, interactions=1500, random_state=0).split((0.8, 0.2), random_state=0)


class RandomWalk:
    """A model from outside the library: the share of walks user → item → user → item that end at y."""

    def fit(self, train):
        R = train.matrix.toarray()
        back = R.T / np.maximum(R.sum(axis=0), 1)[:, None]
        scores = (R / np.maximum(R.sum(axis=1), 1)[:, None]) @ back @ R
        self.ranker = Ranker(train.users, train.items, train, scores=lambda users: scores[users], name="RandomWalk")
        return self


def test_a_model_from_outside_is_recommended_evaluated_and_compared(parts):
    train, test = parts
    model = RandomWalk().fit(train)
    ids, scores = recommend(model, [3], 5)
    assert not set(ids[0]) & set(train.items_of(3))
    assert np.all(np.diff(scores[0]) <= 0)
    assert evaluate(model, test, k=10)["ndcg@10"] > evaluate(tr.Popularity().fit(train), test, k=10)["ndcg@10"]
    assert tr.compare(train, {"walk": RandomWalk(), "popularity": "popularity"}, trials=0, seeds=1).best == "walk"
    for call in (lambda: explain(model, 3, ids[0, 0]), lambda: similar_items(model, [3])):
        with pytest.raises(ParameterError, match="RandomWalk"):
            call()


class ItemSums:
    """A model from outside that takes in new users: the vector of a user is the sum of those of the user's items."""

    def fit(self, train):
        Q = np.linalg.svd(train.matrix.toarray(), full_matrices=False)[2][:6].T.astype(np.float32)
        fold_in = SumOfItems(np.ascontiguousarray(Q))
        vectors = Vectors(fold_in.rows(train), ItemVectors(fold_in.items), fold_in=fold_in)
        self.ranker = Ranker(train.users, train.items, train, vectors=vectors, name="ItemSums")
        return self


class SumOfItems:
    def __init__(self, items):
        self.items = items

    def rows(self, histories):
        return (histories.matrix @ self.items).astype(np.float32)

    def contributions(self, history, vector):
        return self.items[history.by_user.indices] @ vector


def test_a_model_from_outside_ranks_for_held_out_users_by_its_fold_in():
    parts = protocol("held-out-users").prepare(tr.planted(300, 60, interactions=6000, random_state=0))
    model = ItemSums().fit(parts.train)
    found = parts.evaluate(model, "test", metrics="ndcg@10")["ndcg@10"]
    Q = model.ranker.vectors.items.factors
    scores = parts.fold_test.matrix.toarray() @ Q @ Q.T
    by_scores = Ranker(parts.fold_test.users, parts.train.items, parts.fold_test, scores=lambda users: scores[users])
    assert found == pytest.approx(evaluate(by_scores, parts.test, metrics="ndcg@10")["ndcg@10"])
    assert found > parts.evaluate(tr.Popularity().fit(parts.train), "test", metrics="ndcg@10")["ndcg@10"]
    user = parts.test.user_ids[np.flatnonzero(parts.test.by_user.row_lengths)[0]]
    folded = folded_in(model, parts.fold_test)
    assert explain(folded, user, 5, n=None).score == pytest.approx(
        float(scores[parts.fold_test.users.positions([user])[0], 5]), rel=1e-4
    )
    np.testing.assert_array_equal(folded.item_popularity, parts.train.item_popularity)


def test_vectors_with_scales_and_offsets_rank_like_the_scores_they_make(parts):
    train, test = parts
    rng = np.random.default_rng(1)
    P, Q = (rng.standard_normal((n, 6), dtype=np.float32) for n in (train.n_users, train.n_items))
    a, b = rng.random(train.n_items, dtype=np.float32), rng.standard_normal(train.n_items, dtype=np.float32)
    vectors = Vectors(P, ItemVectors(Q), scales=a, offsets=b)
    by_products = Ranker(train.users, train.items, train, vectors=vectors)
    by_scores = Ranker(train.users, train.items, train, scores=lambda users: P[users] @ Q.T * a + b)
    np.testing.assert_array_equal(
        recommend(by_products, train.user_ids, 10)[0], recommend(by_scores, train.user_ids, 10)[0]
    )
    assert evaluate(by_products, test) == pytest.approx(evaluate(by_scores, test))
    users, items = vectors.export()
    np.testing.assert_allclose(users @ items.T, P @ Q.T * a + b, rtol=1e-4, atol=1e-5)


def test_what_is_no_model_is_refused(parts):
    with pytest.raises(ParameterError, match="str cannot be ranked; give it a property `ranker`"):
        ranker_of("rg2")
    with pytest.raises(NotFittedError):
        ranker_of(tr.RG2())

    class Wrong:
        ranker = "rg2"

    with pytest.raises(DataError, match=r"Wrong.ranker is no Ranker"):
        ranker_of(Wrong())
    with pytest.raises(ParameterError, match="gives no scores"):
        recommend(Ranker(parts[0].users, parts[0].items, parts[0], name="empty"), [0])


def test_the_four_members_of_old_still_work_for_one_release(parts):
    train, _ = parts

    class Old:
        users, items, seen = train.users, train.items, train

        def scores(self, users):
            return np.tile(np.arange(40, dtype=np.float32), (len(users), 1))

    with pytest.warns(DeprecationWarning, match="give it a property `ranker`"):
        assert recommend(Old(), [0], 1, seen=[])[0].tolist() == [[39]]


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_a_ranker_is_built_once_and_dropped_by_what_changes_the_model(name, parts):
    train, test = parts
    model = small(name).fit(train)
    first = model.ranker
    model.recommend([0, 1], n=3)
    evaluate(model, test)
    assert model.ranker is first
    other_data = tr.planted(80, 40, interactions=1500, random_state=5)
    model.fit(other_data)
    assert model.ranker is not first
    expected = model.recommend([0, 1, 2])
    np.testing.assert_array_equal(expected[0], small(name).fit(other_data).recommend([0, 1, 2])[0])
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.recommend([0, 1, 2])[0], expected[0])


def test_a_parameter_set_after_the_fit_counts(parts):
    model = tr.RG2(factors=8).fit(parts[0])
    by_probability = model.recommend([0, 1, 2], n=20)[0]
    model.ranking = "lift"
    by_lift = model.recommend([0, 1, 2], n=20)[0]
    assert not np.array_equal(by_probability, by_lift)
    model.set_params(ranking="probability")
    np.testing.assert_array_equal(model.recommend([0, 1, 2], n=20)[0], by_probability)


@pytest.mark.parametrize("kind", [tr.RG2, tr.SampledRG2, tr.SampledRGX, tr.IALS, tr.WRMF])
def test_a_folded_model_stays_as_it_is_when_its_parent_changes(kind, parts):
    train, test = parts
    options = {"factors": 6} | ({"proposal_exponent": 0.8} if "proposal_exponent" in kind().get_params() else {})
    parent = kind(**options).fit(train)
    child = parent.fold_in(train)
    metrics = ("ndcg@5", "ece@5") if hasattr(parent, "probabilities") else "ndcg@5"
    before, folded = evaluate(child, test, metrics=metrics), child.fold_in(train).user_factors
    parent.fit(tr.planted(50, 30, interactions=600, random_state=9))
    parent.set_params(regularization=0.5)
    assert evaluate(child, test, metrics=metrics) == before
    np.testing.assert_array_equal(child.fold_in(train).user_factors, folded)


def test_a_fit_in_another_thread_is_not_lost(parts, monkeypatch):
    """A ranker whose model was fitted anew while it was built is not kept."""
    train, _ = parts
    model = tr.RG2(factors=4).fit(train)
    other = tr.planted(80, 40, interactions=1500, random_state=5)
    build, fitted = tr.RG2._build_ranker, []

    def slow(self):
        built = build(self)
        if not fitted:
            fitted.append(True)
            model.fit(other)
        return built

    monkeypatch.setattr(tr.RG2, "_build_ranker", slow)
    model.recommend([0])
    np.testing.assert_array_equal(model.recommend([0, 1])[0], tr.RG2(factors=4).fit(other).recommend([0, 1])[0])


def test_a_model_from_outside_can_be_copied_after_its_first_list(parts):
    train, _ = parts
    vectors = Vectors(np.ones((80, 2), np.float32), ItemVectors(np.ones((40, 2), np.float32)))
    recommend(Ranker(train.users, train.items, train, vectors=vectors), [0])
    again = pickle.loads(pickle.dumps(vectors))
    assert recommend(Ranker(train.users, train.items, train, vectors=again), [0])[0].shape == (1, 10)


def test_an_error_inside_a_ranker_is_the_one_that_is_seen():
    class Broken:
        @property
        def ranker(self):
            return self.nothing

    with pytest.raises(AttributeError, match="nothing"):
        ranker_of(Broken())


def test_parts_that_do_not_fit_are_refused(parts):
    train, _ = parts
    vectors = Vectors(np.ones((3, 2), np.float32), ItemVectors(np.ones((40, 2), np.float32)))
    with pytest.raises(ParameterError, match="vectors of 3 users and 40 items, and ids of 80 and 40"):
        Ranker(train.users, train.items, train, vectors=vectors)
    right = Vectors(np.ones((80, 2), np.float32), vectors.items)
    with pytest.raises(ParameterError, match="scores in two ways"):
        Ranker(train.users, train.items, train, vectors=right, scores=lambda users: users)


def test_a_recommender_with_scores_alone_has_cold_users(parts):
    train, _ = parts

    class Flat(Recommender):
        def fit(self, train, valid=None, callback=None):
            self.train_ = train
            return self

        def scores(self, users):
            return np.zeros((len(users), len(self.items)), dtype=np.float32)

    emptied = train.select(train.by_user.row_of_entry() != 3, "a user without history")
    assert np.isnan(Flat().fit(emptied).recommend([3], cold="nan")[1]).all()


def test_a_folded_model_shares_what_does_not_depend_on_its_users(parts):
    model = tr.RG2(factors=8).fit(parts[0])
    folded = model.fold_in([("new", 3), ("new", 5)])
    assert folded.ranker.vectors.items is model.ranker.vectors.items
    assert folded.ranker.vectors.fold_in is model.ranker.vectors.fold_in
    assert folded.recommend(["new"], n=3)[0].shape == (1, 3)


def depth(kind: type) -> int:
    """How many classes stand between a class and `object` on the longest way, itself counted."""
    return 0 if kind is object else 1 + max(depth(base) for base in kind.__bases__)


@pytest.mark.parametrize("name", MODELS)
def test_what_users_fit_is_at_most_two_deep(name):
    assert depth(MODELS[name]) <= 2
