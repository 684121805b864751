"""Ranks and discounts for the defaults of RG2: what is measured is what RG2 would do, and every set counts alike."""

from __future__ import annotations

import pytest

import taylorank as tr
from research.bench.quality import defaults_larger
from taylorank.models.rg_parameters import rank_of_sizes, share_of_sizes
from taylorank.selection import hold_back


def test_each_value_is_that_of_a_model_with_these_parameters():
    data = tr.planted(400, 300, interactions=6000)
    row = defaults_larger.measure(data)
    held = hold_back(data)
    rank = rank_of_sizes(held.train.n_users, held.train.n_items)
    assert set(row["ranks"].values()) == {rank}
    share = share_of_sizes(held.train.n_users, held.train.n_items, held.train.nnz)
    model = tr.RG2(regularization=share, popularity_discount=0.2, tolerance=1e-3).fit(held.train)
    found = tr.evaluate(model, held.valid, metrics="ndcg@10")["ndcg@10"]
    assert row["ndcg@10"][f"{rank} 0.2"] == pytest.approx(found, rel=0.01)


def test_sets_count_alike():
    def row(low, high):
        ranks = {str(limit): 64 for limit in defaults_larger.LIMITS}
        values = {f"64 {d:g}": low for d in defaults_larger.DISCOUNTS}
        return {"ranks": ranks, "ndcg@10": {**values, "64 0.1": high}}

    found = defaults_larger.means({"a": row(0.1, 0.2), "b": row(0.9, 0.9)})
    assert found["512 0"] == 0.75
    assert found["1024 0.1"] == 1.0
