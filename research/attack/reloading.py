"""A server that takes in a model while it is written: kill the server, or who writes; the other goes on."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import taylorank as tr
from research.attack import Crash, Difference, Hang
from research.attack.forks import Child, Report, done
from research.attack.operations import TURNS, digest
from taylorank.serving import listening
from taylorank.serving.settings import Settings

SECONDS = 30.0  # for a server to start, or to take in a file
_lists: dict[str, dict[str, Any]] = {}  # the file's digest → what its model answers


def kill_at_reload(place: Path, rng: random.Random) -> int:
    """Kill the server or the writer while models change places; return how often."""
    lists = _answers(place)
    shutil.copyfile(place / "a.tr", place / "served.tr")
    with served(place) as (server, port):
        writer = Child(_write_in_turn, place)
        try:
            time.sleep(rng.random() * 0.4)
            _ask(port, lists)
        finally:
            victim = rng.choice((server, writer))
            ended = writer.kill() if victim is writer else None
        if victim is writer:
            _check_written(place, lists, ended.reports if ended else [])
            _wait_for(port, lists[_content(place, lists)])
        else:
            server.kill()
            _check_written(place, lists, writer.kill().reports)
    if victim is server:
        with served(place) as (_, port):
            _wait_for(port, lists[_content(place, lists)])
    if left := os.listdir(os.environ["TMPDIR"]):
        raise Difference(f"left behind: {', '.join(left)}")
    return 1 + (victim is server)


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


@contextlib.contextmanager
def served(place: Path, **settings: Any) -> Any:
    """Serve served.tr from a forked process on a free port of this machine; yield the process and the port."""
    with listening.bound_socket("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        given = Settings(**{"models": {"m": Path("served.tr")}, "weights": {"m": 1.0}, "poll": 0.001, **settings})

        def work(report: Report) -> None:
            listening.run_one(given, bound, loaded=lambda: report("loaded"))

        server = Child(work, place)
    try:
        _wait_until_ready(server, port)
        yield server, port
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError, OSError):
            server.kill()


def _wait_until_ready(server: Child, port: int) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if server.poll(0.01):
            raise Crash("the server ended by itself")
        with contextlib.suppress(OSError):
            ask(port)
            return
    raise Hang("the server does not answer")


def ask(port: int, body: Any = None, *, timeout: float = SECONDS) -> list[Any]:
    """Return the ids of a list."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    with contextlib.closing(connection):
        connection.request("POST", "/v1/recommend", json.dumps(body or {"user": 1, "n": 5}))
        reply = connection.getresponse()
        document = json.loads(reply.read())
        if reply.status != 200:
            raise Difference(f"status {reply.status}: {document}")
        return [item["id"] for item in document["items"]]


def _ask(port: int, lists: dict[str, Any]) -> None:
    if ask(port) not in lists.values():
        raise Difference("an answer of neither model")


def _wait_for(port: int, expected: Any) -> None:
    until = time.monotonic() + SECONDS
    while ask(port) != expected:
        if time.monotonic() > until:
            raise Difference("the server does not take in the file that is there")
        time.sleep(0.01)
