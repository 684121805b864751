"""Talk to the application without a network: requests in one event loop, so that many can be under way at once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

HOST = (b"host", b"localhost")


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def request(app, method, target, body=b"", headers=(), *, chunks=None, messages=None) -> Reply:
    """Send one request to an ASGI application; `messages` replaces what the server would be given as a body."""
    path, _, query = target.partition("?")
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [HOST, *headers] if not any(name == b"host" for name, _ in headers) else list(headers),
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    parts = chunks or [body]
    coming = messages or [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]
    coming, sent = list(coming), []

    async def receive():
        if coming:
            return coming.pop(0)
        await asyncio.sleep(3600)

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    if not sent:
        return Reply(0, {}, b"")
    pairs = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], pairs, b"".join(message.get("body", b"") for message in sent[1:]))


class Client:
    """Requests to one application, in an event loop that stays."""

    def __init__(self, app, headers=()) -> None:
        self.app, self.headers, self.runner = app, list(headers), asyncio.Runner()

    def send(self, method, target, body=b"", headers=(), **options) -> Reply:
        return self.runner.run(request(self.app, method, target, body, [*self.headers, *headers], **options))

    def get(self, target, **options) -> Reply:
        return self.send("GET", target, **options)

    def recommend(self, body, **options) -> Reply:
        return self.send("POST", "/v1/recommend", body, **options)

    def together(self, bodies) -> list[Reply]:
        """Have all of these requests under way at the same time."""

        async def all_of_them():
            return await asyncio.gather(*(request(self.app, "POST", "/v1/recommend", body) for body in bodies))

        return self.runner.run(all_of_them())

    def close(self) -> None:
        self.runner.close()


def value_of(client, line):
    """Return the value of one line of the metrics, 0 where it is not there."""
    lines = client.get("/metrics").body.decode().splitlines()
    return next((float(one.rpartition(" ")[2]) for one in lines if one.startswith(line + " ")), 0.0)
