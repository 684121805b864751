"""`tune`: finds the best, keeps to its budget, survives interruption and failure."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import taylorank as tr
from taylorank.data import merge
from taylorank.errors import DataError, ParameterError
from taylorank.models.recommender import Recommender
from taylorank.selection import SPACES, Choice, Range, tune


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 120, interactions=6000, seed=3).split()


GRID = {
    "factors": Choice((2, 8, 24)),
    "regularization": Choice((0.0, 0.3, 0.6)),
    "proposal_exponent": Choice((0.2, 0.6, 1.0)),
    "context_exponent": Choice((0.8, 1.2)),
}


class Toy(Recommender):
    """Scores items by their number, turned by `shift`; can misbehave on demand."""

    def __init__(self, shift: float = 0.0, *, mode: str = "fine") -> None:
        self.shift = shift
        self.mode = mode

    def fit(self, train, valid=None, callback=None):
        if self.mode == "fails":
            raise RuntimeError("out of luck")
        if self.mode == "stops":
            raise KeyboardInterrupt
        if self.mode == "slow":
            time.sleep(0.05)
        self.train_ = train
        return self

    def scores(self, users):
        n = len(self.items)
        row = np.roll(np.arange(n, dtype=np.float32), int(self.shift))
        return np.broadcast_to(row, (len(users), n))


def table(found):
    return [(t.params, t.value, t.status, t.step_values, t.fit, t.users) for t in found.trials]


def test_the_path_search_finds_the_best_of_the_grid(parts):
    train, valid, _ = parts
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


def test_the_model_is_the_best_one_fitted_to_train(parts):
    train, valid, _ = parts
    found = tune("rg2", train, valid, space=GRID, trials=6)
    assert found.model.seen is train
    assert {name: found.model.get_params()[name] for name in found.best} == found.best
    assert tr.evaluate(found.model, valid, k=10)["ndcg@10"] == pytest.approx(found.value)
    assert found.refitted is False
    json.dumps(found.to_dict())


def test_refit_uses_validation_data_too(parts):
    train, valid, _ = parts
    found = tune("rg2", train, valid, space={"factors": Choice((4, 8))}, refit=True)
    assert found.refitted
    assert found.model.seen.nnz == train.nnz + valid.nnz
    again = tr.RG2(**found.best).fit(merge(train, valid))
    np.testing.assert_array_equal(found.model.user_factors, again.user_factors)


@pytest.mark.parametrize("name", ["rg2", "ials", "itemknn"])
def test_trials_are_a_budget_and_the_seed_gives_the_same_ones(parts, name):
    train, valid, _ = parts
    small = {"factors": Choice((4, 8))} if "factors" in SPACES[name] else {}
    space = {**SPACES[name], **small}
    one, two, other = (tune(name, train, valid, space=space, trials=4, seed=seed) for seed in (0, 0, 1))
    assert len({trial.fit for trial in one.trials}) == 4
    assert table(one) == table(two)
    if name != "rg2":
        assert [t.params for t in other.trials] != [t.params for t in one.trials]
    assert one.budget == {"trials": 4, "seconds": None}


def test_seconds_are_a_budget(parts):
    train, valid, _ = parts
    found = tune(Toy(mode="slow"), train, valid, space={"shift": Range(0, 100)}, seconds=0.4)
    assert 2 <= len(found.trials) <= 8
    found = tune("rg2", train, valid, space={**GRID, "proposal_exponent": Range(0, 1)}, seconds=1e-6)
    assert len({trial.fit for trial in found.trials}) == 1


@pytest.mark.parametrize("name", ["rg2", "ials"])
def test_a_run_resumes_from_its_file_with_the_same_table(parts, tmp_path, name):
    train, valid, _ = parts
    space = {**SPACES[name], "factors": Choice((4, 8))}
    how = {"space": space, "trials": 8, "seed": 5}
    whole = tune(name, train, valid, **how)
    file = tmp_path / "trials.jsonl"
    first = tune(name, train, valid, file=file, callback=lambda trial: trial.fit == 3, **how)
    assert 0 < len(first.trials) < len(whole.trials)
    resumed = tune(name, train, valid, file=file, **how)
    assert table(resumed) == table(whole)
    assert resumed.best == whole.best
    assert resumed.trials[: len(first.trials)] == first.trials  # not computed again: even the times are those
    again = tune(name, train, valid, file=file, **how)
    assert again.trials == resumed.trials
    np.testing.assert_array_equal(again.model.user_factors, whole.model.user_factors)


def test_an_interrupted_run_returns_what_it_knows_and_resumes(parts, tmp_path):
    train, valid, _ = parts
    file = tmp_path / "trials.jsonl"
    space = {"shift": Choice(tuple(range(12)))}
    whole = tune(Toy(), train, valid, space=space, trials=12)
    told = []

    def interrupt(trial):
        told.append(trial)
        if len(told) == 5:
            raise KeyboardInterrupt

    first = tune(Toy(), train, valid, space=space, trials=12, file=file, callback=interrupt)
    assert first.status == "interrupted"
    assert first.trials == told
    assert first.value == max(trial.value for trial in told)
    resumed = tune(Toy(), train, valid, space=space, trials=12, file=file)
    assert resumed.status == "complete"
    assert table(resumed) == table(whole)


def test_an_interruption_before_any_result_is_one(parts):
    train, valid, _ = parts
    with pytest.raises(KeyboardInterrupt):
        tune(Toy(mode="stops"), train, valid, space={"shift": Range(0, 9)})


def test_a_cut_off_last_line_is_dropped(parts, tmp_path):
    train, valid, _ = parts
    file = tmp_path / "trials.jsonl"
    how = {"space": {"shift": Choice((0, 1, 2, 3))}, "trials": 4, "file": file}
    whole = tune(Toy(), train, valid, **how)
    file.write_text(file.read_text()[:-20])
    resumed = tune(Toy(), train, valid, **how)
    assert table(resumed) == table(whole)
    assert [json.loads(line)["params"] for line in file.read_text().splitlines()[1:]] == [
        trial.params for trial in whole.trials
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "recall@10"}, 'metric "ndcg@10", this run "recall@10"'),
        ({"seed": 1}, "seed 0, this run 1"),
        ({"model": Toy(mode="slow")}, "fixed"),
        ({"model": "itemknn", "space": None}, 'model "Toy"'),
        ({"space": {"shift": Choice((0, 1))}}, "space"),
        ({"swap": True}, "train"),
        ({"seen": []}, "seen"),
    ],
)
def test_a_file_of_another_run_is_refused(parts, tmp_path, change, words):
    train, valid, _ = parts
    file = tmp_path / "trials.jsonl"
    space = {"shift": Choice((0, 1, 2, 3))}
    tune(Toy(), train, valid, space=space, file=file)
    before = file.read_text()
    how = {"model": Toy(), "space": space, "file": file, **change}
    a, b = (valid, train) if how.pop("swap", False) else (train, valid)
    with pytest.raises(DataError, match=r"another file") as refusal:
        tune(how.pop("model"), a, b, **how)
    assert words in str(refusal.value)
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello\n", "not the file of a tuning run"),
        ('{"a": 1}\n', "not the file of a tuning run"),
        ("[]\n", "not the file of a tuning run"),
        ("HEADER\nnonsense\n{}\n", "line 2"),
        ('HEADER\n{"params": {}}\n', "not a trial"),
        (b"\xff\xfe\x00", "cannot read"),
    ],
)
def test_garbage_in_the_file_is_refused(parts, tmp_path, content, words):
    train, valid, _ = parts
    file = tmp_path / "trials.jsonl"
    tune(Toy(), train, valid, space={"shift": Choice((0, 1))}, file=file)
    header = file.read_text().splitlines()[0]
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content.replace("HEADER", header))
    with pytest.raises(DataError, match=words):
        tune(Toy(), train, valid, space={"shift": Choice((0, 1))}, file=file)


def test_a_failing_trial_is_recorded_and_the_run_goes_on(parts):
    train, valid, _ = parts
    found = tune(Toy(), train, valid, space={"mode": Choice(("fine", "fails")), "shift": Choice((0, 1))}, trials=4)
    failed = [trial for trial in found.trials if trial.status == "failed"]
    assert len(failed) == 2
    assert all(t.value is None and t.note == "RuntimeError: out of luck" for t in failed)
    assert found.best["mode"] == "fine"
    assert any("2 of 4 trials failed" in line for line in found.advice)


def test_a_failing_fit_of_a_path_is_tried_once_and_the_run_goes_on(parts, monkeypatch):
    train, valid, _ = parts
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


def test_a_metric_that_is_not_a_number_is_a_failure(parts, monkeypatch):
    train, valid, _ = parts
    from taylorank.selection.judge import Judge

    original = Judge.value
    monkeypatch.setattr(Judge, "value", lambda self, m: float("nan") if m.shift == 1 else original(self, m))
    found = tune(Toy(), train, valid, space={"shift": Choice((0, 1, 2))})
    notes = {trial.params["shift"]: (trial.status, trial.note) for trial in found.trials}
    assert notes[1] == ("failed", "ndcg@10 is nan")
    assert found.best["shift"] != 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_nothing_but_failures_is_an_error(parts):
    train, valid, _ = parts
    with pytest.raises(DataError, match=r"none of 2 trials gave a value.*out of luck"):
        tune(Toy(mode="fails"), train, valid, space={"shift": Choice((0, 1))})


def test_random_search_without_optuna(parts, monkeypatch):
    train, valid, _ = parts
    monkeypatch.setitem(sys.modules, "optuna", None)
    one, two = (tune(Toy(), train, valid, space={"shift": Range(0, 100)}, trials=6) for _ in range(2))
    assert "random search" in one.method
    assert "taylorank[tune]" in one.method
    assert table(one) == table(two)
    assert len({trial.params["shift"] for trial in one.trials}) == 6


def test_optuna_is_used_where_it_is(parts):
    pytest.importorskip("optuna")
    train, valid, _ = parts
    found = tune(Toy(), train, valid, space={"shift": Range(0, 119)}, trials=25)
    assert found.method == "Optuna TPE"
    assert len({trial.params["shift"] for trial in found.trials}) > 20


FORGETS = """
import gc, weakref
import taylorank as tr
from taylorank.selection import Range, tune

gc.disable()
fitted = []

class Watched(tr.EASE):
    def fit(self, *given, **more):
        fitted.append(weakref.ref(self))
        return super().fit(*given, **more)

def search():
    train, valid, _ = tr.planted(60, 30, interactions=600).split()
    found = tune(Watched(), train, valid, space={"regularization": Range(1.0, 100.0)}, trials=3)
    assert sum(model() is not None for model in fitted) == 1, "more than the best is kept"
    return found.best

search()
print(len(fitted), sum(model() is not None for model in fitted))
"""


def test_no_model_outlives_a_search():
    """In a process of its own, where Optuna, if it is there, is imported for the first time."""
    said = subprocess.run([sys.executable, "-c", FORGETS], capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["3", "0"], said.stderr


@pytest.mark.parametrize("with_optuna", [True, False])
def test_hopeless_fits_are_given_up_after_a_few_sweeps(parts, monkeypatch, with_optuna):
    train, valid, _ = parts
    if with_optuna:
        pytest.importorskip("optuna")
    else:
        monkeypatch.setitem(sys.modules, "optuna", None)
    space = {"regularization": Range(1e-4, 30.0, log=True), "nu": Range(0.0, 1.0)}
    found = tune(tr.IALS(factors=8, iterations=8), train, valid, space=space, trials=16)
    pruned = [trial for trial in found.trials if trial.status == "pruned"]
    whole = [trial for trial in found.trials if trial.status == "complete"]
    assert pruned
    assert all(3 < len(trial.step_values) <= 8 and trial.value is None for trial in pruned)
    assert all(len(trial.step_values) == 8 for trial in whole)
    assert all(trial.step_values[-1] == pytest.approx(trial.value, abs=1e-5) for trial in whole)  # 300 users: all


def test_no_parameters_is_one_trial(parts):
    train, valid, _ = parts
    found = tune("popularity", train, valid)
    assert (found.best, len(found.trials)) == ({}, 1)
    assert found.value == pytest.approx(tr.evaluate(tr.Popularity().fit(train), valid, k=10)["ndcg@10"])


def test_seen_is_left_out(parts):
    train, valid, _ = parts
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
def test_bad_arguments_are_refused(parts, how, words):
    train, valid, _ = parts
    with pytest.raises(ParameterError, match=words):
        tune(how.pop("model", "rg2"), train, valid, **how)


def test_empty_validation_data_is_refused(parts):
    train, valid, _ = parts
    with pytest.raises(DataError, match="validation data has no interactions"):
        tune("rg2", train, valid.select(np.zeros(valid.nnz, dtype=bool), "nothing"))


def test_an_interrupted_last_fit_keeps_what_was_found(parts, monkeypatch):
    train, valid, _ = parts
    original = tr.ItemKNN.fit

    def fit(self, data, *args, **kwargs):
        if data.nnz > train.nnz:
            raise KeyboardInterrupt
        return original(self, data, *args, **kwargs)

    monkeypatch.setattr(tr.ItemKNN, "fit", fit)
    found = tune("itemknn", train, valid, trials=3, refit=True)
    assert (found.status, found.refitted, found.model) == ("interrupted", False, None)
    assert found.value == max(trial.value for trial in found.trials)


def test_a_space_of_plain_lists_is_refused(parts):
    with pytest.raises(ParameterError, match="factors"):
        tune("rg2", *parts[:2], space={"factors": [2, 4]})


def test_the_file_takes_the_numbers_of_numpy(parts, tmp_path):
    model, file = tr.IALS(factors=np.int64(4), iterations=2), tmp_path / "trials.jsonl"
    space = {"unobserved_weight": Choice((np.float32(0.1), np.float64(0.5))), "nu": Choice((np.int64(1),))}
    first = tune(model, *parts[:2], space=space, file=file)
    lines = file.read_text()
    assert [t.value for t in tune(model, *parts[:2], space=space, file=file).trials] == [t.value for t in first.trials]
    assert file.read_text() == lines


def test_a_file_goes_on_with_other_threads_but_not_with_other_histories(parts, tmp_path):
    train, valid, test = parts
    space, file = {"regularization": Choice((0.01, 0.1))}, tmp_path / "trials.jsonl"
    tune(tr.IALS(factors=4, iterations=2, num_threads=1), train, valid, space=space, file=file)
    lines = file.read_text()
    tune(tr.IALS(factors=4, iterations=2, num_threads=2), train, valid, space=space, file=file)
    assert file.read_text() == lines
    with pytest.raises(DataError, match="fold_in"):
        tune(tr.IALS(factors=4, iterations=2), train, valid, space=space, file=file, fold_in=test)


def test_every_search_begins_with_the_models_own_values():
    train, valid, _ = tr.planted(60, 30, interactions=700).split()
    own = tr.IALS(factors=4, unobserved_weight=0.02, regularization=0.007)
    space = {"unobserved_weight": Range(0.001, 1.0, log=True), "regularization": Range(0.01, 0.1, log=True)}
    found = tr.tune(own, train, valid, space=space, trials=2)
    assert found.trials[0].params == {"unobserved_weight": 0.02, "regularization": 0.01}
    assert found.trials[1].params != found.trials[0].params


def test_a_falling_rate_is_judged_at_its_end_alone_and_its_epochs_are_searched(monkeypatch):
    pytest.importorskip("torch")
    train, valid, _ = tr.planted(60, 30, interactions=900).split(seed=0)
    model = tr.Neural("softmax", factors=4, epochs=8, batch_size=32)
    trials = tune(model, train, valid, trials=4).trials
    assert all(trial.step_values == () and 1 <= trial.params["epochs"] <= 8 for trial in trials)
    assert len({trial.params["epochs"] for trial in trials}) > 1
    steady = tune(model.set_params(schedule="constant"), train, valid, trials=1).trials
    assert len(steady[0].step_values) == steady[0].params["epochs"]
