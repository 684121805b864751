"""The application: models, queue, routes and what stands before them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from taylorank import __version__
from taylorank.serving.batcher import Batcher
from taylorank.serving.front import Front
from taylorank.serving.metrics import Metrics
from taylorank.serving.recommending import Recommending
from taylorank.serving.routes import add_routes
from taylorank.serving.settings import Settings
from taylorank.serving.shelf import Shelf

log = logging.getLogger("taylorank.serving")


class Server:
    """An ASGI application; `shelf` holds its models."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.shelf = Shelf(settings, self.metrics)
        self.batcher = Batcher(self.metrics, timeout=settings.timeout, num_threads=settings.num_threads)
        recommending = Recommending(self.shelf, self.batcher)
        routes = FastAPI(
            title="taylorank", version=__version__, docs_url=None, redoc_url=None, lifespan=self._lifespan
        )  # fmt: skip
        add_routes(routes, self.shelf, recommending, self.metrics)
        self.app: ASGIApp = Front(routes, recommending, settings, self.metrics)
        if settings.cors_origins:
            self.app = CORSMiddleware(
                self.app, allow_origins=settings.cors_origins, allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "x-api-key"],
            )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        wake = asyncio.Event()
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):  # main thread, Unix
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, wake.set)
        watch = asyncio.create_task(self._watch(wake))
        try:
            yield
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self.batcher.pool.shutdown(wait=False)

    async def _watch(self, wake: asyncio.Event) -> None:
        """Look at the files every `poll` seconds, and when SIGHUP arrives."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.settings.poll or None):
                    await wake.wait()
            wake.clear()
            try:
                await asyncio.get_running_loop().run_in_executor(None, self.shelf.look)
            except Exception:
                log.exception("a look at the files failed")
