"""All routes together, and the description of them (OpenAPI)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from taylorank.errors import TaylorankError
from taylorank.serving import schema
from taylorank.serving.json_text import json_bytes
from taylorank.serving.lookups import Lookups
from taylorank.serving.metrics import TEXT, Metrics
from taylorank.serving.problems import REFUSALS, Refused, of_library, unforeseen
from taylorank.serving.recommending import Recommending
from taylorank.serving.shelf import Shelf

EXPLORER = Path(__file__).parent / "explorer"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>taylorank</title>
<h1>taylorank</h1><p>This server recommends. Its routes: <a href="/openapi.json">/openapi.json</a>,
<a href="/v1/models">/v1/models</a>, <a href="/health/ready">/health/ready</a>.</p></html>"""


def add_routes(app: FastAPI, shelf: Shelf, recommending: Recommending, metrics: Metrics) -> None:
    """Add every route to an application."""
    _add_recommend(app, recommending)
    app.include_router(Lookups(shelf).router())
    _add_health(app, shelf, metrics)
    _add_pages(app)
    _add_refusals(app)
    _describe_requests(app)


def _describe_requests(app: FastAPI) -> None:
    """Add the form of a request to the description: FastAPI does not see it, for it does not parse it."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        document = plain()
        parts = schema.Batch.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= {**parts.pop("$defs"), "Batch": parts}
        return document

    app.openapi = described  # type: ignore[method-assign]


def _add_recommend(app: FastAPI, recommending: Recommending) -> None:
    asked = {"anyOf": [{"$ref": "#/components/schemas/Ask"}, {"$ref": "#/components/schemas/Batch"}]}
    named = {f"example {number}": {"value": value} for number, value in enumerate(schema.EXAMPLES, start=1)}

    @app.post(
        "/v1/recommend",
        response_model=schema.Answer | list[schema.Answer],
        responses=REFUSALS,
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/json": {"schema": asked, "examples": named}}}
        },
    )
    async def recommend(request: Request) -> Response:
        """Recommend items to a known user, or for a history; a list of requests is answered with a list."""
        body, request.scope["taylorank.model"] = await recommending.answer(await request.body())
        return Response(body, media_type="application/json")


def _add_health(app: FastAPI, shelf: Shelf, metrics: Metrics) -> None:
    @app.get("/health/live")
    async def live() -> schema.Health:
        """Say that the process answers."""
        return schema.Health(status="live")

    @app.get("/health/ready")
    async def ready() -> schema.Health:
        """Say which models answer, and which files were refused."""
        found: dict[str, Any] = {
            name: {"version": served.version, "loaded_at": shelf.loaded_at[name]}
            for name, served in shelf.models.items()
        }
        return schema.Health(status="ready", models=found, refused=dict(shelf.refused))

    @app.get("/metrics", response_class=Response)
    def prometheus() -> Response:
        """Return counters for Prometheus."""
        return Response(metrics.text(), headers={"content-type": TEXT})


def _add_pages(app: FastAPI) -> None:
    if (EXPLORER / "index.html").is_file():
        app.mount("/", StaticFiles(directory=EXPLORER, html=True))
        return

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(PAGE, media_type="text/html")


def _add_refusals(app: FastAPI) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, TaylorankError):
            error = of_library(error)
        assert isinstance(error, Refused)
        return Response(json_bytes(error.document()), error.status, error.headers, media_type="application/json")

    async def other(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        remedy = "see /openapi.json for what there is"
        return await refused(request, Refused(error.status_code, str(error.detail).lower(), remedy))

    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first: Any = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return await refused(request, Refused(422, f"{place}: {first['msg']}", "see /openapi.json"))

    async def failed(request: Request, error: Exception) -> Response:  # the front logs it
        return await refused(request, unforeseen())

    handlers: list[tuple[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = [
        (Refused, refused), (TaylorankError, refused), (HTTPException, other), (RequestValidationError, malformed),
        (Exception, failed),
    ]  # fmt: skip
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)
