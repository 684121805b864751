"""What a vector store needs for a model of rank 1,024 and for its student of 64, on Gowalla: recall, time, bytes.

Both are exported to faiss (flat, HNSW), usearch and Parquet. Recall@20 is against the exact lists of the same model,
seen items left out; a query is one user, on one thread (for Parquet a product with all items by NumPy). Beside them is
how well each model ranks the test part.

    python -m research.bench stores --json research/records/bench/stores.json
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from research.bench.speed.timing import blas_threads
from taylorank.data import Interactions, datasets, planted
from taylorank.errors import MissingExtraError
from taylorank.machine import describe_machine
from taylorank.models import RG2, Distilled
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate

SETTINGS: dict[str, Any] = {"proposal_exponent": 0.9, "context_exponent": 1.2, "regularization": 0.25}
TEACHER, STUDENT, USERS = 1024, 64, 1_000
STORES = (("faiss", "flat"), ("faiss", "hnsw"), ("usearch", "hnsw"), ("parquet", "exact"))


def run(*, quick: bool = False, teacher: int = TEACHER, factors: int = STUDENT) -> dict[str, Any]:
    """Export both models to every store; `quick` takes small planted data."""
    machine = describe_machine()
    if quick:
        teacher, factors = min(teacher, 32), min(factors, 8)
        words, (train, test) = "planted", planted(400, 300, interactions=8_000).split((0.8, 0.2))
    else:
        words, (train, test) = "gowalla", datasets.published_split("gowalla")[:2]
    large = RG2(teacher, **SETTINGS).fit(train)
    student = Distilled(large, factors, steps=40 if quick else None).fit(train)
    models = {f"RG2, {teacher:,}": large, f"student, {factors}": student}
    return {
        "benchmark": "stores",
        "data": words,
        "items": train.n_items,
        "machine": machine,
        "models": {
            name: {"quality": _quality(model, train, test), "stores": _stores(model, 50 if quick else USERS)}
            for name, model in models.items()
        },
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the quality of each model and what each store found, took and kept."""
    lines = []
    for name, model in record["models"].items():
        shown = ", ".join(f"{metric} {value:.4f}" for metric, value in model["quality"].items())
        lines.append(f"{name}, {record['items']:,} items ({record['data']}): test {shown}")
        for row in model["stores"]:
            where = f"{row['kind']} ({row['index']})"
            if "missing" in row:
                lines.append(f"  {where}: {row['missing']}")
                continue
            found = row["measured"]
            lines.append(
                f"  {where}: recall@{found['n']} {found['recall']:.4f}, {found['milliseconds']:.3g} ms per query, "
                f"{row['bytes']:,} bytes, exported in {row['seconds']:.1f} s"
            )
    return lines


def _quality(model: Recommender, train: Interactions, test: Interactions) -> dict[str, float]:
    found = evaluate(model, test, k=20, metrics=["ndcg", "recall"], seen=[train], confidence=None)
    return {name: round(value, 5) for name, value in found.items()}


def _stores(model: Recommender, sample: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, blas_threads(1):
        return [_row(model, kind, index, Path(folder) / f"{kind}-{index}", sample) for kind, index in STORES]


def _row(model: Recommender, kind: str, index: str, place: Path, sample: int) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        found = model.export(kind, place, index=index, sample=sample, users=False)
    except MissingExtraError as error:
        return {"kind": kind, "index": index, "missing": str(error)}
    kept = {name: value for name, value in asdict(found).items() if name not in ("target", "users")}
    return {**kept, "seconds": round(time.perf_counter() - start, 2)}
