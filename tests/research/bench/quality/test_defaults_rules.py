"""The rules for RG2's defaults: what they read off the measurements, and what a set left out says of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taylorank as tr
from research.bench.quality import defaults_rules as bench


def row(best):
    """NDCG falls with the distance of δ and τ from the best, and by 0.3 with other exponents."""
    values = {
        f"{gamma:g} {rho:g} {delta:g} {tau:g}": 1.0
        - abs(delta - best[2])
        - abs(tau - best[3])
        - 0.3 * ((gamma, rho) != best[:2])
        for (gamma, rho), delta, tau in itertools.product(bench.PAIRS, bench.DISCOUNTS, bench.THRESHOLDS)
    }
    return {"size": {"users": 100, "items": 400, "interactions": 10_000}, "ndcg@10": values}


def test_a_rule_has_the_value_at_its_threshold():
    """√(M/n) = 0.1 and √(N/n) = 0.2, so a = b = 1 asks for 0.3."""
    data = row((0.7, 1.4, 0.0, 0.3))
    rules = [(0.7, 1.4, 0.0, 1.0, 1.0, 0.5), (0.7, 1.4, 0.0, 0.7, 0.7, 0.4), (0.7, 1.4, 0.2, 1.2, 1.2, 0.3)]
    assert bench.relative(data, rules) == pytest.approx([1.0, 0.91, 0.8])


def test_what_helps_all_sets_helps_those_left_out():
    sets = {name: row((0.8, 1.7, 0.1, 0.3)) for name in "abc"}
    chosen = bench.rules(sets)["chosen among"]["γ, ρ, δ, a, b"]
    assert chosen["best"][:3] == [0.8, 1.7, 0.1]
    assert chosen["relative"] == pytest.approx(1.0)
    assert chosen["left out"] == pytest.approx([1 / 0.51 - 1] * 3, abs=1e-4)


def test_what_one_set_alone_wants_is_no_gain_left_out():
    sets = {"own": row((0.8, 1.7, 0.0, 0.2)), "b": row((0.7, 1.4, 0.0, 0.2)), "c": row((0.7, 1.4, 0.0, 0.2))}
    chosen = bench.rules(sets)["chosen among"]["γ, ρ"]
    assert chosen["left out"][0] == 0.0
    assert chosen["best"][:2] == [0.7, 1.4]


def test_a_rule_of_shuffled_data_asks_for_its_share():
    data = row((0.8, 1.7, 0.0, 0.3)) | {"shuffled": {"0.8 1.7": 0.5}}
    assert bench.relative(data, [(0.8, 1.7, 0.0, 0.6), (0.8, 1.7, 0.0, 0.4)]) == pytest.approx([1.0, 0.9])


def test_shuffled_data_have_nothing_but_noise():
    """Two groups that share nothing have one large σ; shuffled, about √(M/n) + √(N/n) = 0.2 of it is left."""
    users, items = np.divmod(np.arange(200 * 200), 200)
    kept = (users < 100) == (items < 100)
    data = tr.Interactions.from_arrays(users[kept], items[kept])
    assert set(bench.shuffled_shares(data)) == {f"{gamma:g} {rho:g}" for gamma, rho in bench.PAIRS}
    assert max(bench.shuffled_shares(data).values()) < 0.2
    assert tr.RG2(2, regularization=0.0).fit(data).path_.svd.values[0] > 0.99


def test_it_runs():
    record = bench.run(quick=True)
    assert set(record["sets"]) == {"planted"}
    assert any("the default: " in line for line in bench.describe(record))
