"""All routes but the busiest one, and the description of them all (OpenAPI)."""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from pydantic import Field
from starlette.exceptions import HTTPException

from taylorank.errors import TaylorankError
from taylorank.ranking import similar_items
from taylorank.serving import schema
from taylorank.serving.item_map import map_of
from taylorank.serving.json_text import json_bytes
from taylorank.serving.kept import Kept
from taylorank.serving.metrics import TEXT, Metrics
from taylorank.serving.problems import Refused, of_library, unforeseen
from taylorank.serving.query import user_row
from taylorank.serving.recommending import Recommending
from taylorank.serving.served import Served
from taylorank.serving.shelf import Shelf
from taylorank.serving.spelled import id_of

EXPLORER = Path(__file__).parent / "explorer"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>taylorank</title>
<h1>taylorank</h1><p>This server recommends. Its routes: <a href="/openapi.json">/openapi.json</a>,
<a href="/v1/models">/v1/models</a>, <a href="/health/ready">/health/ready</a>.</p></html>"""
Count = Annotated[int, Query(ge=1, le=1_000)]
Name = Annotated[str | None, Query(max_length=200, description="Name of a model; default: the first.")]
ItemId = Annotated[str, Field(max_length=schema.LONGEST_TEXT)]
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": schema.Problem} for code in (400, 401, 404, 408, 413, 422, 503)
}


def add_routes(app: FastAPI, shelf: Shelf, recommending: Recommending, metrics: Metrics) -> None:
    """Add every route to an application."""
    _add_recommend(app, recommending)
    _add_items(app, shelf)
    _add_map(app, shelf)
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
    examples = schema.Ask.model_config["json_schema_extra"]["examples"]  # type: ignore[index]
    named = {f"example {number}": {"value": value} for number, value in enumerate(examples, start=1)}  # type: ignore[arg-type]

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


def _add_items(app: FastAPI, shelf: Shelf) -> None:
    @app.get("/v1/items", responses=REFUSALS)
    def items(
        request: Request, q: Annotated[str, Query(max_length=200)] = "", n: Count = 10, model: Name = None
    ) -> schema.Found:
        """Search items by title or id: prefixes first, without case and accents; without q the most popular."""
        served = _named(shelf, model, request)
        popularity = served.ranker.item_popularity
        rows = served.search.find(q, n + len(served.hidden_rows))
        rows = rows[~np.isin(rows, served.hidden_rows)][:n]
        return schema.Found(
            items=[schema.FoundItem(popularity=float(popularity[row]), **_item(served, row)) for row in rows.tolist()]
        )

    @app.get("/v1/items/{id:path}/similar", responses=REFUSALS)
    def similar(request: Request, id: ItemId, n: Count = 10, model: Name = None) -> schema.Similar:
        """Return the nearest items: by the angle of vectors, or by the weights of item-based models."""
        served = _named(shelf, model, request)
        items = served.ranker.items
        item = id_of(id, items)
        most = min(n + len(served.hidden_rows), len(items))
        row = int(items.require([item], "item")[0])
        found, scores = similar_items(served.ranker, [item], most)
        near = [
            schema.SimilarItem(score=score, **_item(served, place))
            for place, score in zip(items.positions(found[0]).tolist(), scores[0].tolist(), strict=True)
            if place >= 0 and score == score and place not in served.hidden_rows
        ]
        return schema.Similar(
            item=served.catalogue.ids[row], title=served.catalogue.titles[row], items=near[:n], model=served.name,
            version=served.version,
        )  # fmt: skip

    @app.get("/v1/users/{id:path}", responses=REFUSALS)
    def user(request: Request, id: ItemId, model: Name = None) -> schema.UserHistory:
        """Return the history of a user in the training data."""
        served = _named(shelf, model, request)
        ranker = served.ranker
        who = id_of(id, ranker.users)
        row = user_row(who, served)
        part = slice(ranker.seen.by_user.indptr[row], ranker.seen.by_user.indptr[row + 1])
        strengths = ranker.seen.strengths[part].tolist()
        ids, titles = served.catalogue.ids, served.catalogue.titles
        past = [
            schema.PastItem(item=ids[item], title=titles[item], strength=strength)
            for item, strength in zip(ranker.seen.by_user.indices[part].tolist(), strengths, strict=True)
        ]
        return schema.UserHistory(
            user=ranker.users.values[row : row + 1].tolist()[0], history=past, model=served.name,
            version=served.version,
        )  # fmt: skip

    @app.get("/v1/models", responses=REFUSALS)
    def models() -> schema.Models:
        """Return the models, what they can do, and the share of users that each has."""
        total = sum(shelf.settings.weights.values())
        return schema.Models(
            models=[_facts(served, shelf.settings.weights[name] / total) for name, served in shelf.models.items()]
        )


def _item(served: Served, row: int) -> dict[str, Any]:
    return {"id": served.catalogue.ids[row], "title": served.catalogue.titles[row]}


def _facts(served: Served, weight: float) -> schema.ModelFacts:
    path, model = served.path, served.model
    return schema.ModelFacts(
        name=served.name,
        version=served.version,
        kind=type(model).__name__,
        factors=getattr(model, "factors", None),
        users=len(served.ranker.users),
        items=len(served.ranker.items),
        path=None if path is None else schema.Path(max_rank=path.max_rank, regularizations=[0.0, 0.95]),
        rank=None if path is None else model.factors,
        regularization=None if path is None else model.regularization,
        discount=served.own_discount,
        folds_in=served.folds_in,
        columns=list(served.catalogue.kinds),
        column_kinds=served.catalogue.kinds,
        weight=weight,
    )


def _add_map(app: FastAPI, shelf: Shelf) -> None:
    maps: Kept[tuple[bytes, bytes]] = Kept(4)

    def texts(served: Served) -> tuple[bytes, bytes]:
        plain = json_bytes(map_of(served))
        return plain, gzip.compress(plain, 5)

    @app.get("/v1/map", response_model=schema.ItemMap, responses=REFUSALS)
    def item_map(request: Request, model: Name = None) -> Response:
        """Return the items in the plane."""
        served = _named(shelf, model, request)
        plain, packed = maps.get(served, lambda: texts(served))
        headers = {"vary": "accept-encoding", "cache-control": "no-cache"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, media_type="application/json", headers={**headers, "content-encoding": "gzip"})
        return Response(plain, media_type="application/json", headers=headers)


def _named(shelf: Shelf, model: str | None, request: Request) -> Served:
    served = shelf.models.get(shelf.default if model is None else model)
    if served is None:
        raise Refused(404, f"there is no model {model!r}", f"choose from {', '.join(list(shelf.models)[:20])}")
    request.scope["taylorank.model"] = served.name
    return served


def _add_health(app: FastAPI, shelf: Shelf, metrics: Metrics) -> None:
    @app.get("/health/live")
    async def live() -> schema.Health:
        """Say that the process answers."""
        return schema.Health(status="live")

    @app.get("/health/ready", responses={503: {"model": schema.Problem}})
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
