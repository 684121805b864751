"""What `taylorank serve` is measured against: a FastAPI handler that calls implicit, as one would write it.

python -m research.bench.speed.serving_peer factors.npz
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from scipy.sparse import csr_matrix

from research.bench.speed.timing import blas_threads
from research.bench.speed.top_k import implicit_model


class Past(BaseModel):
    """An item of a history."""

    item: int


class Ask(BaseModel):
    """A request."""

    user: int | None = None
    history: list[Past] = []
    n: int = 10


def application(file: Path, threads: int) -> FastAPI | None:
    """Return the application, or None where implicit is not installed."""
    arrays = np.load(file)
    model = implicit_model(arrays["users"], arrays["items"], threads=threads)
    if model is None:
        return None
    shape = (len(arrays["users"]), len(arrays["items"]))
    ones = np.ones(len(arrays["indices"]), dtype=np.float32)
    seen = csr_matrix((ones, arrays["indices"], arrays["indptr"]), shape=shape)
    app = FastAPI()

    @app.get("/health/live")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @app.post("/v1/recommend")
    def recommend(ask: Ask) -> dict[str, Any]:
        if ask.user is not None:
            ids, scores = model.recommend(ask.user, seen[ask.user], N=ask.n)
        else:
            items = [past.item for past in ask.history]
            row = csr_matrix((np.ones(len(items)), ([0] * len(items), items)), shape=(1, shape[1]))
            ids, scores = model.recommend(0, row, N=ask.n, recalculate_user=True)
        best = zip(ids.tolist(), scores.tolist(), strict=True)
        return {"items": [{"id": item, "score": score} for item, score in best]}

    return app


def serve(file: str) -> None:
    """Listen at a free port and say which; return at once where implicit is not installed."""
    app = application(Path(file), threads=2)
    if app is None:
        return
    bound = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{bound.getsockname()[1]}/", flush=True)
    with blas_threads(1):
        uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[bound])
