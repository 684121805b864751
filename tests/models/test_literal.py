"""RG with the plain penalty and with printed weights, as models: fold-in, saving, paths, words of refusal, names."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError

DATA = tr.planted(120, 50, interactions=1800, seed=4)
PLAIN = {"penalty": "plain", "regularization": 5.0, "iterations": 300, "tolerance": 0}
MODELS = {
    "als": lambda: tr.RG2(6, solver="als", **PLAIN),
    "als, score penalty": lambda: tr.RG2(6, solver="als", score_penalty=0.5, **PLAIN),
    "als, rgx": lambda: tr.RGX(6, solver="als", **PLAIN),
    "spectral": lambda: tr.RG2(6, proposal_exponent=0.0, context_exponent=0.0, penalty="plain", tolerance=1e-6),
    "rg2": lambda: tr.RG2.literal(6, regularization=20.0, iterations=300, tolerance=0),
    "rgx": lambda: tr.RGX.literal(6, regularization=20.0, iterations=300, tolerance=0),
    "sampled-rg2": lambda: tr.SampledRG2.literal(6, negatives=10, regularization=5.0, iterations=60),
    "sampled-rgx": lambda: tr.SampledRGX.literal(6, negatives=10, regularization=5.0, iterations=60),
    "sampled, expected weights": lambda: tr.SampledRG2(6, penalty="plain", regularization=5.0, iterations=400),
    "sampled, weighted penalty": lambda: tr.SampledRGX(6, weights="printed", iterations=60),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: make().fit(DATA) for name, make in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_folding_the_training_histories_in_gives_the_users_of_the_fit(fitted, name):
    model = fitted[name]
    folded = model.fold_in(DATA)
    scale = abs(model.user_factors).max()
    np.testing.assert_allclose(folded.user_factors, model.user_factors, atol=3e-3 * scale)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_keeps_its_penalty_and_weights(fitted, name, tmp_path):
    model = fitted[name]
    model.save(tmp_path / "m.tr")
    loaded = tr.load(tmp_path / "m.tr")
    assert loaded.get_params() == model.settled_params()
    history = tr.Interactions.from_arrays(np.zeros(4, dtype=int), DATA.item_ids[:4])
    np.testing.assert_array_equal(loaded.fold_in(history).user_factors, model.fold_in(history).user_factors)


@pytest.mark.parametrize("name", ["als", "als, rgx", "rg2", "sampled-rg2"])
def test_explanations_add_up(fitted, name):
    model = fitted[name]
    user = DATA.user_ids[0]
    item = model.recommend([user], n=1)[0][0, 0]
    found = model.explain(user, item)
    assert found.score == pytest.approx(found.base + sum(found.contributions), rel=1e-3)


def test_rg2_and_rgx_agree_as_printed_and_more_data_keeps_lambda(fitted):
    scores = [fitted[name].scores(np.arange(20)) for name in ("rg2", "rgx")]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-3, atol=1e-6)
    model = MODELS["rg2"]().fit(DATA)
    more = tr.Interactions.from_arrays(DATA.user_ids[:3], [DATA.item_ids.max() + 1] * 3)
    model.partial_fit(more, sweeps=3)
    assert model.penalty_ == 20.0
    assert np.isfinite(model.item_factors).all()


def test_the_path_of_the_closed_form_goes_over_lambda(fitted):
    model = fitted["spectral"]
    one, other = model.path([4], [0.5, 30.0])
    assert one.penalty_ == 0.5
    assert np.linalg.norm(other.user_factors) < np.linalg.norm(one.user_factors)
    direct = tr.RG2(
        4,
        solver="als",
        **{**PLAIN, "regularization": 30.0, "iterations": 1500},
        proposal_exponent=0,
        context_exponent=0,
    ).fit(DATA)
    np.testing.assert_allclose(direct.scores(np.arange(9)), other.scores(np.arange(9)), rtol=1e-2, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (tr.RG2(4, penalty="plain"), 'has no closed form .*; use solver="als"'),
        (tr.RG2(4, penalty="squared"), "penalty='squared' is unknown; choose weighted or plain"),
        (tr.RG2(4, penalty="plain", solver="als", regularization=-1.0), "regularization"),
        (tr.SampledRG2(4, penalty="none"), "penalty='none' is unknown; choose weighted or plain"),
        (tr.SampledRGX(4, weights="drawn"), "weights='drawn' is unknown; choose expected or printed"),
    ],
)
def test_refusals_say_what_to_write(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(DATA)


def test_the_weighted_penalty_is_what_it_was():
    before, now = (tr.RG2(4, solver="als", **more).fit(DATA) for more in ({}, {"penalty": "weighted"}))
    np.testing.assert_array_equal(before.item_factors, now.item_factors)
    assert now.penalty_ != now.regularization  # λ, not τ/σ₁
