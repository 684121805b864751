"""A server under attack while others ask it steadily: it answers every request, and its memory stays flat."""

from __future__ import annotations

import atexit
import contextlib
import json
import random
import shutil
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import taylorank as tr
from research.attack import Crash, Difference, Hang, Seen
from research.attack.described import Described
from research.attack.forks import Child, Report, done
from research.attack.mutations import mutated
from research.attack.operations import TURNS, start
from research.attack.talking import (
    BUSY,
    Busy,
    answer,
    ask,
    ask_once,
    connected,
    memory_of,
    parsed,
    read_all,
    request,
    start_server,
    stop_server,
)  # fmt: skip
from taylorank.serving.settings import MIB

TIMEOUT = 1.0  # seconds that the server gives a body to arrive
PER_SECOND = 40  # steady requests beside the attacks
WARM = 24  # cases until memory counts as settled
GROWTH = 24.0  # MiB that it may vary afterwards; 3 were seen in six minutes
EVERYWHERE = {413, 503}  # what any path answers to a body that is too long, or when it is busy
STATUSES = (200, 400, 404, 405, 408, 413, 422, 503)
RIGHT = request("POST", "/v1/recommend", b'{"history": [{"item": 3, "strength": 1.5}], "n": 5, "filters": {"year": 3}}')


@dataclass
class Running:
    """A server, those who ask it steadily, and what is known of it."""

    place: Path
    process: Child
    port: int
    document: dict[str, Any]
    lists: list[Any]
    steady: Child
    told: int = 0
    cases: int = 0
    settled: float = 0.0
    busy: int = 0  # answers of 503 in this case
    counts: dict[str, int] = field(default_factory=dict)


_running: list[Running] = []


def attack(seed: int, folder: Path) -> Seen:
    """Attack in one way; then the server answers as before, and its memory has not grown."""
    rng, name = random.Random(seed), tuple(KINDS)[seed % len(KINDS)]
    if not _running:
        _running.append(_started(folder))
        atexit.register(_stop)
    server = _running[0]
    server.busy = 0
    try:
        requests = KINDS[name](server, rng)
        if server.process.poll(0.0):
            raise Crash(f"the server ended: {server.process.wait().said[-300:]}")
        if ask(server.port) not in server.lists:
            raise Difference("afterwards another answer")
        asked, busy = _asked_steadily(server)
        busy += server.busy
        memory = _memory(server)
    except BaseException:
        _stop()  # the next case begins with another
        raise
    counts = {f"{name}: requests": requests, "steady: requests": asked, "answered 503, busy": busy}
    return Seen("result", counts, {"server MiB": memory})


def _started(folder: Path) -> Running:
    place = folder / "served"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    lists = done(_fill, place)
    table = Path("items.csv")
    process, port = start_server(place, items=table, timeout=TIMEOUT, max_body=MIB // 4, poll=0.05)
    document = json.loads(answer(port, request("GET", "/openapi.json"))[1])
    return Running(place, process, port, document, lists, Child(lambda report: _steady(port, lists, report), place))


def _fill(report: Report) -> None:
    start()
    for name in TURNS:
        model = tr.load(f"{name}.tr")
        report(model.recommend([1], n=5)[0][0].tolist())
    shutil.copyfile("a.tr", "served.tr")
    rows = [f"{item},Title {item},{1980 + item % 30},{'abc'[item % 3]}" for item in range(30)]
    Path("items.csv").write_text("\n".join(["item,title,year,genre", *rows]) + "\n")


def _stop() -> None:
    for one in _running:
        stop_server(one.steady)
        stop_server(one.process)
    _running.clear()


def _steady(port: int, lists: list[Any], report: Report) -> None:
    """Ask at a steady rate for ever; report what was asked every half second."""
    count, slowest, told, busy = 0, 0.0, time.monotonic(), 0
    while True:
        began = time.monotonic()
        try:
            if ask_once(port) not in lists:
                report({"wrong": "a list of no model"})
        except Busy:
            busy += 1
        count, slowest = count + 1, max(slowest, time.monotonic() - began)
        if time.monotonic() - told > 0.5:
            report({"asked": count, "slowest": slowest, "busy": busy})
            count, slowest, told, busy = 0, 0.0, time.monotonic(), 0
        time.sleep(max(0.0, 1 / PER_SECOND - (time.monotonic() - began)))


def _asked_steadily(server: Running) -> tuple[int, int]:
    """Return how many steady requests were answered since the last case, how many of them with 503."""
    while not server.steady.is_over and _has_more(server.steady):
        pass
    if server.steady.is_over:
        raise Difference(f"a steady request failed: {server.steady.wait().said[-300:]}")
    new, server.told = server.steady.reports[server.told :], len(server.steady.reports)
    if any("wrong" in one for one in new):
        raise Difference("a steady request got a list of no model")
    return sum(one["asked"] for one in new), sum(one["busy"] for one in new)


def _has_more(child: Child) -> bool:
    before = len(child.buffer)
    child.poll(0.0)
    return len(child.buffer) > before


def _memory(server: Running) -> float:
    now = memory_of(server.process.pid)
    server.cases += 1
    if server.cases <= WARM:
        server.settled = max(server.settled, now)
    elif now > server.settled + GROWTH:
        raise Difference(f"the server has grown from {server.settled:.0f} to {now:.0f} MiB")
    return round(now, 1)


def described(server: Running, rng: random.Random) -> int:
    """Send requests made from the server's own description."""
    made = Described(server.document, rng)
    for _ in range(40):
        method, target, body, statuses = made.request()
        what = f"{method} {target[:60]} {body[:120]!r}"
        status, text = answer(server.port, request(method, target, body))
        _check(status, text, what)
        if status not in statuses | EVERYWHERE:
            raise Difference(f"status {status}, of which the description of the path does not speak, for {what}")
    return 40


def _check(status: int, body: bytes, what: str) -> None:
    if status not in STATUSES or (status == 503 and BUSY not in body):
        raise Difference(f"status {status} for {what}")
    if status >= 400 and b"Traceback" in body:
        raise Difference(f"a traceback for {what}")


def broken(server: Running, rng: random.Random) -> int:
    """Send damaged HTTP: an answer of 4xx, or the server hangs up, at the latest when its time is over."""
    pieces = [mutated(mutated(RIGHT, rng), rng) for _ in range(25)]
    links = [connected(server.port) for _ in pieces]
    for link, piece in zip(links, pieces, strict=True):
        with contextlib.suppress(OSError):  # it may have hung up before all was sent
            link.sendall(piece)
    for link, piece in zip(links, pieces, strict=True):
        with link, contextlib.suppress(ConnectionError):
            try:
                status, _ = parsed(link.recv(1 << 16))  # it may wait for the next request afterwards
            except TimeoutError:
                raise Hang(f"neither an answer nor an end after {piece[:120]!r}") from None
            if status not in (0, *STATUSES):
                raise Difference(f"status {status} for {piece[:120]!r}")
    return len(pieces)


def slow(server: Running, rng: random.Random) -> int:
    """Send requests that stop half-way: others are answered meanwhile, and these are ended in time."""
    ends = [rng.randrange(len(RIGHT)) for _ in range(20)]
    links = [connected(server.port) for _ in ends]
    for link, end in zip(links, ends, strict=True):
        link.sendall(RIGHT[:end])
    began = time.monotonic()
    if ask(server.port) not in server.lists or time.monotonic() - began > 5 * TIMEOUT:
        raise Difference("slow clients keep others waiting")
    for link, end in zip(links, ends, strict=True):
        with link:
            status, _ = parsed(read_all(link))
            if status != (408 if end >= RIGHT.index(b"\r\n\r\n") + 4 else 0):
                raise Difference(f"status {status} for a request that stops after {end} bytes")
    return 20


def disconnects(server: Running, rng: random.Random) -> int:
    """Hang up at any moment, also by a reset; nothing stays under way."""
    for _ in range(30):
        with connected(server.port) as link:
            link.sendall(RIGHT[: rng.randrange(1, len(RIGHT) + 1)])
            if rng.random() < 0.5:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until = time.monotonic() + 5 * TIMEOUT
    while _in_flight(server.port) > 2:  # this request, and a steady one
        if time.monotonic() > until:
            raise Difference("requests of clients that are gone stay under way")
        time.sleep(0.02)
    return 30


def _in_flight(port: int) -> float:
    lines = answer(port, request("GET", "/metrics"))[1].decode().splitlines()
    return next((float(one.split()[-1]) for one in lines if one.startswith("taylorank_in_flight")), 0.0)


def reloads(server: Running, rng: random.Random) -> int:
    """Replace the model again and again while lists are asked for: each is that of one of the models."""

    def write(report: Report) -> None:
        models = [tr.load(f"{name}.tr") for name in TURNS]
        for turn in range(6):
            models[turn % len(models)].save("served.tr")
            time.sleep(0.03)

    writer, count = Child(write, server.place), 0
    while not writer.poll(0.0):
        if ask(server.port) not in server.lists:
            raise Difference("a list of no model during a reload")
        count += 1
    if code := writer.wait().code:
        raise Difference(f"the writer ended with {code}")
    return count


def load(server: Running, rng: random.Random) -> int:
    """Ask over kept connections, several requests at once on each, for half a second."""
    links, count = [connected(server.port) for _ in range(8)], 0
    one = request("POST", "/v1/recommend", b'{"user": 2, "n": 10}', close=False)
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        for link in links:
            link.sendall(one * 4)
        for link in links:
            server.busy += _answers(link, 4)
            count += 4
    for link in links:
        link.close()
    return count


def _answers(link: socket.socket, wanted: int) -> int:
    """Read so many answers; return how many say that the server is busy."""
    text, found, busy = b"", 0, 0
    while found < wanted:
        text += link.recv(1 << 16)
        while (end := text.find(b"\r\n\r\n")) >= 0:
            length = int(text[:end].lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            if len(text) < end + 4 + length:
                break
            is_busy = text.startswith(b"HTTP/1.1 503") and BUSY in text[end : end + 4 + length]
            if not is_busy and not text.startswith(b"HTTP/1.1 200"):
                raise Difference(f"under load: {text[:60]!r}")
            busy += is_busy
            text, found = text[end + 4 + length :], found + 1
    return busy


KINDS: dict[str, Callable[[Running, random.Random], int]] = {
    "described": described,
    "broken HTTP": broken,
    "slow clients": slow,
    "disconnects": disconnects,
    "reloads": reloads,
    "load": load,
}
