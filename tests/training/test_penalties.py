"""regularization="auto": a number by loss, backbone and kind of score, the same as if it had been given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.selection import compare, tune
from taylorank.training.build import build
from taylorank.training.first_order import FirstOrder
from taylorank.training.run import make_feed, recipe_of

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


def slow_penalty(backbone, batch, negatives) -> float:
    """The documented sum, pair by pair: the user, the positive, and the mean over the draws that are not masked."""
    P, Q = (table.detach().double().square().sum(1) for table in (backbone.user_factors, backbone.item_factors))
    total = 0.0
    for p, (row, item, weight) in enumerate(zip(*(part.tolist() for part in batch.positives), strict=True)):
        columns = negatives.columns if negatives.columns.ndim == 1 else negatives.columns[p]
        kept = [y for j, y in enumerate(columns.tolist()) if negatives.mask is None or not negatives.mask[p, j]]
        draws = sum(Q[y].item() for y in kept) / max(len(kept), 1)
        total += weight * (P[batch.users[row]].item() + Q[item].item() + draws)
    return 0.5 * total / batch.scale


@pytest.mark.parametrize("context_exponent", [1.0, 0.3])
@pytest.mark.parametrize("sampler", ["uniform", "in-batch"])
def test_penalty_with_draws_is_the_documented_one(data, sampler, context_exponent):
    model = tr.Neural("bpr", "mf", sampler, negatives=8, context_exponent=context_exponent, batch_size=50, **SMALL)
    parts = build(model, data, device="cpu")
    for table in parts.backbone.parameters():  # rows of unlike lengths, so that each weight shows
        table.data *= torch.linspace(0.1, 3, len(table))[:, None]
    drawn = []
    draw = parts.sampler.draw
    parts.sampler.draw = lambda *given, **named: drawn.append(draw(*given, **named)) or drawn[-1]
    feed = make_feed(model, parts, data, "cpu")
    batch = next(feed.batches(torch.Generator().manual_seed(0)))
    values = [
        FirstOrder(
            parts, feed, replace(recipe_of(model), regularization=penalty), generator=torch.Generator().manual_seed(1)
        ).loss(batch)
        for penalty in (0.0, 1.0)
    ]
    assert (values[1] - values[0]).item() == pytest.approx(slow_penalty(parts.backbone, batch, drawn[-1]), rel=1e-5)
