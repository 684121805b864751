"""Commands under limits and signals, beside others, after forks and in threads: whole results, or one line."""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

from research.attack import Crash, Difference, Seen
from research.attack.commands import COMMANDS, contents, judged, left_behind, nothing_half, run_command
from research.attack.concurrency import ALONGSIDE
from research.attack.forks import Child, Report, done
from research.attack.limits import DISKS, LIMITS, NotAllowed
from research.attack.operations import start

SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
NAMES = (*DISKS, *LIMITS, *SIGNALS, *ALONGSIDE)
ENDINGS = (0, 2, 130, 143)
KEPT = {"kept", "c.json.users", "c.json.ease.0.tuning"}  # the same command takes them up
_undisturbed: dict[str, dict[str, Any]] = {}


def attack(seed: int, folder: Path) -> Seen:
    """Try one command under one circumstance; the seed says which, so that all are tried equally often."""
    rng, name = random.Random(seed), NAMES[seed % len(NAMES)]
    place = _fresh(folder)
    if name in ALONGSIDE:
        done(lambda report: ALONGSIDE[name](place, rng), place)
        return Seen("result", {name: 1})
    command = rng.choice(tuple(COMMANDS))
    if rng.random() < 0.5:  # over an older output
        shutil.copyfile(place / "b.tr", place / "m.tr")
    expected = _expected(command, folder)
    if name in DISKS or name in LIMITS:
        outcome = _limited(name, command, expected, place, rng)
    else:
        outcome = _signalled(SIGNALS[name], command, expected, place, rng)
    return Seen(outcome, {name: int(outcome != "skipped")})


def _fresh(folder: Path) -> Path:
    origin, place = folder / "origin", folder / "case"
    if not origin.exists():
        origin.mkdir()
        done(lambda _: start(), origin)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(origin, place)
    return place


def _expected(command: str, folder: Path) -> dict[str, Any]:
    """Return what an undisturbed run leaves, and its seconds."""
    if command not in _undisturbed:
        place = folder / command
        shutil.copytree(folder / "origin", place, dirs_exist_ok=True)

        def run(report: Report) -> None:
            judged(command, *run_command(command), allowed=(0,))
            report(contents(command))

        ended = Child(run, place).wait()
        if ended.code:
            raise Difference(f"{command} fails undisturbed: {ended.said[-300:]}")
        _undisturbed[command] = {"contents": ended.reports[0], "seconds": ended.seconds}
    return _undisturbed[command]


def _limited(name: str, command: str, expected: dict[str, Any], place: Path, rng: random.Random) -> str:
    """Run under a limit, then again without it, each in a process of its own below one that sees the small disk."""
    there = set(os.listdir(place))

    def limited(report: Report) -> None:
        before = contents(command)
        try:
            if name in LIMITS:
                LIMITS[name](place, rng)
        except NotAllowed:
            report({"code": None, "before": before})
            return
        code, said = run_command(command)
        judged(f"{name}, {command}", code, said)
        report({"code": code, "before": before})

    def look(before: dict[str, Any]) -> None:
        nothing_half(command, before, expected["contents"])
        left = [one for one in left_behind(command, there) if one not in KEPT]
        if name != "few handles" and left:  # a folder cannot be removed without one; the next writer removes it
            raise Difference(f"{name}, {command}: left behind {sorted(left)}")

    def all_of_it(report: Report) -> None:
        try:
            release = DISKS[name](place, rng) if name in DISKS else None
            found = done(limited, place)[-1]
        except NotAllowed:
            found = {"code": None}
        if found["code"] is None:
            report("skipped")
            return
        if release is not None:
            release()
        done(lambda _: look(found["before"]), place)
        done(lambda _: _again(command, expected, there), place)
        report("result" if found["code"] == 0 else "refused")

    outcome: str = done(all_of_it, place)[-1]
    return outcome


def _again(command: str, expected: dict[str, Any], there: set[str]) -> None:
    """Run once more, undisturbed: it ends with what an undisturbed run leaves."""
    judged(command, *run_command(command), allowed=(0,))
    for output, content in contents(command).items():
        if content != expected["contents"][output]:
            raise Difference(f"{command}: {output} is another than undisturbed")
    if left := left_behind(command, there):
        raise Difference(f"{command}: left behind {left}")


def _signalled(number: int, command: str, expected: dict[str, Any], place: Path, rng: random.Random) -> str:
    """Send a signal at a random moment, then run the command again."""
    there = set(os.listdir(place))

    def work(report: Report) -> None:
        report("began")
        code, said = run_command(command)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        report({"code": code, "said": said})

    before = done(lambda report: report(contents(command)), place)[0]
    child = Child(work, place)
    child.wait_until(rng.random() * expected["seconds"])
    os.kill(child.pid, number)
    ended = child.wait()
    if ended.code < 0 and ended.code != -number:
        raise Crash(f"{command} was ended by signal {-ended.code}")
    told = [one for one in ended.reports if isinstance(one, dict)]
    if told:
        judged(command, told[0]["code"], told[0]["said"], allowed=ENDINGS)

    def check(report: Report) -> None:
        nothing_half(command, before, expected["contents"])
        _again(command, expected, there)

    done(check, place)
    return "result"
