"""`POST /v1/recommend`: from the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pydantic import ValidationError

from taylorank.errors import TaylorankError
from taylorank.serving.batcher import Batcher, Ranked
from taylorank.serving.json_text import json_bytes
from taylorank.serving.problems import Refused, of_library, of_validation
from taylorank.serving.query import Query, query_of
from taylorank.serving.schema import MANY, MOST_OF_A_BATCH, ONE, Ask
from taylorank.serving.shelf import Shelf

LONG_BODY = 1 << 16  # bytes; parsed in a thread from here on
BLANKS = b" \t\r\n"


class Recommending:
    """Answers requests for recommendations."""

    def __init__(self, shelf: Shelf, batcher: Batcher) -> None:
        self.shelf, self.batcher = shelf, batcher

    async def answer(self, body: bytes) -> tuple[bytes, str]:
        """Return the answer as JSON, and the name of the model for the metrics."""
        began = time.perf_counter()
        if len(body) < LONG_BODY:
            asked, queries = self._read(body)
        else:
            asked, queries = await asyncio.get_running_loop().run_in_executor(None, self._read, body)
        if isinstance(asked, list):
            results = await asyncio.gather(*(self.batcher.submit(query) for query, _ in queries))
        else:
            results = [await self.batcher.submit(queries[0][0])]
        documents = [
            _document(query, variant, ranked, began)
            for (query, variant), ranked in zip(queries, results, strict=True)
        ]  # fmt: skip
        names = {query.served.name for query, _ in queries}
        return json_bytes(documents if isinstance(asked, list) else documents[0]), names.pop() if len(
            names
        ) == 1 else ""

    def _read(self, body: bytes) -> tuple[Ask | list[Ask], list[tuple[Query, str | None]]]:
        """Parse, check and translate a body."""
        try:
            asked = MANY.validate_json(body) if body.lstrip(BLANKS)[:1] == b"[" else ONE.validate_json(body)
        except ValidationError as error:
            raise of_validation(error) from None
        many = asked if isinstance(asked, list) else [asked]
        if len(many) > 1 and sum(ask.n for ask in many) > MOST_OF_A_BATCH:
            raise Refused(
                422, f"the lists of this batch have more than {MOST_OF_A_BATCH:,} items", "send less at a time"
            )
        queries = []
        for place, ask in enumerate(many):
            try:
                queries.append(self._query(ask))
            except (TaylorankError, Refused) as error:
                refused = of_library(error) if isinstance(error, TaylorankError) else error
                if isinstance(asked, list):
                    refused.error = f"request {place}: {refused.error}"
                raise refused from None
        return asked, queries

    def _query(self, ask: Ask) -> tuple[Query, str | None]:
        served, variant = self.shelf.choose(ask.model, ask.user)
        if served is None:
            names = ", ".join(list(self.shelf.models)[:20])
            raise Refused(404, f"there is no model {ask.model!r}", f"choose from {names}")
        return query_of(ask, served), variant


def _document(query: Query, variant: str | None, ranked: Ranked, began: float) -> dict[str, Any]:
    ids, titles = query.served.catalogue.ids, query.served.catalogue.titles
    items = [
        {"id": ids[column], "title": titles[column], "score": score, "reasons": []}
        for column, score in zip(ranked.columns, ranked.scores, strict=True)
    ]
    for item, reasons in zip(items, ranked.reasons, strict=False):
        item["reasons"] = [{"id": ids[column], "title": titles[column], "share": share} for column, share in reasons]
    return {
        "items": items,
        "model": query.served.name,
        "version": query.served.version,
        "variant": variant,
        "took_ms": round(1e3 * (time.perf_counter() - began), 3),
        "ignored": query.ignored,
    }
