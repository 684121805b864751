"""Search with a fit for every setting: who proposes them, and which are given up."""

from __future__ import annotations

import subprocess
import sys

import pytest
from toy_model import Toy, table

import taylorank as tr
from taylorank.selection import Choice, Range, tune
from taylorank.selection.ranges import Steps


def test_random_search_without_optuna(small_parts, monkeypatch):
    train, valid, _ = small_parts
    monkeypatch.setitem(sys.modules, "optuna", None)
    one, two = (tune(Toy(), train, valid, space={"shift": Range(0, 100)}, trials=6) for _ in range(2))
    assert "random search" in one.method
    assert "taylorank[tune]" in one.method
    assert table(one) == table(two)
    assert len({trial.params["shift"] for trial in one.trials}) == 6


def test_optuna_is_used_where_it_is(small_parts):
    pytest.importorskip("optuna")
    train, valid, _ = small_parts
    found = tune(Toy(), train, valid, space={"shift": Range(0, 119)}, trials=25)
    assert found.method == "Optuna TPE"
    assert len({trial.params["shift"] for trial in found.trials}) > 20


def test_steps_are_climbed_from_the_models_own_value(small_parts):
    """Whatever the value of `Toy` by shift is: no neighbour of the summit is higher, and nothing is tried twice."""
    train, valid, _ = small_parts
    shifts = tuple(range(0, 120, 10))
    found = tune(Toy(37), train, valid, space={"shift": Steps(shifts)}, seconds=60)
    assert found.method == "steps along one parameter at a time"
    tried = {trial.params["shift"]: trial.value for trial in found.trials}
    assert found.trials[0].params == {"shift": 40}
    assert len(tried) == len(found.trials) < len(shifts)
    every = {shift: tune(Toy(), train, valid, space={"shift": [shift]}, trials=1).value for shift in shifts}
    best = found.best["shift"]
    assert all(every[best] >= every[near] for near in (best - 20, best - 10, best + 10, best + 20) if near in every)


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
def test_fits_far_behind_are_pruned_after_a_few_sweeps(small_parts, monkeypatch, with_optuna):
    train, valid, _ = small_parts
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


def test_every_search_begins_with_the_models_own_values():
    train, valid, _ = tr.planted(60, 30, interactions=700).split()
    own = tr.IALS(factors=4, unobserved_weight=0.02, regularization=0.007)
    space = {"unobserved_weight": Range(0.001, 1.0, log=True), "regularization": Range(0.01, 0.1, log=True)}
    found = tr.tune(own, train, valid, space=space, trials=2)
    assert found.trials[0].params == {"unobserved_weight": 0.02, "regularization": 0.01}
    assert found.trials[1].params != found.trials[0].params


@pytest.mark.parametrize("with_optuna", [True, False])
def test_models_try_the_same_values_of_a_parameter_that_they_share(small_parts, monkeypatch, with_optuna):
    train, valid, _ = small_parts
    if with_optuna:
        pytest.importorskip("optuna")
    else:
        monkeypatch.setitem(sys.modules, "optuna", None)
    common = {"regularization": Range(1e-4, 0.1, log=True), "factors": Choice((2, 3, 4))}
    more = {"unobserved_weight": Range(0.01, 1.0, log=True), **common, "nu": Range(0.0, 1.0)}
    models = {"plain": (tr.RG2(2, solver="als", iterations=1), common), "more": (tr.IALS(2, iterations=1), more)}
    tried = {
        name: [
            {n: trial.params[n] for n in common} for trial in tune(model, train, valid, space=space, trials=6).trials
        ]
        for name, (model, space) in models.items()
    }
    assert tried["plain"][2:] == tried["more"][2:]  # the first two have the models' own values
    assert len({str(params) for params in tried["plain"]}) == 6
    assert tried["plain"][1] == {**tried["plain"][0], "factors": 4}  # the largest rank


def test_a_falling_rate_is_judged_at_its_end_alone_and_its_epochs_are_searched(monkeypatch):
    pytest.importorskip("torch")
    train, valid, _ = tr.planted(60, 30, interactions=900).split(random_state=0)
    model = tr.Neural("softmax", factors=4, epochs=8, batch_size=32)
    trials = tune(model, train, valid, trials=4).trials
    assert all(trial.step_values == () and 1 <= trial.params["epochs"] <= 8 for trial in trials)
    assert len({trial.params["epochs"] for trial in trials}) > 1
    steady = tune(model.set_params(schedule="constant"), train, valid, trials=1).trials
    assert len(steady[0].step_values) == steady[0].params["epochs"]
