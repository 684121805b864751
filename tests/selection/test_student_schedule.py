"""A student's schedule is cut to what the seconds pay, and ends at a rate of 0 in any case."""

from __future__ import annotations

import time

import pytest

import taylorank as tr
from taylorank.models.student_cost import steps_of
from taylorank.models.student_descent import Descent
from taylorank.selection import student_schedule
from taylorank.selection.study import GRACE

STEP, TEACHING = 0.1, 3.0  # seconds


@pytest.fixture(scope="module")
def data():
    return tr.planted(300, 40, interactions=3000, random_state=5)


@pytest.fixture(scope="module")
def parts(data):
    return data.split((0.9, 0.1))


@pytest.fixture
def clock(monkeypatch):
    """Only steps and teachers take time; `descents` has all that made a step."""

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    clock = Clock()
    clock.descents = []
    learn, fit = Descent.learn, tr.RG2.fit

    def slow_learn(self, users):
        clock.now += STEP
        if self.step == 0:
            clock.descents.append(self)
        return learn(self, users)

    def slow_fit(self, *args, **how):
        clock.now += TEACHING
        return fit(self, *args, **how)

    monkeypatch.setattr(Descent, "learn", slow_learn)
    monkeypatch.setattr(tr.RG2, "fit", slow_fit)
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def fits(clock):
    """Of each fit: (steps made, steps planned)."""
    return [(one.step, one.plan.steps) for one in clock.descents if one.plan.steps > 3]  # others only time a step


STUDENT = {"factors": 4, "epochs": 40, "steps": 1}


def test_a_student_gets_fewer_epochs_or_none(data, monkeypatch):
    monkeypatch.setattr(student_schedule, "seconds_per_step", lambda *_: 1.0)
    student = tr.Distilled(tr.RG2(8), factors=4, epochs=20, steps=1)
    steps, batch = steps_of(student, data)
    per_epoch = -(-300 // batch)
    whole = student_schedule.student_seconds(student, data, lists=10.0)
    assert whole == pytest.approx(student_schedule.CAUTION * (10 + steps))
    assert student_schedule.affordable_student(student, data, whole, lists=10.0) == (whole, student)
    half = student_schedule.CAUTION * (10 + steps / 2)
    seconds, smaller = student_schedule.affordable_student(student, data, half + 1e-6, lists=10.0)
    assert smaller.epochs * per_epoch == steps / 2
    assert seconds == pytest.approx(half)
    assert student_schedule.student_seconds(smaller, data, lists=10.0) <= seconds
    assert student_schedule.affordable_student(
        student, data, student_schedule.CAUTION * (10 + steps / 5), lists=10.0
    ) == (whole, None)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.6, 2.0])
def test_no_fit_ends_on_the_way_and_the_seconds_are_kept(parts, clock, share, refit):
    student = tr.Distilled(tr.RG2(8), **STUDENT)
    whole = STEP * steps_of(student, parts[0])[0]
    seconds = TEACHING * (1 + refit) + share * whole * (1 + refit)
    found = tr.tune(student, *parts, seconds=seconds, refit=refit)
    made = fits(clock)
    assert len(made) >= 1 + refit
    assert found.best["epochs"] < 40
    assert found.steps is None
    assert all(steps == planned for steps, planned in made[: 1 + refit])
    assert found.overrun <= GRACE * seconds
    paid = made[0][1]
    assert any(f"the seconds pay {paid:,} of the student's" in line for line in found.advice)


def test_with_enough_seconds_the_schedule_is_its_own(parts, clock):
    student = tr.Distilled(tr.RG2(8), **STUDENT)
    whole = STEP * steps_of(student, parts[0])[0]
    found = tr.tune(student, *parts, seconds=TEACHING + 5 * whole)
    assert "epochs" not in found.best
    assert fits(clock)[0] == (200, 200)


def test_a_file_goes_on_with_its_schedule(parts, clock, tmp_path):
    student, file = tr.Distilled(tr.RG2(8), **STUDENT), tmp_path / "trials.jsonl"
    first = tr.tune(student, *parts, seconds=10.0, file=file)
    again = tr.tune(student, *parts, seconds=13.0, file=file)
    assert again.best["epochs"] == first.best["epochs"]
    assert [trial.params for trial in again.trials[: len(first.trials)]] == [trial.params for trial in first.trials]
