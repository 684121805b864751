"""The search for models with a path, in its stages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_model import grouped

import taylorank as tr
from taylorank.selection import Choice, path_search, study, tune
from taylorank.selection.climbing import climb

SPACE = {
    "factors": Choice((2, 4, 8, 16, 32)),
    "regularization": Choice((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
    "proposal_exponent": Choice((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    "context_exponent": Choice((0.8, 1.0, 1.2, 1.4)),
}


@pytest.fixture(scope="module")
def parts():
    return tr.planted(400, 300, factors=24, interactions=16_000, random_state=3).split()


@pytest.fixture
def large(monkeypatch):
    """Treat small data as if a grid were out of the question."""
    monkeypatch.setattr(path_search, "GRID_WORK", 0)
    monkeypatch.setattr(path_search, "GRID_FITS", 0)
    monkeypatch.setattr(path_search, "SCREEN_RANK", 4)
    monkeypatch.setattr(path_search, "SAMPLE_USERS", 250)


class Clock:
    """Time that only fits and judgements take."""

    def __init__(self, monkeypatch, *, per_rank, first=1.0):
        self.now, self.fits = 0.0, []
        monkeypatch.setattr(study, "time", self)
        original = tr.RG2.fit

        def fit(model, *args, **kwargs):
            seconds = per_rank * model.factors * (1.0 if self.fits else first)
            self.now += seconds
            self.fits.append((model.factors, seconds))
            return original(model, *args, **kwargs)

        monkeypatch.setattr(tr.RG2, "fit", fit)

    def perf_counter(self):
        self.now += 1e-4
        return self.now


def test_the_stages_end_near_the_best_of_the_whole_grid(parts, large):
    train, valid, _ = parts
    found = tune("rg2", train, valid, space=SPACE, trials=20)
    exponents = itertools.product(SPACE["proposal_exponent"].values, SPACE["context_exponent"].values)
    values = [
        tr.evaluate(point, valid, k=10)["ndcg@10"]
        for gamma, rho in exponents
        for point in tr.RG2(factors=32, proposal_exponent=gamma, context_exponent=rho)
        .fit(train)
        .path(SPACE["factors"].values, SPACE["regularization"].values)
    ]
    assert found.value >= 0.97 * max(values)
    assert found.value <= max(values) + 1e-3
    assert found.value > sorted(values)[int(0.95 * len(values))]
    assert len(found.trials) < len(values) / 4


def test_screening_then_full_rank_then_all_users(parts, large):
    train, valid, _ = parts
    found = tune("rg2", train, valid, space=SPACE, trials=6)
    ranks = {}
    for trial in found.trials:
        ranks.setdefault(trial.fit, []).append(trial)
    assert all(trial.params["factors"] <= 4 for fit in range(5) for trial in ranks[fit])
    assert ranks[5][0].params["factors"] == 32  # one fit is kept for this
    users = np.count_nonzero(valid.by_user.row_lengths)
    last = [trial for trial in found.trials if trial.users == users]
    assert len(last) == path_search.FINALISTS
    assert all(trial.users == 250 for trial in found.trials if trial not in last)
    assert found.value == max(trial.value for trial in last)
    exact = tr.evaluate(tr.RG2(**found.best).fit(train), valid, k=10)["ndcg@10"]
    assert found.value == pytest.approx(exact, rel=0.02)


def test_the_same_trials_with_and_without_a_file(parts, large, tmp_path):
    train, valid, _ = parts
    plain = tune("rg2", train, valid, space=SPACE, trials=6)
    file = tmp_path / "trials.jsonl"
    tune(
        "rg2", train, valid, space=SPACE, trials=6, file=file, callback=lambda trial: len(trial.note) or trial.fit == 2
    )
    resumed = tune("rg2", train, valid, space=SPACE, trials=6, file=file)
    strip = [(t.params, t.value, t.fit, t.users) for t in plain.trials]
    assert [(t.params, t.value, t.fit, t.users) for t in resumed.trials] == strip


@pytest.mark.parametrize("seconds", [40.0, 100.0, 200.0])
def test_seconds_hold_with_the_last_fit(parts, large, monkeypatch, seconds):
    train, valid, _ = parts
    clock = Clock(monkeypatch, per_rank=1.0)
    found = tune("rg2", train, valid, space=SPACE, seconds=seconds, refit=True)
    assert clock.now <= seconds
    assert clock.fits[-1][0] == found.best["factors"]
    assert clock.now > 0.6 * seconds  # and are used


def test_a_rank_that_time_does_not_allow_is_left_alone(parts, large, monkeypatch):
    train, valid, _ = parts
    clock = Clock(monkeypatch, per_rank=1.0)
    tune("rg2", train, valid, space=SPACE, seconds=60.0, refit=True)
    assert max(rank for rank, _ in clock.fits) in (8, 16)


def test_few_seconds_reach_the_rank_that_is_best(large, monkeypatch):
    """128 groups of users: a small rank cannot tell them apart, whatever γ and ρ are."""
    train, valid, _ = grouped(640, 1280, groups=128).split()
    space = {**SPACE, "factors": Choice((4, 8, 16, 32, 64, 128))}
    small, full = (tr.evaluate(tr.RG2(rank).fit(train), valid, k=10)["ndcg@10"] for rank in (32, 128))
    assert full > 1.3 * small
    clock = Clock(monkeypatch, per_rank=1.0)
    found = tune("rg2", train, valid, space=space, seconds=600.0)
    assert clock.now <= 600
    assert found.best["factors"] == 128
    assert found.value >= 0.99 * full
    assert not found.unfinished


def test_a_slow_first_fit_does_not_settle_the_rank(large, monkeypatch):
    """The first fit of a process is slow: thirty times here, which would pay no second rank. Later ones are not."""
    train, valid, _ = grouped(640, 1280, groups=128).split()
    space = {**SPACE, "factors": Choice((4, 8, 16, 32, 64, 128))}
    clock = Clock(monkeypatch, per_rank=1.0, first=30.0)
    found = tune("rg2", train, valid, space=space, seconds=1000.0, refit=True)
    assert clock.fits[0][1] == 30 * clock.fits[0][0]
    assert clock.now <= 1000
    assert found.best["factors"] == 128


def test_time_that_pays_one_larger_fit_goes_to_it(large, monkeypatch):
    train, valid, _ = grouped(640, 1280, groups=128).split()
    space = {name: SPACE[name] for name in ("regularization", "proposal_exponent")} | {"factors": Choice((4, 16))}
    clock = Clock(monkeypatch, per_rank=1.0)
    found = tune("rg2", train, valid, space=space, seconds=60.0)
    assert [rank for rank, _ in clock.fits][:2] == [4, 16]
    assert found.best["factors"] == 16
    assert not any("ranks above" in line for line in found.unfinished)


def test_ranks_grow_fourfold_at_most(large, monkeypatch):
    """What a rank costs is estimated from a much smaller one, so a wrong estimate must not cost the whole budget."""
    train, valid, _ = grouped(640, 1280, groups=128).split()
    clock = Clock(monkeypatch, per_rank=1.0)
    space = {**SPACE, "factors": Choice((4, 8, 16, 32, 64, 128))}
    tune("rg2", train, valid, space=space, seconds=5000.0, callback=lambda trial: trial.fit == 3)
    assert [rank for rank, _ in clock.fits][:4] == [4, 16, 64, 128]


def test_ranks_that_were_not_reached_are_said(large, monkeypatch):
    train, valid, _ = grouped(640, 1280, groups=128).split()
    Clock(monkeypatch, per_rank=1.0)
    found = tune("rg2", train, valid, space={**SPACE, "factors": Choice((4, 8, 16, 32, 64, 128))}, seconds=100.0)
    assert found.best["factors"] < 128
    assert any("inconclusive: ranks above" in line for line in found.advice)


def test_ranks_beyond_the_data_are_cut(parts):
    train, valid, _ = parts
    found = tune("rg2", train, valid, space={"factors": Choice((4, 1000))}, trials=2)
    assert {trial.params["factors"] for trial in found.trials} == {4, 300}


def test_without_ranks_in_the_space_the_model_keeps_its_own(parts, large):
    train, valid, _ = parts
    found = tune(tr.RG2(factors=7), train, valid, space={"regularization": Choice((0.0, 0.2, 0.4))}, trials=3)
    assert found.model.factors == 7
    assert len({trial.fit for trial in found.trials}) == 1


def test_als_has_no_path_and_is_tuned_like_the_others(parts):
    train, valid, _ = parts
    found = tune(tr.RG2(solver="als", iterations=3), train, valid, space={"factors": Choice((2, 4))}, trials=2)
    assert found.method == "every combination"
    assert all(len(trial.step_values) > 0 for trial in found.trials)


places = st.integers(0, 8)


@given(places, places, places, places)
def test_finds_the_top_of_a_round_hill_without_asking_twice(a, b, top_a, top_b):
    asked = []

    def value(place):
        asked.append(tuple(place.values()))
        return -((place["a"] - top_a) ** 2) - 3 * (place["b"] - top_b) ** 2

    assert climb({"a": range(9), "b": range(9)}, {"a": a, "b": b}, value) == {"a": top_a, "b": top_b}
    assert len(asked) == len(set(asked)) <= 30


def test_a_place_without_a_value_is_left_alone():
    value = {0: 1.0, 1: float("-inf"), 2: 5.0}
    assert climb({"a": range(3)}, {"a": 0}, lambda p: value[p["a"]], steps=(1,)) == {"a": 0}


def test_the_start_is_looked_at_first_and_even_if_there_is_nowhere_to_go():
    asked = []
    climb({"a": range(1)}, {"a": 0}, lambda p: asked.append(dict(p)) or 1.0)
    assert asked == [{"a": 0}]
    climb({}, {}, lambda p: asked.append(dict(p)) or 1.0)
    assert asked[1:] == [{}]


def test_axes_hold_values_of_any_kind():
    value = {("few", 8): 1.0, ("few", 64): 2.0, ("many", 64): 3.0, ("many", 8): 0.0}
    axes = {"draws": ["few", "many"], "factors": [8, 64]}
    found = climb(axes, {"draws": "few", "factors": 8}, lambda at: value[at["draws"], at["factors"]])
    assert found == {"draws": "many", "factors": 64}
