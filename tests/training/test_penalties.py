"""regularization="auto": a number by loss, backbone and kind of score, the same as if it had been given."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.selection import compare, tune

SMALL = {"factors": 4, "epochs": 2, "device": "cpu"}


@pytest.fixture(scope="module")
def data():
    return tr.planted(60, 40, interactions=900, seed=3)


def test_auto_is_the_number_that_it_stands_for(data):
    auto, given = tr.Neural("softmax", **SMALL), tr.Neural("softmax", regularization=0.1, **SMALL)
    assert auto.get_params()["regularization"] == "auto"
    assert auto.settled_params() == given.get_params()
    np.testing.assert_array_equal(auto.fit(data).item_factors_, given.fit(data).item_factors_)
    none = tr.Neural("softmax", regularization=0.0, **SMALL).fit(data)
    assert not np.array_equal(none.item_factors_, auto.item_factors_)


def test_what_is_bounded_otherwise_has_none():
    for model in (
        tr.Neural("softmax", temperature=0.2),
        tr.Neural("sml"),
        tr.Neural("bpr", "lightgcn"),
        tr.Neural("softmax", "sasrec"),
        tr.Neural("rg2", optimizer="newton"),
    ):
        assert model.settled_params()["regularization"] == 0.0


def test_a_search_begins_with_the_number(data):
    train, valid = data.split((0.8, 0.2), seed=0)
    found = tune(tr.Neural("bpr", **SMALL), train, valid, trials=2)
    assert found.trials[0].params["regularization"] == 0.03


def test_a_record_tells_the_number(data):
    record = compare(data, {"bpr": tr.Neural("bpr", **SMALL)}, seeds=(0,), trials=0).record
    assert record["models"]["bpr"]["params"]["regularization"] == 0.03


def test_files_and_other_words(data, tmp_path):
    model = tr.Neural("bpr", **SMALL).fit(data)
    model.save(tmp_path / "model.tr")
    again = tr.load(tmp_path / "model.tr")
    assert again.regularization == 0.03  # a file holds the number that was used
    users = data.user_ids[:5]
    assert again.recommend(users)[0].tolist() == model.recommend(users)[0].tolist()
    with pytest.raises(ParameterError, match="regularization"):
        tr.Neural("bpr", regularization="little").fit(data)
    with pytest.raises(ParameterError, match="regularization"):
        tr.RG2(4, regularization="auto").fit(data)
