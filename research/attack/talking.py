"""A server in a forked process on a free port of this machine, and plain sockets to talk to it."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import time
from pathlib import Path
from typing import Any

from research.attack import Crash, Difference, Hang
from research.attack.forks import Child, Report
from taylorank.serving import listening
from taylorank.serving.settings import Settings

SECONDS = 30.0  # for a server to start, to take in a file, or to answer
HOST = "127.0.0.1"
BUSY = b"the server is busy"


class Busy(Exception):
    """The server says 503: it has more to do than it can, and says so at once, as it should."""


def start_server(place: Path, **settings: Any) -> tuple[Child, int]:
    """Serve served.tr of this folder; return the process and the port when it answers."""
    with listening.bound_socket(HOST, 0) as bound:
        given = Settings(**{"models": {"m": Path("served.tr")}, "weights": {"m": 1.0}, "poll": 0.001, **settings})

        def work(report: Report) -> None:
            listening.run_one(given, bound, loaded=lambda: report("loaded"))

        server, port = Child(work, place), bound.getsockname()[1]
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if server.poll(0.01):
            raise Crash(f"the server ended by itself: {server.wait().said[-300:]}")
        with contextlib.suppress(OSError):
            ask(port)
            return server, port
    server.kill()
    raise Hang("the server does not answer")


def stop_server(server: Child) -> None:
    """End a server that may have ended already."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError, OSError):
        server.kill()


def connected(port: int, timeout: float = SECONDS) -> socket.socket:
    """Open a connection."""
    return socket.create_connection((HOST, port), timeout=timeout)


def request(method: str, target: str, body: bytes = b"", *, close: bool = True) -> bytes:
    """Return the bytes of a request."""
    ending = "connection: close\r\n" if close else ""
    head = f"{method} {target} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n{ending}\r\n"
    return head.encode("ascii", "replace") + body


def answer(port: int, sent: bytes, *, timeout: float = SECONDS) -> tuple[int, bytes]:
    """Send bytes; return status and body, 0 if the server hung up without an answer."""
    with connected(port, timeout) as link:
        try:
            link.sendall(sent)
            return parsed(read_all(link))
        except TimeoutError:
            raise Hang(f"no answer after {timeout:g} s to {sent[:80]!r}") from None
        except OSError:
            return 0, b""


def read_all(link: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    pieces = []
    while piece := link.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def parsed(reply: bytes) -> tuple[int, bytes]:
    """Return status and body of an answer."""
    head, _, body = reply.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    return (int(words[1]), body) if len(words) > 1 and words[1].isdigit() else (0, b"")


def ask(port: int, body: Any = None) -> list[Any]:
    """Return the ids of a list, which must come; from a server that is busy, within `SECONDS`."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return ask_once(port, body)
        except Busy:
            if time.monotonic() > until:
                raise Hang(f"the server is busy for {SECONDS:g} s") from None
            time.sleep(0.1)


def ask_once(port: int, body: Any = None) -> list[Any]:
    """Return the ids of a list, which must come, or raise `Busy`."""
    status, text = answer(port, request("POST", "/v1/recommend", json.dumps(body or {"user": 1, "n": 5}).encode()))
    if status == 0:
        raise ConnectionError("no answer")
    if status == 503 and BUSY in text:
        raise Busy
    if status != 200:
        raise Difference(f"status {status}: {text[:200]!r}")
    return [item["id"] for item in json.loads(text)["items"]]


def memory_of(pid: int) -> float:
    """Return the resident MiB of a process; its highest own memory on systems without /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
