"""Killed at random moments, a few times, then run again: nothing is lost or half, and the end is the same."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from research.attack import Difference, Seen
from research.attack.forks import Child, Moment, Report, counted, done, killed
from research.attack.operations import OPERATIONS, Operation, start
from research.attack.reloading import kill_at_reload

NAMES = (*OPERATIONS, "reload")
_known: dict[tuple[str, int], dict[str, Any]] = {}  # what an undisturbed run gives, and how long it takes


def attack(seed: int, folder: Path) -> Seen:
    """Kill one operation; the seed says which, so that all are tried equally often."""
    rng, name = random.Random(seed), NAMES[seed % len(NAMES)]
    place = _fresh(folder)
    if name == "reload":
        kills = kill_at_reload(place, rng)
    else:
        variant = rng.randrange(len(OPERATIONS[name]))
        kills = _killed_and_resumed(OPERATIONS[name][variant], _expected(name, variant, folder), place, rng)
    return Seen("result", {f"kills of {name}": kills})


def _fresh(folder: Path) -> Path:
    """Return a new folder with the files that operations begin with, a temporary folder beside it."""
    origin, place = folder / "origin", folder / "case"
    if not origin.exists():
        origin.mkdir()
        done(lambda _: start(), origin)
    for one in (place, folder / "case.tmp"):
        shutil.rmtree(one, ignore_errors=True)
    shutil.copytree(origin, place)
    (folder / "case.tmp").mkdir()
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder / "case.tmp")
    return place


def _expected(name: str, variant: int, folder: Path) -> dict[str, Any]:
    """Return what an undisturbed run gives, its reports, and its seconds."""
    if (name, variant) not in _known:
        place, operation = folder / f"{name}{variant}", OPERATIONS[name][variant]
        shutil.copytree(folder / "origin", place, dirs_exist_ok=True)
        ended = Child(counted(operation.run, place), place).wait()
        if ended.code:
            raise Difference(f"{name} fails undisturbed: {ended.said[-300:]}")
        _known[name, variant] = {
            "result": done(lambda report: report(operation.result()), place)[0],
            "reports": ended.reports[:3],
            "seconds": ended.seconds,
            "events": ended.reports[-1]["events"],
        }
    return _known[name, variant]


def _killed_and_resumed(operation: Operation, expected: dict[str, Any], place: Path, rng: random.Random) -> int:
    """Return how often it was killed."""
    kills = 0
    reports: list[Any] = []
    undisturbed = {**expected["result"], "reports": expected["reports"]}
    for _ in range(rng.choice((2, 3, 4, 5))):
        ended = killed(operation.run, place, _moment(rng, expected))
        if ended.code not in (0, -9):
            raise Difference(f"exit code {ended.code} after {kills} kills: {' '.join(ended.said[-300:].split())}")
        kills += ended.code == -9
        reports.extend(ended.reports)
        done(lambda _: operation.whole(undisturbed, reports), place)
    done(operation.run, place)
    _compare(operation, expected["result"], place)
    return kills


def _moment(rng: random.Random, expected: dict[str, Any]) -> Moment:
    if rng.random() < 0.5:
        return Moment(seconds=rng.random() * expected["seconds"])
    return Moment(event=rng.randint(1, expected["events"]))


def _compare(operation: Operation, expected: Any, place: Path) -> None:
    def judge(report: Report) -> None:
        found = operation.result()
        if found != expected:
            raise Difference(f"the resumed result is another: {_where(expected, found)}")

    done(judge, place)
    left = sorted(set(os.listdir(place)) - {*os.listdir(place.parent / "origin"), *operation.keeps})
    left += os.listdir(os.environ["TMPDIR"])
    if left:
        raise Difference(f"left behind: {', '.join(left)}")


def _where(expected: Any, found: Any, place: str = "") -> str:
    """Return the first place at which two documents differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                return _where(expected.get(name), found.get(name), f"{place}/{name}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            if one != other:
                return _where(one, other, f"{place}/{number}")
    return f"{place}: {str(expected)[:80]} became {str(found)[:80]}"
