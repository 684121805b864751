"""What one can look up: items, users, models, the map."""

from __future__ import annotations

import gzip
from typing import Annotated, Any
from weakref import WeakKeyDictionary

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from taylorank.ranking import similar_items
from taylorank.serving import schema
from taylorank.serving.item_map import map_of
from taylorank.serving.json_text import json_bytes
from taylorank.serving.problems import REFUSALS, Refused
from taylorank.serving.query import user_row
from taylorank.serving.served import Served
from taylorank.serving.shelf import Shelf
from taylorank.serving.spelled import id_of

Count = Annotated[int, Query(ge=1, le=1_000)]
Name = Annotated[str | None, Query(max_length=200, description="Name of a model; default: the first.")]
Text = Annotated[str, Query(max_length=200)]
Id = Annotated[str, Field(max_length=schema.LONGEST_TEXT)]


class Lookups:
    """The routes, over the models of a shelf; threads of a pool run them."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.maps: WeakKeyDictionary[Served, tuple[bytes, bytes]] = WeakKeyDictionary()

    def router(self) -> APIRouter:
        """Return all of them."""
        router = APIRouter(prefix="/v1", responses=REFUSALS)
        router.add_api_route("/items", self.items)
        router.add_api_route("/items/{id:path}/similar", self.similar)
        router.add_api_route("/users/{id:path}", self.user)
        router.add_api_route("/models", self.models)
        router.add_api_route("/map", self.map, response_model=schema.ItemMap)
        return router

    def items(self, request: Request, q: Text = "", n: Count = 10, model: Name = None) -> schema.Found:
        """Search items by title or id: prefixes first, without case and accents; without q the most popular."""
        served = self._named(model, request)
        rows = served.search.find(q, n + len(served.hidden_rows))
        rows = rows[~np.isin(rows, served.hidden_rows)][:n]
        popularity = served.ranker.item_popularity
        found = [schema.FoundItem(popularity=float(popularity[row]), **_item(served, row)) for row in rows.tolist()]
        return schema.Found(items=found)

    def similar(self, request: Request, id: Id, n: Count = 10, model: Name = None) -> schema.Similar:
        """Return the nearest items: by the angle of vectors, or by the weights of item-based models."""
        served = self._named(model, request)
        items = served.ranker.items
        row = int(items.require([id_of(id, items)], "item")[0])
        most = min(n + len(served.hidden_rows), len(items))
        found, scores = similar_items(served.ranker, items.take([row]).tolist(), most)
        near = [
            schema.SimilarItem(score=score, **_item(served, place))
            for place, score in zip(items.positions(found[0]).tolist(), scores[0].tolist(), strict=True)
            if place >= 0 and score == score and place not in served.hidden_rows
        ]
        item = _item(served, row)
        return schema.Similar(item=item["id"], title=item["title"], items=near[:n], **_maker(served))

    def user(self, request: Request, id: Id, model: Name = None) -> schema.UserHistory:
        """Return the history of a user in the training data."""
        served = self._named(model, request)
        users, seen = served.ranker.users, served.ranker.seen
        row = user_row(id_of(id, users), served)
        part = slice(seen.by_user.indptr[row], seen.by_user.indptr[row + 1])
        ids, titles = served.catalogue.ids, served.catalogue.titles
        past = [
            schema.PastItem(item=ids[item], title=titles[item], strength=strength)
            for item, strength in zip(seen.by_user.indices[part].tolist(), seen.strengths[part].tolist(), strict=True)
        ]
        return schema.UserHistory(user=users.take([row]).tolist()[0], history=past, **_maker(served))

    def models(self) -> schema.Models:
        """Return the models, what they can do, and the share of users that each has."""
        weights = self.shelf.settings.weights
        total = sum(weights.values())
        return schema.Models(models=[_facts(one, weights[name] / total) for name, one in self.shelf.models.items()])

    def map(self, request: Request, model: Name = None) -> Response:
        """Return the items in the plane."""
        served = self._named(model, request)
        if served not in self.maps:
            self.maps[served] = _map_texts(served)
        plain, packed = self.maps[served]
        headers = {"vary": "accept-encoding", "cache-control": "no-cache"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, media_type="application/json", headers={**headers, "content-encoding": "gzip"})
        return Response(plain, media_type="application/json", headers=headers)

    def _named(self, model: str | None, request: Request) -> Served:
        served = self.shelf.models.get(self.shelf.default if model is None else model)
        if served is None:
            names = ", ".join(list(self.shelf.models)[:20])
            raise Refused(404, f"there is no model {model!r}", f"choose from {names}")
        request.scope["taylorank.model"] = served.name
        return served


def _item(served: Served, row: int) -> dict[str, Any]:
    return {"id": served.catalogue.ids[row], "title": served.catalogue.titles[row]}


def _maker(served: Served) -> dict[str, str]:
    return {"model": served.name, "version": served.version}


def _facts(served: Served, weight: float) -> schema.ModelFacts:
    path, model = served.path, served.model
    return schema.ModelFacts(
        name=served.name,
        version=served.version,
        kind=type(model).__name__,
        factors=getattr(model, "rank", getattr(model, "factors", None)),
        users=len(served.ranker.users),
        items=len(served.ranker.items),
        path=None if path is None else schema.Path(max_rank=path.max_rank, regularizations=[0.0, 0.95]),
        rank=None if path is None else model.rank,
        regularization=None if path is None else model.share,
        discount=served.own_discount,
        folds_in=served.folds_in,
        columns=list(served.catalogue.kinds),
        column_kinds=served.catalogue.kinds,
        weight=weight,
    )


def _map_texts(served: Served) -> tuple[bytes, bytes]:
    plain = json_bytes(map_of(served))
    return plain, gzip.compress(plain, 5)
