"""Overlap of test and training data is said, matrices are taken as in `fit`, wrong input is an error with a remedy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, LeakageWarning, ParameterError, TaylorankError


@pytest.fixture(scope="module")
def parts():
    return tr.planted(100, 50, interactions=1500).split((0.8, 0.2), random_state=0)


@pytest.fixture(scope="module")
def model(parts):
    return tr.Popularity().fit(parts[0])


def test_training_data_as_test_data_are_noticed(parts, model):
    train = parts[0]
    with pytest.warns(LeakageWarning, match=rf"{train.nnz:,} of {train.nnz:,} test pairs \(100.0%\)"):
        found = tr.evaluate(model, train, k=10)
    assert found["ndcg@10"] == 0
    assert found.users.hidden_items == train.nnz


def test_the_share_of_hidden_pairs_is_exact(parts, model):
    train, test = parts
    mixed = tr.merge(test, train.select(np.arange(train.nnz) % 4 == 0, "a quarter"))
    common = mixed.nnz - test.nnz
    with pytest.warns(LeakageWarning, match=f"{common:,} of {mixed.nnz:,} test pairs .* pass seen=\\[\\]"):
        assert tr.evaluate(model, mixed).users.hidden_items == common
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tr.evaluate(model, test).users.hidden_items == 0
        assert tr.evaluate(model, train, seen=[], k=10)["ndcg@10"] > 0


def test_matrices_are_taken_as_in_fit(parts):
    train, test = parts
    fitted = tr.RG2(4).fit(train.matrix)
    found = tr.evaluate(fitted, test.matrix, seen=[train.matrix], counts=train.matrix, metrics=("ndcg", "novelty"))
    own = tr.RG2(4).fit(train)
    assert found == pytest.approx(tr.evaluate(own, test, metrics=("ndcg", "novelty")))
    assert tr.evaluate(own, test.matrix, metrics="ndcg")["ndcg@10"] == pytest.approx(found["ndcg@10"])
    with pytest.raises(DataError, match="same shape as in fit"):
        tr.evaluate(own, sparse.csr_array((3, 3)))


@pytest.mark.parametrize("wrong", [None, 5, "test.csv", np.eye(3), [1, 2], {"user": [1]}])
def test_wrong_input_has_a_remedy(parts, model, wrong):
    with pytest.raises(ParameterError, match=r"test holds a .*give Interactions"):
        tr.evaluate(model, wrong)
    for options in ({"seen": wrong}, {"counts": wrong}):
        if wrong is not None:
            with pytest.raises(TaylorankError):
                tr.evaluate(model, parts[1], **options)
    with pytest.raises(TaylorankError):
        tr.evaluate(wrong, parts[1])
