"""The first thing a request meets: who may ask, how much, and what every answer carries.

Plain ASGI, because `POST /v1/recommend` is answered here without passing through the layers of a framework.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taylorank.errors import TaylorankError
from taylorank.serving.batcher import busy
from taylorank.serving.json_text import json_bytes
from taylorank.serving.metrics import Metrics
from taylorank.serving.problems import Refused, of_library, unforeseen
from taylorank.serving.recommending import Recommending
from taylorank.serving.settings import Settings

log = logging.getLogger("taylorank.serving")
RECOMMEND = "/v1/recommend"
SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'; "
        b"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]
JSON = (b"content-type", b"application/json")


class Gone(Exception):
    """The client has hung up."""


class Front:
    """Checks a request, answers it or hands it on, and counts it."""

    def __init__(self, inner: ASGIApp, recommending: Recommending, settings: Settings, metrics: Metrics) -> None:
        self.inner, self.recommending, self.settings, self.metrics = inner, recommending, settings, metrics
        self.key = None if settings.api_key is None else settings.api_key.encode()
        self.hosts = {host.lower().encode() for host in settings.allowed_hosts}
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
        elif scope["type"] == "http":
            await self._counted(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, sent = time.perf_counter(), Sent(send)
        self.in_flight += 1
        self.metrics.in_flight.set(self.in_flight)
        try:
            await self._answered(scope, receive, sent)
        except Gone:
            sent.status = 499
        except Exception as error:
            await self._failed(scope, sent, error)
        finally:
            self.in_flight -= 1
            self.metrics.in_flight.set(self.in_flight)
            route = RECOMMEND if scope["path"] == RECOMMEND else getattr(scope.get("route"), "path", "other")
            self.metrics.answered(route, scope.get("taylorank.model", ""), sent.status, began)

    async def _answered(self, scope: Scope, receive: Receive, sent: Sent) -> None:
        headers = scope["headers"]
        self._check_host(headers)
        self._check_key(scope["path"], headers)
        if self.in_flight > self.settings.max_in_flight and scope["path"].startswith("/v1/"):
            raise busy()
        if scope["path"] == RECOMMEND and scope["method"] == "POST":
            body = await read_body(headers, receive, self.settings)
            text, scope["taylorank.model"] = await self.recommending.answer(body)
            await sent.whole(200, text)
        else:
            await self.inner(scope, receive, sent)

    async def _failed(self, scope: Scope, sent: Sent, error: Exception) -> None:
        if isinstance(error, TaylorankError):
            error = of_library(error)
        if not isinstance(error, Refused):
            log.error("%s %s failed", scope["method"], scope.get("path"), exc_info=error)
            error = unforeseen()
        if not sent.began:
            more = [(name.encode(), value.encode()) for name, value in error.headers.items()]
            await sent.whole(error.status, json_bytes(error.document()), more)

    def _check_host(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Refuse names that are not ours: a page elsewhere could have its name point to this machine."""
        if not self.hosts:
            return
        host = next((value for name, value in headers if name == b"host"), b"").lower()
        if not host.endswith(b"]"):
            host = host.rpartition(b":")[0] or host
        if host not in self.hosts:
            raise Refused(
                400, "this server does not have that name", "ask by its address, or start it with --allow-host"
            )

    def _check_key(self, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        if self.key is None or not (path.startswith("/v1/") or path in ("/metrics", "/openapi.json")):
            return
        for name, value in headers:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                value = value[7:]
            elif name != b"x-api-key":
                continue
            if hmac.compare_digest(value.strip(), self.key):
                return
        raise Refused(
            401, "the API key is missing or wrong", "send it as Authorization: Bearer …",
            headers={"www-authenticate": "Bearer"},
        )  # fmt: skip


class Sent:
    """Passes on what is sent, with the headers that every answer has, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self.send, self.began, self.status = send, False, 500

    async def __call__(self, message: Message) -> None:
        """Pass on one message."""
        if message["type"] == "http.response.start":
            self.began, self.status = True, message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *SECURITY]}
        await self.send(message)

    async def whole(self, status: int, body: bytes, more: list[tuple[bytes, bytes]] | None = None) -> None:
        """Send an answer in JSON."""
        headers = [JSON, (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store"), *(more or ())]
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


async def read_body(headers: list[tuple[bytes, bytes]], receive: Receive, settings: Settings) -> bytes:
    """Return the body; refuse one that is too long or does not arrive in time."""
    stated = next((value for name, value in headers if name == b"content-length"), b"0")
    if not stated.isdigit() or int(stated) > settings.max_body:
        raise _too_long(settings)
    first = await _part(receive, settings.timeout)
    if not first.get("more_body"):
        return _checked(bytes(first.get("body", b"")), settings)
    parts, size, until = [first.get("body", b"")], len(first.get("body", b"")), time.monotonic() + settings.timeout
    while True:
        message = await _part(receive, until - time.monotonic())
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > settings.max_body:
            raise _too_long(settings)
        if not message.get("more_body"):
            return b"".join(parts)


async def _part(receive: Receive, seconds: float) -> Message:
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
    except TimeoutError:
        raise Refused(
            408, "the body did not arrive in time", "send it faster", headers={"connection": "close"}
        ) from None
    if message["type"] == "http.disconnect":
        raise Gone
    return message


def _checked(body: bytes, settings: Settings) -> bytes:
    if len(body) > settings.max_body:
        raise _too_long(settings)
    return body


def _too_long(settings: Settings) -> Refused:
    most = f"{settings.max_body / (1 << 20):g} MiB"
    return Refused(413, f"the body is longer than {most}", "send less at a time", headers={"connection": "close"})
