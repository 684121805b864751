"""The benchmark on published splits: its description, and how it recognises a random test part."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from research.bench.quality.public_splits import describe, drift, measure


@pytest.fixture(scope="module")
def data():
    return tr.planted(2000, 200, interactions=40_000, seed=1)


def test_a_random_test_part_has_no_drift(data):
    train, test = data.split((0.8, 0.2), seed=4)
    assert drift(train, test) == pytest.approx(1, abs=0.25)


def test_a_test_part_of_other_items_has_drift(data):
    rng = np.random.default_rng(0)
    often = rng.random(200) < 0.5
    chance = np.where(often[data.by_user.indices], 0.3, 0.1)
    held = rng.random(data.nnz) < chance
    assert drift(data.select(~held, "train"), data.select(held, "test")) > 3


def test_places_are_counted_among_the_published(data):
    train, test = data.split((0.8, 0.2), seed=4)
    record = measure("planted", train, test, hold_out="groups", seconds=0.01)
    own = record["test"]["recall@20"], record["test"]["ndcg@20"]
    record["published"] = {"worse": (own[0] - 0.1, own[1] - 0.1), "mixed": (own[0] + 0.1, own[1] - 0.1)}
    first, second, others = describe({"sets": [record]})
    assert others.startswith("planted, published Recall@20/NDCG@20: ")
    assert f"Recall@20 {own[0]:.4f} (place 2), NDCG@20 {own[1]:.4f} (place 1 of 3)" in first
    assert f"proposal_exponent {record['chosen']['proposal_exponent']}" in second
    exact = tr.evaluate(tr.RG2(**record["chosen"]).fit(train), test, k=20)
    assert own == pytest.approx((exact["recall@20"], exact["ndcg@20"]), abs=1e-4)
