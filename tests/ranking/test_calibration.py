"""Calibration of stated probabilities, on rows whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import Interactions, planted
from taylorank.errors import LeakageWarning, ParameterError
from taylorank.metrics import calibration_error
from taylorank.models import RG2, RGX, Popularity, SampledRG2, SampledRGX
from taylorank.ranking import evaluate


@pytest.fixture(scope="module")
def drawn():
    """3000 users with a distribution over 20 items each, and one draw of every user."""
    rng = np.random.default_rng(0)
    stated = rng.dirichlet(np.full(20, 0.4), 3000)
    draw = np.array([rng.choice(20, p=row) for row in stated])
    users = np.arange(3000)
    everything = Interactions.from_arrays(np.repeat(users, 20), np.tile(np.arange(20), 3000))
    nothing_seen = everything.select(np.zeros(everything.nnz, dtype=bool), "nothing")
    return nothing_seen, stated, Interactions.from_arrays(users, draw)


@pytest.mark.parametrize("metric", ["ece@5", "ece_width@5"])
def test_who_states_the_truth_is_calibrated_and_who_exaggerates_is_not(metric, drawn, stating):
    seen, stated, test = drawn
    honest = evaluate(stating(seen, stated), test, metrics=metric)[metric]
    sharp = stated**2 / (stated**2).sum(axis=1, keepdims=True)
    bold = evaluate(stating(seen, sharp), test, metrics=metric)[metric]
    assert honest < 0.015
    assert bold > 0.04


def test_rows_of_several_items_are_predicted_as_a_whole(drawn, stating):
    seen, stated, _ = drawn
    rng = np.random.default_rng(1)
    several = [rng.choice(20, p=row, size=4) for row in stated]  # with repeats: a row of 4 draws
    few = Interactions.from_arrays(np.repeat(np.arange(3000), 4), np.concatenate(several))
    got = evaluate(stating(seen, stated), few, metrics="ece@5")["ece@5"]
    predicted, outcome = [], []
    for row, drawn_items in zip(stated, several, strict=True):
        n = len(set(drawn_items.tolist()))
        for item in np.argsort(-row.astype(np.float32), kind="stable")[:5]:
            predicted.append(1 - (1 - row[item]) ** n)
            outcome.append(item in drawn_items)
    assert got == pytest.approx(calibration_error(np.array(predicted), np.array(outcome)), abs=1e-3)


def test_seen_items_are_taken_out_and_negative_ones_count_as_nothing(stating):
    train = Interactions.from_arrays([1, 2, 2, 2], [1, 1, 2, 3])
    stated = np.array([[0.9, 0.06, -0.02], [0.4, 0.3, 0.3]])
    model = stating(train, stated)
    result = evaluate(model, Interactions.from_arrays([1], [2]), metrics=("ece@1", "ece@3"))
    assert result["ece@1"] == pytest.approx(0.0, abs=1e-12)  # item 2 has all that is left
    assert result["ece@3"] == pytest.approx(0.0, abs=1e-12)
    wrong = evaluate(model, Interactions.from_arrays([1], [3]), metrics="ece@1")
    assert wrong["ece@1"] == pytest.approx(1.0)
    with pytest.warns(LeakageWarning, match="1 of 1 test pairs"):
        all_seen = evaluate(model, Interactions.from_arrays([2], [3]), metrics="ece@2")
    assert np.isnan(all_seen["ece@2"])


def test_models_that_rank_by_probability_state_it():
    train, valid, test = planted(200, 60, interactions=4000, random_state=0).split()
    found = evaluate(RG2(factors=4).fit(train), test, seen=[train, valid], metrics=("ece@10", "ece_width@10"))
    assert 0 < found["ece@10"] < 0.2
    with pytest.raises(ParameterError, match="Popularity gives no probabilities"):
        evaluate(Popularity().fit(train), test, metrics="ece@10")


@pytest.mark.parametrize("make", [RG2, RGX, SampledRG2, SampledRGX])
def test_probabilities_do_not_depend_on_what_ranks(make):
    train, _, test = planted(200, 60, interactions=4000, random_state=0).split()
    users = np.arange(200)
    stated = make(factors=4).fit(train).probabilities(users)
    np.testing.assert_allclose(stated.sum(axis=1), 1, atol=0.1)  # sampled RG² comes near, the others are exact
    np.testing.assert_allclose(make(factors=4, ranking="lift").fit(train).probabilities(users), stated)
    ranked = make(factors=4, popularity_discount=0.1).fit(train)
    np.testing.assert_allclose(ranked.probabilities(users), stated)
    assert 0 < evaluate(ranked, test, metrics="ece@10")["ece@10"] < 0.2
    plain = make(factors=4, proposal_exponent=0.5).fit(train)  # with a uniform proposal, sampled RG ranks by o itself
    np.testing.assert_allclose(plain.scores(users), plain.probabilities(users), rtol=1e-4, atol=1e-6)
