"""The estimator with optimizer="newton": what it reaches, how it resumes and stops, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank.errors import ParameterError, TrainingError, TrainingWarning  # noqa: E402
from taylorank.training.build import build  # noqa: E402
from taylorank.training.run import make_loop, warm_start  # noqa: E402

PARAMS = {"factors": 6, "optimizer": "newton", "epochs": 40, "context_exponent": 1.2}


@pytest.fixture(scope="module")
def parts():
    return tr.planted(150, 60, interactions=3000).split((0.8, 0.1, 0.1), seed=0)


@pytest.fixture(scope="module")
def closed(parts):
    same = {"regularization": 0.2, "proposal_exponent": 0.6, "context_exponent": 1.2}  # as the loss has them
    return tr.RG2(6, tolerance=0, **same).fit(parts[0])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("loss", ["rg2", "rgx"])
def test_it_finds_the_model_of_the_closed_form(parts, closed, loss, precision):
    model = tr.Neural(loss, regularization=closed.penalty_, precision=precision, **PARAMS).fit(parts[0])
    users = np.arange(150)
    np.testing.assert_allclose(model.scores(users), 60 * closed.scores(users), rtol=1e-3, atol=1e-3)  # export has N q
    assert len(model.history_) < 40
    losses = [record["loss"] for record in model.history_]
    assert losses == sorted(losses, reverse=True)
    assert model.history_[-1].keys() >= {"step", "seconds", "loss", "gradient", "cg_steps", "ratio", "rate", "damping"}


@pytest.mark.parametrize(
    ("backbone", "options"), [("lightgcn", {}), ("two-tower", {"hidden": (8,)}), ("mf", {"item_bias": True})]
)
def test_it_beats_adam_on_the_same_loss(parts, backbone, options):
    params = {**PARAMS, "regularization": 0.0, "weight_decay": 1e-4, "epochs": 20, "options": options}
    newton = tr.Neural("rg2", backbone, **params).fit(parts[0])
    adam = tr.Neural("rg2", backbone, **{**params, "optimizer": "adam", "batch_size": 150}).fit(parts[0])
    assert newton.history_[-1]["loss"] < adam.history_[-1]["loss"]


def test_rows_at_a_time_do_not_matter(parts):
    params = {**PARAMS, "epochs": 3, "precision": "float64", "options": {"hidden": (8,)}}
    whole, batched = (tr.Neural("rg2", "two-tower", batch_size=size, **params).fit(parts[0]) for size in (None, 40))
    np.testing.assert_allclose(batched.weights_, whole.weights_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backbone", ["mf", "two-tower"])
def test_interrupted_fit_goes_on_to_the_same_bits(parts, tmp_path, backbone):
    train, valid, _ = parts
    params = {**PARAMS, "epochs": 6, "regularization": 0.1}
    whole = tr.Neural("rg2", backbone, **params).fit(train, valid, patience=9)

    def interrupt(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    broken = tr.Neural("rg2", backbone, **params)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(train, valid, interrupt, patience=9, checkpoint=tmp_path / "fit.npz")
    again = broken.fit(train, valid, patience=9, checkpoint=tmp_path / "fit.npz")
    np.testing.assert_array_equal(again.weights_, whole.weights_)
    assert [record["loss"] for record in again.history_] == [record["loss"] for record in whole.history_]


def test_a_run_that_was_over_when_it_was_kept_is_over_when_it_comes_back(parts, closed):
    def loop():
        model = tr.Neural("rg2", regularization=closed.penalty_, **PARAMS)
        modules = build(model, parts[0], device="cpu")
        warm_start(modules, closed, parts[0])
        return make_loop(model, modules, parts[0], "cpu")

    first, second = loop(), loop()
    while not first.finished:
        second.restore(first.state())
        assert not second.finished
        first.epoch()
    second.restore(first.state())
    assert second.finished


def test_best_iteration_on_validation_data_is_kept(parts):
    train, valid, _ = parts
    model = tr.Neural("rg2", regularization=0.0, **PARAMS).fit(train, valid, patience=3)
    best = max(record["metric"] for record in model.history_)
    assert tr.evaluate(model, valid, metrics="ndcg@10")["ndcg@10"] == pytest.approx(best, abs=1e-6)


def test_callback_hears_of_every_iteration_and_stops_the_fit(parts):
    losses = []
    tr.Neural("rg2", **PARAMS).fit(parts[0], callback=lambda p: losses.append(p.loss) or p.step == 4)
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)


def test_warm_start_from_the_closed_form_has_nothing_left_to_do(parts, closed):
    model = tr.Neural("rg2", regularization=closed.penalty_, **PARAMS).fit(parts[0], start=closed)
    assert len(model.history_) <= 3
    np.testing.assert_allclose(model.scores(np.arange(20)), 60 * closed.scores(np.arange(20)), rtol=1e-3, atol=1e-3)


def test_file_gives_back_the_same_model(parts, tmp_path):
    model = tr.Neural("rg2", precision="float64", **{**PARAMS, "epochs": 3}).fit(parts[0])
    model.save(tmp_path / "m.tr")
    np.testing.assert_array_equal(tr.load(tmp_path / "m.tr").scores(np.arange(9)), model.scores(np.arange(9)))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "softmax"}, "newton needs a loss that is quadratic in the scores of all items, which softmax is not"),
        ({"loss": "bpr"}, "which bpr is not; choose rg2 or rgx or bce-quadratic"),
        ({"loss": "rg2", "backbone": "sasrec", "context_exponent": 1.0}, "one vector per user"),
        ({"loss": "rg2", "precision": "bfloat16"}, "newton cannot use precision='bfloat16'"),
        ({"loss": "rg2", "compile": True}, "newton has no step to compile"),
        ({"loss": "rg2", "options": {"refresh": 4}}, "newton always looks at all items"),
        ({"loss": "rg2", "optimizer": "adam", "precision": "float64"}, "precision='float64' is for newton"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(parts, params, words):
    with pytest.raises(ParameterError, match=words):
        tr.Neural(**{**PARAMS, **params}).fit(parts[0])


def test_start_at_zero_is_a_saddle_and_leaves_the_model_as_it_was(parts):
    model = tr.Neural("rg2", options={"std": 0.0}, **PARAMS)
    with pytest.raises(TrainingError, match="saddle"):
        model.fit(parts[0])
    assert not hasattr(model, "weights_")


@pytest.mark.parametrize("positive_loss", ["logistic", "squared"])
def test_any_loss_on_the_positives_converges_to_where_its_gradient_is_nothing(parts, positive_loss):
    options = {"positive_loss": positive_loss, "background_weight": 4.0, "background_target": -0.5}
    params = {**PARAMS, "regularization": 0.02, "precision": "float64", "options": options}
    model = tr.Neural("bce-quadratic", **params).fit(parts[0])
    losses = [record["loss"] for record in model.history_]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) < PARAMS["epochs"]
    assert model.history_[-1]["gradient"] < 1e-4 * model.history_[0]["gradient"]


def test_newton_and_adam_mean_the_same_loss_on_the_positives(parts):
    params = {"factors": 6, "context_exponent": 1.2, "regularization": 0.0, "options": {"background_target": -0.5}}
    models = (
        tr.Neural("bce-quadratic", **{**params, **how})
        for how in ({"optimizer": "newton", "epochs": 1, "precision": "float64"}, {"batch_size": 150})
    )
    newton, adam = (make_loop(m, build(m, parts[0], device="cpu"), parts[0], "cpu") for m in models)
    (batch,) = adam.feed.batches(torch.Generator().manual_seed(0))
    assert newton.run.loss == pytest.approx(adam.loss(batch).item(), rel=1e-5)


def test_relu_has_no_curvature_and_newton_says_so(parts):
    params = {**PARAMS, "epochs": 1}
    with pytest.warns(
        TrainingWarning, match="activation='relu', whose second derivative is 0; choose gelu or softplus"
    ):
        tr.Neural("rg2", "two-tower", **params, options={"activation": "relu"}).fit(parts[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        tr.Neural("rg2", "two-tower", **params).fit(parts[0])
        tr.Neural("rg2", "two-tower", **{**params, "optimizer": "adam"}, options={"activation": "relu"}).fit(parts[0])
