"""Connections whose request does not arrive: they are closed after some seconds, and so is one of endless headers.

uvicorn waits for ever for the end of a request's headers, and keeps what has come. Bodies have limits of their own
(`serving.front`), and connections that wait for their next request have uvicorn's.
"""

from __future__ import annotations

import asyncio
from typing import Any

MOST_BYTES = 1 << 16  # of the headers of a request


def punctual(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol of HTTP with `seconds` for the headers of a request to arrive."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol

    class Punctual(base):  # type: ignore[misc]
        """Closes a connection on which a request has begun, or none ever has, and its headers do not end."""

        timer: asyncio.TimerHandle | None = None
        came = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start()

        def data_received(self, data: bytes) -> None:
            self.came += len(data)
            super().data_received(data)
            if not self._waits():
                self._stop()
            elif self.came > MOST_BYTES:
                self.transport.close()
            elif self.timer is None:
                self._start()

        def connection_lost(self, error: Exception | None) -> None:
            self._stop()
            super().connection_lost(error)

        def _waits(self) -> bool:
            """Whether no request is under way."""
            return self.cycle is None or self.cycle.response_complete

        def _start(self) -> None:
            self.timer = self.loop.call_later(seconds, self._close_if_waiting)

        def _stop(self) -> None:
            self.came = 0
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None

        def _close_if_waiting(self) -> None:
            self.timer = None
            if self._waits() and not self.transport.is_closing():
                self.transport.close()

    return Punctual
