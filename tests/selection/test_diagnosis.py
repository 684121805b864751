"""The diagnosis says what a slow look at every score says, and its advice follows from it."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.models.logits import logits_of
from taylorank.selection.candidate_loss import pairs_of, rg2_losses


@pytest.fixture(scope="module")
def parts():
    return tr.planted(150, 60, interactions=3000).split((0.8, 0.1, 0.1), random_state=0)


@pytest.fixture(scope="module")
def model(parts):
    return tr.RG2(8, tolerance=0).fit(parts[0])


def by_hand(model, data, seen):
    """Every user and positive, one after the other, over the items that the user had not chosen before."""
    o = model.user_factors.astype(float) @ model.item_factors.T.astype(float)
    hidden, losses = seen.matrix.toarray() > 0, []
    for x, y in zip(data.by_user.row_of_entry(), data.by_user.indices, strict=True):
        q = np.where(hidden[x], 0, model.proposal_)
        q /= q.sum()
        mean, square = q @ o[x], q @ o[x] ** 2
        softmax, rgx, rg2 = np.log(q @ np.exp(o[x])), mean + (square - mean**2) / 2, mean + square / 2
        losses.append([softmax - o[x, y], rgx - o[x, y], rg2 - o[x, y], abs(softmax - rgx), abs(softmax - rg2)])
    return np.mean(losses, axis=0)


NAMES = ("softmax loss", "RG× loss", "RG² loss", "mean |softmax − RG×|", "mean |softmax − RG²|")


def test_numbers_are_those_of_all_scores(parts, model):
    valid = parts[1]
    numbers = tr.diagnose(model, valid, users=1000).numbers
    losses = by_hand(model, valid, parts[0])
    np.testing.assert_allclose([numbers[name] for name in NAMES], losses, rtol=1e-6)
    some = np.flatnonzero(valid.by_user.row_lengths)
    sizes = np.abs(model.user_factors[some].astype(float) @ model.item_factors.T)
    assert numbers["mean |o|"] == pytest.approx(sizes.mean(), rel=1e-6)
    assert numbers["max |o|"] == pytest.approx(sizes.max(), rel=1e-6)
    assert numbers["share of |o| > 1"] == pytest.approx((sizes > 1).mean())


def test_chosen_items_do_not_compete_with_held_out_ones(parts, model):
    """What was chosen in training scores high and cannot be chosen again: with it, a good model looks bad."""
    train, valid, test = parts
    found = tr.diagnose(model, valid, users=1000)
    assert found.numbers["softmax loss"] < 0 < by_hand(model, valid, tr.Interactions.from_matrix(0 * train.matrix))[0]
    assert "below that of zero scores" in found.words[1]
    more = tr.diagnose(model, test, seen=[train, valid], users=1000).numbers
    both = tr.Interactions.from_matrix(train.matrix + valid.matrix)
    np.testing.assert_allclose([more[name] for name in NAMES], by_hand(model, test, both), rtol=1e-6)


def test_training_pairs_among_the_data_are_left_out(parts, model):
    train, valid, _ = parts
    mixed = tr.Interactions.from_matrix(train.matrix + valid.matrix, users=train.users, items=train.items)
    found = tr.diagnose(model, mixed, users=1000)
    assert found.numbers == pytest.approx(tr.diagnose(model, valid, users=1000).numbers)
    assert any(f"{train.nnz:,} interactions that were in training are left out" in line for line in found.words)


def test_training_data_are_recognised(parts, model):
    given = tr.diagnose(model, parts[0].select(np.ones(parts[0].nnz, dtype=bool), "a copy"))
    assert "On its own training data" in given.words[1]
    own = tr.diagnose(model).numbers
    assert {name: given.numbers[name] for name in own} == pytest.approx(own)
    assert not any("is right" in line or "Raise" in line or "Lower" in line for line in given.words)


def test_energy_is_that_of_the_singular_values(parts, model):
    numbers = tr.diagnose(model).numbers
    sigma = model.path_.svd.values.astype(float)
    tau = model.share * sigma[0]
    left = sigma[sigma > tau]
    objective = model._objective(parts[0])
    assert numbers["factors that are not 0"] == len(left)
    assert numbers["threshold over largest singular value"] == pytest.approx(model.share, rel=1e-4)
    assert numbers["share of it kept by the threshold"] == pytest.approx(
        ((left - tau) ** 2).sum() / (left**2).sum(), rel=1e-4
    )
    assert numbers["variance of targets in these factors"] == pytest.approx(
        (left**2).sum() / objective.squared_norm, rel=1e-4
    )


def test_condition_is_that_of_the_gram(model):
    Q = model.item_factors * np.sqrt(model.proposal_)[:, None]
    assert tr.diagnose(model).numbers["condition of items' Gram"] == pytest.approx(
        np.linalg.cond(Q.T @ Q.astype(float)), rel=1e-3
    )


def test_advice_goes_towards_the_lowest_loss_on_other_data(parts):
    train, valid, _ = parts
    weak, strong = (tr.RG2(8, regularization=share, tolerance=0).fit(train) for share in (0.0, 0.9))
    best = tr.diagnose(weak, valid).numbers["best regularization for RG² loss"]
    losses = {
        share: tr.diagnose(next(weak.path(regularization=[share])), valid, users=999).numbers["RG² loss"]
        for share in (0.0, best, 0.9)
    }
    assert losses[best] < min(losses[0.0], losses[0.9])
    pairs = pairs_of(weak, valid, [train], 999, 0)
    sigma = weak.path_.svd.values.astype(float)
    scales = np.maximum(1 - np.array([[share] for share in losses]) * sigma[0] / sigma, 0)
    found = rg2_losses(pairs, weak.proposal_, weak.user_factors[pairs.users], weak.item_factors, scales)
    np.testing.assert_allclose(found, list(losses.values()), rtol=1e-4)
    assert any("Raise regularization from 0 towards" in line for line in tr.diagnose(weak, valid).words)
    assert any("Lower regularization from 0.9 towards" in line for line in tr.diagnose(strong, valid).words)
    right = next(weak.path(regularization=[best]))
    assert any(f"regularization={best:g} is right" in line for line in tr.diagnose(right, valid).words)


def test_factors_that_vanish_are_counted(parts):
    strong = tr.RG2(8, regularization=0.9).fit(parts[0])
    found = tr.diagnose(strong)
    rank = int(found.numbers["factors that are not 0"])
    assert rank < 8
    assert any(f"factors={rank} is the same model" in line for line in found.words)


def test_large_scores_are_called_large(parts):
    model = tr.RG2(40, regularization=0.0, proposal_exponent=0.0).fit(parts[0])
    model.user_factors_ = 100 * model.user_factors_
    found = tr.diagnose(model)
    assert "The scores are large" in found.words[0]
    assert all(np.isfinite(value) for value in found.numbers.values())


def test_factors_of_no_weight_are_ill_conditioned(parts):
    model = tr.IALS(4).fit(parts[0])
    model.item_factors_ = model.item_factors_ * np.array([1, 1, 1, 1e-4], dtype=np.float32)
    assert any("ill-conditioned" in line for line in tr.diagnose(model).words)


@pytest.mark.parametrize("kind", [tr.WRMF, tr.IALS])
def test_scores_that_are_no_logits_are_told_apart(parts, kind):
    found = tr.diagnose(kind(4).fit(parts[0]), parts[1])
    assert "were not fitted as logits" in found.words[0]
    assert "factors that are not 0" not in found.numbers


def test_words_come_before_numbers(model):
    text = str(tr.diagnose(model))
    assert text.startswith("The scores are")
    assert text.index("well-conditioned") < text.index("mean |o|  ")


def test_file_has_no_path_and_says_so(parts, model, tmp_path):
    model.save(tmp_path / "m.tr")
    again = tr.diagnose(tr.load(tmp_path / "m.tr"), parts[1])
    assert any("`tune` finds the best" in line for line in again.words)
    fresh = tr.diagnose(model, parts[1]).numbers
    assert {name: fresh[name] for name in again.numbers} == pytest.approx(again.numbers)


def test_histories_of_others_are_not_taken_for_the_data_of_the_fit(parts, model):
    """Their objective is another one: what the threshold left of it says nothing of the model."""
    folded = tr.diagnose(model.fold_in(parts[1].matrix[:2]))
    assert "factors that are not 0" not in folded.numbers
    assert not any("factors are 0" in line for line in folded.words)


def test_targets_that_are_all_0_are_survived():
    same = tr.Interactions.from_arrays(["a", "b"], ["x", "x"])
    words = tr.diagnose(tr.RG2(1).fit(same)).words
    assert any("All scores are 0" in line for line in words)
    assert not any("factors=0" in line for line in words)


def test_what_cannot_be_diagnosed_is_refused(parts, model):
    with pytest.raises(ParameterError, match="Popularity has no factors"):
        tr.diagnose(tr.Popularity().fit(parts[0]))
    others = tr.Interactions.from_arrays(["ann"], [int(parts[0].item_ids[0])])
    with pytest.raises(DataError, match="knows none of the users"):
        tr.diagnose(model, others)
    with pytest.raises(ParameterError, match="users=0"):
        tr.diagnose(model, users=0)


@pytest.mark.parametrize("ranking", ["probability", "lift"])
def test_network_is_taken_apart(parts, ranking):
    pytest.importorskip("torch")
    network = tr.Neural("rg2", factors=4, epochs=3, options={"ranking": ranking}).fit(parts[0])
    logits = logits_of(network)
    closed = tr.RG2(4, proposal_exponent=0.6).fit(parts[0])  # as the loss has it
    np.testing.assert_allclose(logits.proposal, closed.proposal_, rtol=1e-4)
    assert logits.users.shape[1] == logits.items.shape[1] == 4
    o = logits.users @ logits.items.T
    expected = 60 * logits.proposal * (1 + o) if ranking == "probability" else o
    np.testing.assert_allclose(network.scores(np.arange(150)), expected, rtol=1e-3, atol=1e-4)
    assert logits.are_logits
    assert tr.diagnose(network, parts[1]).numbers["mean |o|"] > 0


def test_a_file_without_histories_needs_data(parts, tmp_path):
    pytest.importorskip("torch")
    for model in (tr.RG2(4), tr.Neural("rg2", factors=4, epochs=2, options={"ranking": "lift"})):
        model.fit(parts[0]).save(tmp_path / "m.tr", with_seen=False)
        back = tr.load(tmp_path / "m.tr")
        with pytest.raises(DataError, match="without the histories of its users; give the data"):
            tr.diagnose(back)
        losses = [tr.diagnose(one, parts[1], seen=parts[0]).numbers["softmax loss"] for one in (model, back)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-6)
        assert any("has no histories" in line for line in tr.diagnose(back, parts[1]).words)


def test_a_model_that_is_all_zeros_is_not_called_sound(parts):
    words = tr.diagnose(tr.IALS(4, regularization=1e6).fit(parts[0])).words
    assert any("All scores are 0" in line for line in words)
    assert not any("well-conditioned" in line for line in words)


def test_a_seed_that_is_none_is_refused(model):
    with pytest.raises(ParameterError, match="seed -1"):
        tr.diagnose(model, random_state=-1)
