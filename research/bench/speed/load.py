"""A bounded load over HTTP on this machine, from a process of its own.

Two kinds. *As fast as it goes*: each of some connections sends its next request when it has the answer to the last;
requests per second are measured. *At a rate*: requests are due at fixed times, whatever the server does, and latency
counts from the time a request was due, so that a server which stalls does not make its own load lighter.

Plain sockets: at thousands of requests per second a client library would take more of the processor than the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

LATE = 10.0  # seconds that are waited for the last answers


class Connection(asyncio.Protocol):
    """One connection that is kept open, and the request on its way."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.buffer = b""
        self.due = 0.0
        self.busy = False

    def connection_made(self, transport: Any) -> None:
        """Remember where to write."""
        self.transport = transport

    def ask(self, request: bytes, due: float) -> None:
        """Send a request."""
        self.due, self.busy = due, True
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Read an answer; when it is whole, tell the client."""
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        start = self.buffer.lower().index(b"content-length:") + 15
        length = int(self.buffer[start : self.buffer.index(b"\r\n", start)])
        if len(self.buffer) >= head + 4 + length:
            status, self.buffer = int(self.buffer[9:12]), self.buffer[head + 4 + length :]
            self.busy = False
            self.client.answered(self, status)

    def connection_lost(self, error: Exception | None) -> None:
        """Count a request that got no answer."""
        if self.busy:
            self.client.lost += 1
        self.client.closed(self)


class Client:
    """Sends requests in turn over some connections, and keeps what came of them."""

    def __init__(self, host: str, port: int, bodies: list[bytes]) -> None:
        self.host, self.port = host, port
        self.requests = [_request(host, port, body) for body in bodies]
        self.seconds: list[float] = []
        self.statuses: dict[int, int] = {}
        self.lost = self.sent = 0
        self.free: deque[Connection] = deque()
        self.opened: list[Connection] = []
        self.waiting: deque[float] = deque()
        self.until = 0.0
        self.closed_loop = True

    async def connect(self, count: int) -> None:
        """Open connections."""
        loop = asyncio.get_running_loop()
        for _ in range(count):
            _, one = await loop.create_connection(lambda: Connection(self), self.host, self.port)
            self.free.append(one)
            self.opened.append(one)

    def send(self, connection: Connection, due: float) -> None:
        """Send the next request."""
        request = self.requests[self.sent % len(self.requests)]
        self.sent += 1
        connection.ask(request, due)

    def answered(self, connection: Connection, status: int) -> None:
        """Keep an answer; go on."""
        now = time.perf_counter()
        self.seconds.append(now - connection.due)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if self.closed_loop and now < self.until:
            self.send(connection, now)
        elif self.waiting:
            self.send(connection, self.waiting.popleft())
        else:
            self.free.append(connection)

    def closed(self, connection: Connection) -> None:
        """Forget a connection that the server has closed, and open another."""
        with contextlib.suppress(ValueError):
            self.free.remove(connection)
        if time.perf_counter() < self.until:
            self.task = asyncio.ensure_future(self._replace())

    async def _replace(self) -> None:
        with contextlib.suppress(OSError):
            await self.connect(1)
            if self.closed_loop:
                self.send(self.free.pop(), time.perf_counter())

    async def flat_out(self, seconds: float, connections: int) -> None:
        """Ask as fast as answers come."""
        self.closed_loop, self.until = True, time.perf_counter() + seconds
        await self.connect(connections)
        while self.free:
            self.send(self.free.popleft(), time.perf_counter())
        await asyncio.sleep(seconds)

    async def at_rate(self, seconds: float, rate: float, connections: int) -> None:
        """Ask at fixed times."""
        self.closed_loop = False
        await self.connect(connections)
        began = time.perf_counter()
        self.until = began + seconds
        for number in range(int(seconds * rate)):
            due = began + number / rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            if self.free:
                self.send(self.free.popleft(), due)
            else:
                self.waiting.append(due)

    async def finish(self) -> None:
        """Wait for answers that are on their way."""
        end = time.perf_counter() + LATE
        while len(self.seconds) + self.lost < self.sent + len(self.waiting) and time.perf_counter() < end:
            await asyncio.sleep(0.005)
        self.until = 0.0  # what is closed from here on is not opened again
        for connection in self.opened:
            connection.transport.close()
        await asyncio.sleep(0.01)


def _request(host: str, port: int, body: bytes) -> bytes:
    head = f"POST /v1/recommend HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def measure(port: str, bodies: str, seconds: str, rate: str, connections: str) -> dict[str, Any]:
    """Load the server at a port of this machine; rate 0 is as fast as it goes. `bodies` is a file of JSON lines."""
    lines = Path(bodies).read_bytes().splitlines()
    client = Client("127.0.0.1", int(port), lines)
    with contextlib.suppress(ImportError):
        import uvloop

        return uvloop.run(_load(client, float(seconds), float(rate), int(connections)))
    return asyncio.run(_load(client, float(seconds), float(rate), int(connections)))


async def _load(client: Client, seconds: float, rate: float, connections: int) -> dict[str, Any]:
    cpu, began = time.process_time(), time.perf_counter()
    if rate:
        await client.at_rate(seconds, rate, connections)
    else:
        await client.flat_out(seconds, connections)
    took = time.perf_counter() - began
    answered = len(client.seconds)
    await client.finish()
    ms = 1e3 * np.array(client.seconds or [float("nan")])
    return {
        "requests": client.sent,
        "answers": {str(status): count for status, count in sorted(client.statuses.items())},
        "lost": client.sent - len(client.seconds),
        "per_second": round(answered / took, 1),
        "p50_ms": round(float(np.median(ms)), 2),
        "p99_ms": round(float(np.quantile(ms, 0.99)), 2),
        "max_ms": round(float(ms.max()), 2),
        "client_cpu_share": round((time.process_time() - cpu) / took, 2),
    }
