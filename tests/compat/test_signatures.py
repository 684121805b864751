"""Every method and parameter of implicit is here, in its place and with its default."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_matrix

implicit = pytest.importorskip("implicit")

CLASSES = {
    "als": ("AlternatingLeastSquares", "implicit.cpu.als"),
    "bpr": ("BayesianPersonalizedRanking", "implicit.cpu.bpr"),
    "lmf": ("LogisticMatrixFactorization", "implicit.cpu.lmf"),
    "items": ("ItemItemRecommender", "implicit.nearest_neighbours"),
    "cosine": ("CosineRecommender", "implicit.nearest_neighbours"),
    "tfidf": ("TFIDFRecommender", "implicit.nearest_neighbours"),
    "bm25": ("BM25Recommender", "implicit.nearest_neighbours"),
}
OURS = {"als": "als", "bpr": "bpr", "lmf": "lmf"}
FUNCTIONS = (
    "train_test_split",
    "leave_k_out_split",
    "ranking_metrics_at_k",
    "precision_at_k",
    "mean_average_precision_at_k",
    "ndcg_at_k",
    "AUC_at_k",
)
# What docs/compat.md names under "What differs".
NOT_HERE = {"als": {"solver"}}
OTHER_DEFAULTS = {"use_gpu", "learning_rate"}


def both(name):
    kind, module = CLASSES[name]
    ours = import_module(f"taylorank.compat.implicit.{OURS.get(name, 'nearest_neighbours')}")
    return getattr(import_module(module), kind), getattr(ours, kind)


def parameters(function):
    return [one for one in inspect.signature(function).parameters.values() if one.name != "self"]


def check_the_same(theirs, ours, where):
    for place, parameter in enumerate(theirs):
        assert place < len(ours), f"{where} has no {parameter.name}"
        assert (ours[place].name, ours[place].kind) == (parameter.name, parameter.kind), where
        if parameter.name not in OTHER_DEFAULTS:
            assert ours[place].default == parameter.default, f"{where}: {parameter.name}"


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_takes_what_it_takes_there(name):
    theirs, ours = both(name)
    for member in sorted(set(dir(theirs)) - NOT_HERE.get(name, set())):
        if member.startswith("_"):
            continue
        assert hasattr(ours, member), f"{ours.__name__} has no {member}"
        if callable(getattr(theirs, member)):
            check_the_same(parameters(getattr(theirs, member)), parameters(getattr(ours, member)), f"{name}.{member}")


@pytest.mark.parametrize("name", ["als", "bpr", "lmf"])
def test_constructors_take_the_same_arguments(name):
    """A script calls the function of the module, which makes the class for the CPU or the GPU."""
    kind, _ = CLASSES[name]
    check_the_same(parameters(getattr(import_module(f"implicit.{name}"), kind)), parameters(both(name)[1]), name)


@pytest.mark.parametrize("name", ["items", "cosine", "tfidf", "bm25"])
def test_constructors_of_neighbours_take_the_same_arguments(name):
    theirs, ours = both(name)
    try:
        wanted = parameters(theirs)
    except ValueError:  # compiled without a signature
        pytest.skip(f"{theirs.__name__} tells no signature")
    check_the_same(wanted, parameters(ours), name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_evaluation_take_the_same_arguments(name):
    theirs = getattr(import_module("implicit.evaluation"), name)
    ours = getattr(import_module("taylorank.compat.implicit.evaluation"), name)
    try:
        wanted = parameters(theirs)
    except ValueError:
        pytest.skip(f"{name} tells no signature")
    check_the_same(wanted, parameters(ours), name)


def test_gram_matrices_are_those_of_the_factors():
    from taylorank.compat.implicit.als import AlternatingLeastSquares

    likes = csr_matrix((np.random.default_rng(0).random((30, 20)) < 0.3).astype("float32"))
    model = AlternatingLeastSquares(factors=4, random_state=1, use_gpu=False)
    model.fit(likes, show_progress=False)
    theirs = implicit.als.AlternatingLeastSquares(factors=4, random_state=1)
    theirs.user_factors, theirs.item_factors = model.user_factors, model.item_factors
    np.testing.assert_allclose(model.YtY, theirs.YtY, rtol=1e-5)
    np.testing.assert_allclose(model.XtX, theirs.XtX, rtol=1e-5)


def test_lists_of_all_users_can_begin_further_down():
    from taylorank.compat.implicit.als import AlternatingLeastSquares

    likes = csr_matrix((np.random.default_rng(0).random((30, 20)) < 0.3).astype("float32"))
    model = AlternatingLeastSquares(factors=4, random_state=1, use_gpu=False)
    model.fit(likes, show_progress=False)
    whole = model.recommend_all(likes, 5)
    assert (model.recommend_all(likes[20:], 5, False, True, None, 20) == whole[20:]).all()
    assert not (model.recommend_all(likes, 5, False, False) == whole).all()
