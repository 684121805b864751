"""Estimates of what fits take."""

from __future__ import annotations

import pytest

import taylorank as tr
from taylorank.models.student_cost import seconds_per_step, steps_of
from taylorank.models.student_descent import Descent
from taylorank.selection import costs
from taylorank.selection.spaces import RANKS


@pytest.fixture(scope="module")
def data():
    return tr.planted(300, 40, interactions=3000, random_state=5)


def test_ranks_are_those_that_half_of_the_memory_holds(data, monkeypatch):
    each = costs.FACTOR_BYTES * 340
    for ranks, most in ((RANKS.values, 1024), (RANKS.values[:4], 64), (RANKS.values[:1], 1)):
        monkeypatch.setattr(costs, "available_memory", lambda most=most: 2 * most * each)
        assert costs.ranks_in_memory(data) == ranks
    monkeypatch.setattr(costs, "available_memory", lambda: None)
    assert costs.ranks_in_memory(data) == RANKS.values


def test_the_seconds_of_ease_grow_with_the_cube_of_the_items(data, monkeypatch):
    monkeypatch.setattr(costs, "product_rate", lambda: 2.0)
    assert costs.ease_seconds(data, 100, device="cpu") == 40**3 + 2 * 40 * 100


def test_the_steps_are_those_that_a_fit_makes(data, monkeypatch):
    student = tr.Distilled(tr.RG2(8), factors=4, epochs=3, steps=20)
    steps, batch = steps_of(student, data)
    learn, batches = Descent.learn, []

    def counted(self, users):
        batches.append(len(users))
        return learn(self, users)

    monkeypatch.setattr(Descent, "learn", counted)
    student.fit(data)
    assert len(batches) == steps
    assert max(batches) <= batch


def test_a_step_is_timed_on_batches_of_the_same_size(data, monkeypatch):
    student = tr.Distilled(tr.RG2(8), factors=4)
    sizes = []
    monkeypatch.setattr(Descent, "learn", lambda self, users: sizes.append((len(users), self.items.unit.shape)) or 0.0)
    assert seconds_per_step(student, data) > 0
    assert set(sizes) == {(steps_of(student, data)[1], (40, 4))}


def test_the_seconds_of_a_last_fit_are_those_of_the_best():
    train, valid = tr.planted(60, 30, interactions=700).split((0.9, 0.1))
    found = tr.tune("rg2", train, valid, trials=2)
    best = next(trial for trial in found.trials if trial.params == found.best)
    same = [trial.seconds for trial in found.trials if trial.fit == best.fit]
    assert 0 < costs.fit_of_best(found) <= max(same)  # which judge too
    del found.parts["fit of the best"]
    assert costs.fit_of_best(found) == max(same)
    assert costs.longest_trial(found) == max(trial.seconds for trial in found.trials)
