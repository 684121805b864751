"""What a search says about the next one."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.selection import Choice, Range, Trial, tune
from taylorank.selection.advice import edge_line, importance, taylor_line


def trials_of(value, count=200):
    rng = np.random.default_rng(0)
    params = [{"a": float(rng.random()), "b": int(rng.integers(3)), "c": float(rng.random())} for _ in range(count)]
    return [Trial(p, value(p), 0.0, users=10) for p in params]


SPACE = {"a": Range(0, 1), "b": Choice((0, 1, 2)), "c": Range(0, 1)}


def test_what_mattered_is_told_from_what_did_not():
    shares = importance(SPACE, trials_of(lambda p: 3 * p["b"] + 0.5 * p["a"]))
    assert shares["b"] > 0.9
    assert shares["c"] < 0.05
    assert shares["b"] > shares["a"] > shares["c"]


def test_importance_compares_only_trials_on_the_same_users():
    trials = trials_of(lambda p: p["b"])
    misleading = [Trial({"a": 0.9, "b": 0, "c": 0.9}, 99.0, 0.0, users=99) for _ in range(5)]
    assert importance(SPACE, trials + misleading) == importance(SPACE, trials)


def test_too_few_or_equal_trials_say_nothing():
    assert importance(SPACE, trials_of(lambda p: p["a"], count=4)) == {}
    assert importance(SPACE, trials_of(lambda p: 1.0)) == {}
    assert importance(SPACE, []) == {}


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        (Choice((8, 16, 32)), 32, "upper edge of what was tried; search above 32"),
        (Choice((8, 16, 32)), 8, "lower edge"),
        (Choice((8, 16, 32)), 16, ""),
        (Choice((0.0, 0.1)), 0.0, ""),  # nothing lies below 0
        (Choice(("lift", "probability")), "lift", ""),
        (Choice((7,)), 7, ""),
        (Range(0.01, 100, log=True), 99.0, "upper edge"),
        (Range(0.01, 100, log=True), 1.0, ""),
        (Range(1, 2), 1.01, "lower edge"),
        (Range(0, 1), 0.0, ""),
    ],
)
def test_an_optimum_on_the_edge_is_named(part, value, words):
    line = edge_line("thing", part, value)
    assert words in line
    assert bool(line) == bool(words)


def test_the_advice_of_a_search_names_its_edge_and_the_logits():
    train, valid, _ = tr.planted(300, 120, interactions=6000, random_state=3).split()
    found = tune("rg2", train, valid, space={"factors": Choice((1, 2)), "regularization": Choice((0.0, 0.1, 0.2))})
    assert any(line.startswith("factors = 2 is at the upper edge") for line in found.advice)
    assert any(line.startswith("mean |o| over all items") for line in found.advice)


@pytest.mark.parametrize(("scale", "words"), [(0.01, "holds (|o|"), (0.2, "only roughly"), (40.0, "outside")])
def test_the_taylor_regime(scale, words):
    model = tr.RG2(factors=3).fit(tr.planted(50, 30, interactions=500))
    model.user_factors_ = np.full_like(model.user_factors, scale)
    model.item_factors_ = np.ones_like(model.item_factors)
    line = taylor_line(model, random_state=0)
    assert words in line
    assert f"is {3 * scale:.2g}:" in line
