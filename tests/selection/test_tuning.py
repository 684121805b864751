"""`tune`: finds the best, keeps to its budget, survives interruption and failure."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from toy_model import Clock, Toy, table

import taylorank as tr
from taylorank.data import merge
from taylorank.errors import DataError, MemoryLimitError, ParameterError
from taylorank.selection import SPACES, Choice, Range, tune

GRID = {
    "factors": Choice((2, 8, 24)),
    "regularization": Choice((0.0, 0.3, 0.6)),
    "proposal_exponent": Choice((0.2, 0.6, 1.0)),
    "context_exponent": Choice((0.8, 1.2)),
}


def test_the_path_search_finds_the_best_of_the_grid(small_parts):
    train, valid, _ = small_parts
    found = tune("rg2", train, valid, space=GRID, trials=6)
    values = {}
    for point in itertools.product(*(part.values for part in GRID.values())):
        params = dict(zip(GRID, point, strict=True))
        values[point] = tr.evaluate(tr.RG2(**params).fit(train), valid, k=10)["ndcg@10"]
    best = max(values.values())
    assert found.value == pytest.approx(best, rel=2e-3)
    assert values[tuple(found.best.values())] == pytest.approx(best, rel=2e-3)
    assert len(found.trials) == len(values) == 54
    assert len({trial.fit for trial in found.trials}) == 6
    for trial in found.trials:
        assert trial.value == pytest.approx(values[tuple(trial.params.values())], rel=0.02)


def test_the_model_is_the_best_one_fitted_to_train(small_parts):
    train, valid, _ = small_parts
    found = tune("rg2", train, valid, space=GRID, trials=6)
    assert found.model.seen is train
    assert {name: found.model.get_params()[name] for name in found.best} == found.best
    assert tr.evaluate(found.model, valid, k=10)["ndcg@10"] == pytest.approx(found.value)
    assert found.refitted is False
    json.dumps(found.to_dict())


def test_refit_uses_validation_data_too(small_parts):
    train, valid, _ = small_parts
    found = tune("rg2", train, valid, space={"factors": Choice((4, 8))}, refit=True)
    assert found.refitted
    assert found.model.seen.nnz == train.nnz + valid.nnz
    again = tr.RG2(**found.best).fit(merge(train, valid))
    np.testing.assert_array_equal(found.model.user_factors, again.user_factors)


@pytest.mark.parametrize("name", ["rg2", "ials", "itemknn"])
def test_trials_are_a_budget_and_the_seed_gives_the_same_ones(small_parts, name):
    train, valid, _ = small_parts
    small = {"factors": Choice((4, 8))} if "factors" in SPACES[name] else {}
    space = {**SPACES[name], **small}
    one, two, other = (tune(name, train, valid, space=space, trials=4, random_state=seed) for seed in (0, 0, 1))
    assert len({trial.fit for trial in one.trials}) == 4
    assert table(one) == table(two)
    if name != "rg2":
        assert [t.params for t in other.trials] != [t.params for t in one.trials]
    assert one.budget == {"trials": 4, "seconds": None}


def test_seconds_are_a_budget(small_parts, monkeypatch):
    train, valid, _ = small_parts
    with monkeypatch.context() as patched:
        patched.setattr("time.perf_counter", Clock.perf_counter)  # 0.05 s a fit, however busy the machine is
        found = tune(Toy(mode="slow"), train, valid, space={"shift": Range(0, 100)}, seconds=0.4)
    assert len(found.trials) in (7, 8)
    found = tune("rg2", train, valid, space={**GRID, "proposal_exponent": Range(0, 1)}, seconds=1e-6)
    assert len({trial.fit for trial in found.trials}) == 1


def test_an_interruption_before_any_result_is_one(small_parts):
    train, valid, _ = small_parts
    with pytest.raises(KeyboardInterrupt):
        tune(Toy(mode="stops"), train, valid, space={"shift": Range(0, 9)})


def test_a_failing_trial_is_recorded_and_the_run_goes_on(small_parts):
    train, valid, _ = small_parts
    found = tune(Toy(), train, valid, space={"mode": Choice(("fine", "fails")), "shift": Choice((0, 1))}, trials=4)
    failed = [trial for trial in found.trials if trial.status == "failed"]
    assert len(failed) == 2
    assert all(t.value is None and t.note == "RuntimeError: out of luck" for t in failed)
    assert found.best["mode"] == "fine"
    assert any("2 of 4 trials failed" in line for line in found.advice)


def test_a_failing_fit_of_a_path_is_tried_once_and_the_run_goes_on(small_parts, monkeypatch):
    train, valid, _ = small_parts
    fits = []
    original = tr.RG2.fit

    def fit(self, *args, **kwargs):
        fits.append(self.proposal_exponent)
        if self.proposal_exponent == 0.6:
            raise MemoryError("too large")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(tr.RG2, "fit", fit)
    space = {"proposal_exponent": Choice((0.2, 0.6, 1.0)), "regularization": Choice((0.0, 0.2))}
    found = tune(tr.RG2(factors=4), train, valid, space=space, trials=3)
    assert fits == [0.2, 0.6, 1.0]
    assert [t.status for t in found.trials] == ["complete", "complete", "failed", "failed", "complete", "complete"]


@pytest.mark.parametrize("kind", [MemoryError, MemoryLimitError])
def test_a_lack_of_memory_is_not_kept_for_runs_that_may_have_more(small_parts, monkeypatch, tmp_path, kind):
    train, valid, _ = small_parts
    original, space = Toy.fit, {"shift": Choice((0, 1, 2))}

    def fit(self, *args, **kwargs):
        if self.shift == 1:
            raise kind("too large", "a remedy") if kind is MemoryLimitError else kind("too large")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Toy, "fit", fit)
    few = tune(Toy(), train, valid, space=space, trials=3, file=tmp_path / "t.jsonl")
    assert sorted(trial.status for trial in few.trials) == ["complete", "complete", "failed"]
    monkeypatch.setattr(Toy, "fit", original)
    again = tune(Toy(), train, valid, space=space, trials=3, file=tmp_path / "t.jsonl")
    plain = tune(Toy(), train, valid, space=space, trials=3)
    assert [(t.params, t.value) for t in again.trials] == [(t.params, t.value) for t in plain.trials]


def test_a_metric_that_is_not_a_number_is_a_failure(small_parts, monkeypatch):
    train, valid, _ = small_parts
    from taylorank.selection.judge import Judge

    original = Judge.value
    monkeypatch.setattr(Judge, "value", lambda self, m: float("nan") if m.shift == 1 else original(self, m))
    found = tune(Toy(), train, valid, space={"shift": Choice((0, 1, 2))})
    notes = {trial.params["shift"]: (trial.status, trial.note) for trial in found.trials}
    assert notes[1] == ("failed", "ndcg@10 is nan")
    assert found.best["shift"] != 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_nothing_but_failures_is_an_error(small_parts):
    train, valid, _ = small_parts
    with pytest.raises(DataError, match=r"none of 2 trials gave a value.*out of luck"):
        tune(Toy(mode="fails"), train, valid, space={"shift": Choice((0, 1))})


def test_no_parameters_is_one_trial(small_parts):
    train, valid, _ = small_parts
    found = tune("popularity", train, valid)
    assert (found.best, len(found.trials)) == ({}, 1)
    assert found.value == pytest.approx(tr.evaluate(tr.Popularity().fit(train), valid, k=10)["ndcg@10"])


def test_seen_is_left_out(small_parts):
    train, valid, _ = small_parts
    usual, nothing = (tune("popularity", train, valid, seen=seen) for seen in (None, []))
    assert nothing.value < usual.value


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"metric": "ndcg"}, "'ndcg' has no cutoff"),
        ({"metric": "ndcg@0"}, "no cutoff"),
        ({"metric": "ndgc@10"}, "no metric is called 'ndgc'"),
        ({"metric": "ece@10"}, "lower is better"),
        ({"trials": 0}, "trials=0"),
        ({"trials": 2.5}, "trials=2.5"),
        ({"seconds": 0}, "seconds=0"),
        ({"seconds": float("nan")}, "seconds=nan"),
        ({"space": {"depth": Range(0, 1)}}, "no parameter 'depth'"),
        ({"model": "rg7"}, "no model is called 'rg7'"),
        ({"model": object()}, "is not a model"),
        ({"model": Toy()}, "Toy has no default space"),
    ],
)
def test_bad_arguments_are_refused(small_parts, how, words):
    train, valid, _ = small_parts
    with pytest.raises(ParameterError, match=words):
        tune(how.pop("model", "rg2"), train, valid, **how)


def test_empty_validation_data_is_refused(small_parts):
    train, valid, _ = small_parts
    with pytest.raises(DataError, match="validation data has no interactions"):
        tune("rg2", train, valid.select(np.zeros(valid.nnz, dtype=bool), "nothing"))


def test_an_interrupted_last_fit_keeps_what_was_found(small_parts, monkeypatch):
    train, valid, _ = small_parts
    original = tr.ItemKNN.fit

    def fit(self, data, *args, **kwargs):
        if data.nnz > train.nnz:
            raise KeyboardInterrupt
        return original(self, data, *args, **kwargs)

    monkeypatch.setattr(tr.ItemKNN, "fit", fit)
    found = tune("itemknn", train, valid, trials=3, refit=True)
    assert (found.status, found.refitted, found.model) == ("interrupted", False, None)
    assert found.value == max(trial.value for trial in found.trials)


def test_a_space_of_plain_numbers_is_refused(small_parts):
    with pytest.raises(ParameterError, match="factors"):
        tune("rg2", *small_parts[:2], space={"factors": 4})


@pytest.mark.parametrize("solver", ["spectral", "als"])
@pytest.mark.parametrize(
    "part", [{}, {"factors": Choice((100, 200))}, {"factors": Range(100, 200, integer=True)}], ids=str
)
def test_ranks_that_the_data_does_not_have_are_cut_with_a_word(small_parts, solver, part):
    train, valid, _ = small_parts
    model = tr.RG2(500, solver=solver, iterations=3)
    found = tr.tune(model, train, valid, space={**part, "regularization": Choice((0.2, 0.3))}, trials=4, refit=True)
    assert found.model.factors <= 120
    assert not [trial for trial in found.trials if trial.status == "failed"]
    assert "ranks above 120, the smaller side of the data, were cut to it" in found.advice
    assert not any("search above 200" in line or "search above 120" in line for line in found.advice)
    assert model.factors == 500
    with pytest.raises(ParameterError, match="factors=500 exceeds the smaller side of the data"):
        model.fit(train)
    within = tr.tune(tr.RG2(20), train, valid, space={"factors": Choice((10, 20))})
    assert not any("were cut" in line for line in within.advice)
