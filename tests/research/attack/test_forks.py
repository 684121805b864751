"""Forked processes: what they report, how they are killed, and that every bad end is noticed."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and kills as on Linux")

if sys.platform == "linux":
    from research.attack import Crash, Difference, Hang
    from research.attack.forks import Child, Moment, counted, done, killed
    from research.attack.operations import _last_or_next, digest, without_clock
    from taylorank.errors import DataError


def steps(report):
    for name in "abc":
        os.mkdir(name)
        report(name)


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "case"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("event", [1, 2, 3])
def test_it_is_killed_just_before_a_step_on_files(place, event):
    ended = killed(steps, place, Moment(event=event))
    assert ended.code == -signal.SIGKILL
    assert ended.reports == sorted(os.listdir(place)) == list("abc")[: event - 1]


def test_steps_are_counted(place):
    assert done(counted(steps, place), place)[-1] == {"events": 3}


def test_it_is_killed_after_some_time_unless_it_ends_before(place):
    assert killed(lambda report: time.sleep(60), place, Moment(seconds=0.05)).code == -signal.SIGKILL
    assert killed(steps, place, Moment(seconds=60.0)).code == 0


def failing(kind):
    def work(report):
        if kind == "abort":
            os.abort()
        if kind == "difference":
            raise Difference("other bits")
        if kind == "refused":
            raise DataError("no", "yes")
        raise KeyError("k")

    return work


@pytest.mark.parametrize(
    ("kind", "expected", "words"),
    [
        ("abort", "Crash", "signal 6"),
        ("difference", "Difference", "other bits"),
        ("refused", "Difference", "refused: no; yes"),
        ("anything", "Difference", "KeyError"),
    ],
)
def test_every_bad_end_is_noticed(place, kind, expected, words):
    with pytest.raises(Crash if expected == "Crash" else Difference, match=words):
        done(failing(kind), place)


def test_one_that_does_not_end_is_killed_and_says_where_it_was(place):
    child = Child(lambda report: time.sleep(60), place)
    with pytest.raises(Hang, match="test_forks"):
        child.wait(0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_what_was_reported_and_is_lost_is_found(place, monkeypatch):
    monkeypatch.chdir(place)
    contents = {}
    for name in "abc":
        (place / "out").write_text(name)
        contents[name] = digest("out")
    expected = {"reports": list(contents.items())}
    _last_or_next(expected, [["b", contents["b"]]])  # c is the next
    (place / "out").write_text("b")
    with pytest.raises(Difference, match="neither as before nor"):
        _last_or_next(expected, [["c", contents["c"]]])
    (place / "out").write_text("half")
    with pytest.raises(Difference):
        _last_or_next(expected, [])
    (place / "out").unlink()
    _last_or_next(expected, [])
    with pytest.raises(Difference, match="it is gone"):
        _last_or_next(expected, [["a", contents["a"]]])


def test_only_the_clock_may_differ():
    found = {"seconds": 1, "fit_seconds": 2, "runs": [{"value": 3, "tuning_seconds": 4}]}
    assert without_clock(found) == {"runs": [{"value": 3}]}
