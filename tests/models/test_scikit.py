"""scikit-learn's tools take the models: searches, cross-validation, pipelines, and its own checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, NotFittedError
from taylorank.registry import MODELS, model_named

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError as TheirNotFittedError  # noqa: E402
from sklearn.feature_extraction.text import TfidfTransformer  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils import check_array, estimator_checks, get_tags  # noqa: E402

DATA = tr.planted(120, 50, interactions=2500, random_state=5)
X = DATA.matrix
CLOSED = [name for name in MODELS if name not in ("neural", "distilled", "released-rg")]


@pytest.mark.parametrize("given", [X, sparse.csr_matrix(X), DATA], ids=["array", "matrix", "interactions"])
def test_a_grid_is_searched_over_users(given):
    search = GridSearchCV(tr.RG2(8), {"factors": [1, 8], "proposal_exponent": [0.0, 0.6]}, cv=3).fit(given)
    assert set(search.best_params_) == {"factors", "proposal_exponent"}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.recommend([3], n=4)[0].shape == (1, 4)


def test_every_way_of_giving_the_data_has_the_same_folds():
    folds = KFold(3, shuffle=True, random_state=0)
    scores = [cross_val_score(tr.IALS(4, iterations=3), given, cv=folds).tolist() for given in (X, DATA)]
    assert scores[0] == pytest.approx(scores[1])
    assert min(scores[0]) > 0


@pytest.mark.parametrize("name", CLOSED)
def test_models_that_fold_in_are_cross_validated(name):
    model = model_named(name)
    params = {"factors": 4, "iterations": 2} if "iterations" in model.get_params() else {}
    scores = cross_val_score(model.set_params(**params), X, cv=2)
    assert (scores > 0).all()
    assert (scores < 1).all()


def test_other_metrics_are_chosen_by_a_scorer():
    from taylorank.compat.sklearn import scorer

    model, folds = tr.RG2(4), KFold(2)
    recall = cross_val_score(model, X, cv=folds, scoring=scorer("recall@5"))
    train, test = next(folds.split(X))
    assert recall[0] == tr.RG2(4).fit(X[train]).score(X[test], metric="recall@5")
    search = RandomizedSearchCV(
        model,
        {"regularization": [0.0, 0.2, 0.5]},
        n_iter=2,
        scoring={"ndcg": scorer("ndcg@10"), "map": scorer("map@10")},
        refit="map",
        cv=2,
        random_state=0,
    ).fit(X)
    assert {"mean_test_ndcg", "mean_test_map"} <= set(search.cv_results_)


def test_pipelines_fit_score_and_predict():
    pipeline = make_pipeline(TfidfTransformer(), tr.RG2(6)).fit(X)
    assert 0 < pipeline.score(X) < 1
    assert pipeline.predict(X[:7]).shape == (7, 10)
    search = GridSearchCV(pipeline, {"rg2__factors": [2, 4], "tfidftransformer__use_idf": [True, False]}, cv=2).fit(X)
    assert search.best_params_["rg2__factors"] in (2, 4)


def test_the_score_is_that_of_an_evaluation_of_folded_in_users():
    model = tr.RG2(6).fit(X[:80])
    history = tr.read_interactions(X[80:])
    given, hidden = history.split((0.8, 0.2), random_state=3)
    by_hand = tr.evaluate(model.fold_in(given), hidden, seen=given, metrics="ndcg@10")["ndcg@10"]
    assert model.score(X[80:], random_state=3) == by_hand
    assert model.score(given.matrix, hidden.matrix) == by_hand
    assert model.score(given, hidden) == by_hand


def test_predictions_are_lists_without_the_history():
    model = tr.RG2(6).fit(DATA)
    lists = model.predict(X[:5], n=8)
    assert all(set(row.tolist()).isdisjoint(X[[user]].indices.tolist()) for user, row in enumerate(lists))


def test_scores_of_nothing_and_of_other_shapes_say_so():
    model = tr.RG2(4).fit(X)
    with pytest.raises(DataError, match="nothing to find"):
        model.score(sparse.csr_array(np.eye(50, dtype=np.float32)))
    with pytest.raises(DataError, match="give 120 rows"):
        model.score(X, X[:3])


def test_interactions_are_indexed_by_user_like_rows_of_a_matrix():
    assert DATA.shape == X.shape
    rows = np.array([5, 2, 9])
    part = DATA[rows]
    assert part.user_ids.tolist() == [2, 5, 9]
    assert part.n_items == DATA.n_items
    assert (part.matrix.toarray() == X[[2, 5, 9]].toarray()).all()
    assert DATA[:4].user_ids.tolist() == [0, 1, 2, 3]
    mask = np.arange(120) < 3
    assert DATA[mask] == DATA[:3]
    assert DATA[7].user_ids.tolist() == [7]
    for wrong in ([120], [0, 0], "a", 1.5):
        with pytest.raises((IndexError, DataError)):
            DATA[wrong]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "neural"])
def test_clones_and_tags(name):
    model = model_named(name)
    assert repr(clone(model)) == repr(model)
    tags = get_tags(model)
    assert tags.input_tags.sparse
    assert not tags.target_tags.required


def test_an_unfitted_model_raises_what_both_libraries_catch():
    for kind in (TheirNotFittedError, NotFittedError, ValueError, AttributeError):
        with pytest.raises(kind, match=r"call fit\(train\) first"):
            tr.RG2().recommend([0])
    try:
        tr.RG2().recommend([0])
    except NotFittedError as error:
        again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, TheirNotFittedError)
    assert again.remedy == "call fit(train) first"
    assert not hasattr(tr.RG2(), "n_features_in_")
    assert tr.RG2(2).fit(X).n_features_in_ == 50


class FromDense:
    """Models for scikit-learn's checks, which know only dense arrays: values are made ≥ 0 and the matrix sparse."""

    def fit(self, X, y=None):
        return super().fit(self._sparse(X))

    def predict(self, X):
        return super().predict(self._sparse(X), n=1)[:, 0]

    def score(self, X, y=None):
        return super().score(self._sparse(X))

    def _sparse(self, X):
        return sparse.csr_array(np.abs(check_array(X, accept_sparse=True)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.positive_only = True, False
        return tags


class Updated(FromDense):
    def partial_fit(self, X, y=None):
        return super().partial_fit(self._sparse(X)) if "train_" in vars(self) else self.fit(X)


class DenseRG2(Updated, tr.RG2):
    pass


class DenseIALS(Updated, tr.IALS):
    pass


class DenseEASE(FromDense, tr.EASE):
    pass


class DenseItemKNN(FromDense, tr.ItemKNN):
    pass


class DensePopularity(FromDense, tr.Popularity):
    pass


KEPT = {"check_dict_unchanged": "what ranks is made at the first prediction and kept"}
NEW_ITEMS = {"check_n_features_in_after_fitting": "partial_fit takes new items, so more columns"}
# Model → check → why it does not apply.
EXPECTED = [
    (DenseRG2(factors=1), KEPT | NEW_ITEMS),
    (DenseIALS(factors=1, iterations=2), KEPT | NEW_ITEMS),
    (DenseEASE(), KEPT),
    (DenseItemKNN(), KEPT),
    (DensePopularity(), KEPT),
]


@pytest.mark.filterwarnings("ignore")  # it converts matrices of every format, and FromDense has no base class of theirs
@pytest.mark.parametrize(("model", "expected"), EXPECTED, ids=lambda one: getattr(type(one), "__name__", ""))
def test_the_checks_of_scikit_learn_that_apply_pass(model, expected):
    found = estimator_checks.check_estimator(model, on_skip=None, on_fail=None)
    failed = {one["check_name"]: str(one["exception"]) for one in found if one["status"] == "failed"}
    assert failed.keys() == expected.keys(), failed
    assert sum(one["status"] == "passed" for one in found) >= 35
