"""A fit that begins at another model: its vectors, at the scale that suits the loss."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank.errors import ParameterError  # noqa: E402
from taylorank.models.factor_fit import with_factors  # noqa: E402
from taylorank.training import run  # noqa: E402

STILL = {
    "factors": 8,
    "regularization": 0.0,
    "epochs": 1,
    "learning_rate": 0.0,
    "batch_size": 200,
    "random_state": 0,
}  # one batch
POWERS = 2.0 ** (np.arange(-80, 12) / 2)


@pytest.fixture(scope="module")
def train():
    return tr.planted(200, 600, interactions=3000)


@pytest.fixture(scope="module")
def closed(train):
    """The expansion of softmax itself, and nothing shrunk."""
    return tr.RG2(8, regularization=0.0, proposal_exponent=0.0, context_exponent=1.0).fit(train)


def products(model):
    return model.user_factors[:, :8] @ model.item_factors[:, :8].T  # RG² ranks by one more, the 1 of its ratio


def softmax_loss(scores, train):
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return -logs[train.by_user.row_of_entry(), train.by_user.indices].mean()


def scale_of(model, closed):
    """α of o = α o', with a check that it is one number for all."""
    mine, theirs = products(model), products(closed)
    scale = (mine * theirs).sum() / (theirs * theirs).sum()
    np.testing.assert_allclose(mine, scale * theirs, atol=1e-5 * np.abs(mine).max())
    return scale


def test_softmax_begins_at_a_scale_where_it_is_low(train, closed):
    warm = tr.Neural("softmax", **STILL).fit(train, start=closed)
    losses = np.array([softmax_loss(power * products(closed).astype(float), train) for power in POWERS])
    knowing_nothing = np.log(train.n_items)
    low = losses <= knowing_nothing - 0.99 * (knowing_nothing - losses.min())
    assert np.isclose(scale_of(warm, closed), POWERS[low], rtol=1e-4).any()
    assert warm.history_[0]["loss"] == pytest.approx(softmax_loss(products(warm).astype(float), train), rel=1e-4)
    assert losses.min() < knowing_nothing < softmax_loss(products(closed).astype(float), train)


@pytest.mark.parametrize("loss", ["rg2", "rgx"])
def test_the_loss_that_the_start_has_minimised_keeps_its_scale(train, closed, loss):
    options = {"proposal_exponent": 0.0}
    warm = tr.Neural(loss, options=options, context_exponent=1.0, **STILL).fit(train, start=closed)
    assert scale_of(warm, closed) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("loss", ["bpr", "sampled-softmax", "uib"])
def test_losses_with_draws_begin_below_what_they_have_without_a_scale(train, closed, loss):
    """The scale is found on the draws of one batch; others of the same size agree."""
    large = {**STILL, "batch_size": 5000, "negatives": 16}
    huge = with_factors(closed, (1e3 * closed.user_factors, 1e3 * closed.item_factors))
    found = tr.Neural(loss, **large).fit(train, start=huge).history_[0]["loss"]
    cold = tr.Neural(loss, **large).fit(train).history_[0]["loss"]
    assert found < cold


@pytest.mark.parametrize("loss", ["bpr", "bce", "softmax"])
def test_a_start_that_separates_the_data_leaves_something_to_learn(loss):
    """BPR and BCE fall to 0 as such scores grow, and their gradients with them."""
    data = tr.planted(60, 80, interactions=500)
    start = tr.RG2(60, regularization=0.0, proposal_exponent=0.0).fit(data)
    still, moved = (
        tr.Neural(loss, factors=60, epochs=1, learning_rate=rate, random_state=0).fit(data, start=start)
        for rate in (0.0, 0.01)
    )
    assert still.history_[0]["loss"] > 1e-4
    assert np.abs(moved.user_factors - still.user_factors).max() > 1e-3


@pytest.mark.parametrize("optimizer", ["adam", "newton"])
def test_factors_that_the_start_lost_come_alive(train, optimizer):
    start = tr.RG2(8, regularization=0.9).fit(train)
    lost = ~start.user_factors.any(0)
    assert 0 < lost.sum() < 8
    warm = tr.Neural("rg2", factors=8, epochs=5, learning_rate=0.05, optimizer=optimizer).fit(train, start=start)
    assert np.abs(warm.user_factors[:, :8]).max(0).min() > 1e-3


@pytest.mark.parametrize("backbone", ["mf", "lightgcn"])
@pytest.mark.parametrize("temperature", [None, 0.5])
def test_a_warm_fit_is_ahead_of_a_cold_one(train, closed, backbone, temperature):
    first = [
        tr.Neural("softmax", backbone, factors=8, epochs=3, temperature=temperature, random_state=0)
        .fit(train, start=start)
        .history_[0]["loss"]
        for start in (None, closed)
    ]
    assert first[1] < first[0]


@pytest.mark.parametrize("backbone", ["mf", "lightgcn"])
def test_what_the_other_model_does_not_know_stays_random(train, backbone):
    rows = train.by_user.row_of_entry()
    known = tr.RG2(8).fit(train.select((rows < 150) & (train.by_user.indices < 500), "a part").core(1))
    options = {"layers": 0} if backbone == "lightgcn" else None
    cold, warm = (
        tr.Neural("softmax", backbone, options=options, **STILL).fit(train, start=start) for start in (None, known)
    )
    there = known.users.positions(train.user_ids)
    np.testing.assert_array_equal(warm.user_factors[there < 0], cold.user_factors[there < 0])
    mine, theirs = warm.user_factors[there >= 0], known.user_factors[there[there >= 0]]
    scale = np.linalg.norm(mine) / np.linalg.norm(theirs)
    np.testing.assert_allclose(mine, scale * theirs, atol=1e-6)
    assert (there < 0).any()
    assert not np.array_equal(warm.item_factors, cold.item_factors)


def test_looking_for_the_scale_leaves_batches_and_draws_as_they_were(train, closed, monkeypatch):
    given = {**STILL, "learning_rate": 0.01, "batch_size": 50, "context_exponent": 1.0}
    model = tr.Neural("rg2", options={"proposal_exponent": 0.0, "refresh": 3, "draws": 20}, **given)
    looked = model.fit(train, start=closed).user_factors
    monkeypatch.setattr(run, "scale_start", lambda *_: 1.0)
    np.testing.assert_array_equal(looked, model.fit(train, start=closed).user_factors)


def test_a_start_of_another_rank_is_refused(train, closed):
    with pytest.raises(ParameterError, match="vectors of 8 numbers and this model of 4"):
        tr.Neural("softmax", **{**STILL, "factors": 4}).fit(train, start=closed)


def test_distances_and_products_give_each_other_no_start(train, closed):
    distances = tr.Neural("sml", factors=8, epochs=2, random_state=0).fit(train)
    with pytest.raises(ParameterError, match="one of inner products cannot start from each other"):
        tr.Neural("sml", **STILL).fit(train, start=closed)
    with pytest.raises(ParameterError, match="one of inner products cannot start from each other"):
        tr.Neural("softmax", **STILL).fit(train, start=distances)


def test_a_tree_gives_no_start(train):
    tree = tr.Neural("hsm", factors=8, epochs=1).fit(train)
    for loss, start in (("softmax", tree), ("hsm", tr.RG2(8).fit(train))):
        with pytest.raises(ParameterError, match="a tree has no vectors of items"):
            tr.Neural(loss, factors=8, epochs=1).fit(train, start=start)
