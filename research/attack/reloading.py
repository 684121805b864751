"""A server that takes in a model while it is written: kill the server, or who writes; the other goes on."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import taylorank as tr
from research.attack import Difference
from research.attack.forks import Child, Report, done
from research.attack.operations import TURNS, digest
from research.attack.talking import SECONDS, ask, start_server

ROUNDS = 2  # of kills, with one folder
_lists: dict[str, dict[str, Any]] = {}  # the file's digest → what its model answers


def kill_at_reload(place: Path, rng: random.Random) -> int:
    """Kill the writer, and mostly the server before it, `ROUNDS` times while models change places; return how often."""
    lists, kills = _answers(place), 0
    shutil.copyfile(place / "a.tr", place / "served.tr")
    server, port = start_server(place)
    for _ in range(ROUNDS):
        server, port, killed = _one_round(place, lists, rng, server, port)
        kills += killed
    server.kill()
    if left := os.listdir(os.environ["TMPDIR"]):
        raise Difference(f"left behind: {', '.join(left)}")
    return kills


def _one_round(
    place: Path, lists: dict[str, Any], rng: random.Random, server: Child, port: int
) -> tuple[Child, int, int]:
    """Kill while a writer writes; return the server that answers afterwards, its port, and how often was killed."""
    writer = Child(_write_in_turn, place)
    kills_server = rng.random() < 0.6
    try:
        time.sleep(rng.random() * 0.4)
        _ask(port, lists)
        if kills_server:
            server.kill()
    finally:
        _check_written(place, lists, writer.kill().reports)
    if kills_server:
        server, port = start_server(place)
    _wait_for(port, lists[_content(place, lists)])
    return server, port, 1 + kills_server


def _write_in_turn(report: Report) -> None:
    models = {name: tr.load(f"{name}.tr") for name in TURNS}
    for turn in range(1, 10_000):
        models[TURNS[turn % len(TURNS)]].save("served.tr")
        report(digest("served.tr"))


def _answers(place: Path) -> dict[str, Any]:
    """Return what each model answers to a user, by the digest of its file."""

    def ask(report: Report) -> None:
        for name in TURNS:
            tr.load(f"{name}.tr").save("served.tr")
            ids, _ = tr.load("served.tr").recommend([1], n=5)
            report([digest("served.tr"), ids[0].tolist()])

    if not _lists:
        _lists.update(dict(done(ask, place)))
    return _lists


def _content(place: Path, lists: dict[str, Any]) -> str:
    content = digest(place / "served.tr")
    if content not in lists:
        raise Difference("the served file is neither of the models")
    return content


def _check_written(place: Path, lists: dict[str, Any], reports: list[Any]) -> None:
    """Raise unless the file is the last that was reported, or the next."""
    order = list(lists)
    allowed = [reports[-1], order[(order.index(reports[-1]) + 1) % len(order)]] if reports else order
    if _content(place, lists) not in allowed:
        raise Difference("a model that was reported as written is lost")


def _ask(port: int, lists: dict[str, Any]) -> None:
    if ask(port) not in lists.values():
        raise Difference("an answer of neither model")


def _wait_for(port: int, expected: Any) -> None:
    until = time.monotonic() + SECONDS
    while ask(port) != expected:
        if time.monotonic() > until:
            raise Difference("the server does not take in the file that is there")
        time.sleep(0.01)
