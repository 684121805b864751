"""What rank costs and buys: RG², iALS and EASE on planted data of many factors, rank by rank and within some seconds.

5,000 users with 100 items each on average.

At each K one fit with the model's own values; RG² takes the best threshold of its path on validation data.
Then `tune` with the same seconds for each model. Chosen on validation data; each row is measured on test data once.

    python -m research.bench rank-budget --json research/records/bench/rank_budget.json
"""

from __future__ import annotations

import time
from typing import Any

from taylorank.data import Interactions, planted
from taylorank.machine import describe_machine
from taylorank.models import EASE, IALS, RG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate
from taylorank.selection import tune

METRIC = "ndcg@10"
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
Parts = tuple[Interactions, ...]
Row = dict[str, Any]


def run(*, quick: bool = False) -> Row:
    """Measure; `quick` uses small data."""
    machine = describe_machine()
    ranks, seconds = ((4, 8), (0.2,)) if quick else ((64, 128, 256, 512, 1024), (20.0, 60.0))
    data = (
        planted(150, 100, interactions=3000)
        if quick
        else planted(5000, 2000, factors=300, interactions=500_000, taste=4.0)
    )
    parts = data.split(random_state=0)
    rows = [row for rank in ranks for row in (_rg2(rank, parts), _row(IALS(rank), parts, K=rank))]
    rows.append(_row(EASE(), parts, K=None))
    tuned = [_tuned(name, parts, limit) for limit in seconds for name in ("rg2", "ials", "ease")]
    return {
        "benchmark": "rank-budget",
        "machine": machine,
        "data": str(data).split("\n")[0],
        "rows": rows,
        "tuned": tuned,
    }


def _row(model: Recommender, parts: Parts, **facts: Any) -> Row:
    began = time.perf_counter()
    model.fit(parts[0])
    seconds = round(time.perf_counter() - began, 2)
    return {"model": type(model).__name__, **facts, "seconds": seconds, **_quality(model, parts)}


def _rg2(rank: int, parts: Parts) -> Row:
    """As `_row`, at the threshold with the best value on validation data."""
    model = RG2(rank)
    row = _row(model, parts, K=rank)
    best = max(
        model.path(regularization=THRESHOLDS), key=lambda point: evaluate(point, parts[1], metrics=METRIC)[METRIC]
    )
    return {**row, **_quality(best, parts)}


def _quality(model: Recommender, parts: Parts) -> Row:
    train, valid, test = parts
    return {
        "validation": round(evaluate(model, valid, metrics=METRIC)[METRIC], 4),
        "test": round(evaluate(model, test, metrics=METRIC, seen=[train, valid])[METRIC], 4),
    }


def _tuned(name: str, parts: Parts, seconds: float) -> Row:
    found = tune(name, *parts[:2], metric=METRIC, seconds=seconds)
    assert found.model is not None
    return {
        "model": type(found.model).__name__,
        "allowed": seconds,
        "seconds": round(found.seconds, 2),
        "fits": found.fits,
        "K": found.best.get("factors"),
        **_quality(found.model, parts),
        "unfinished": found.unfinished,
    }


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    lines = [
        f"{row['model']}{_rank(row)}: {row['seconds']:.1f} s, NDCG@10 {row['validation']:.4f} on validation data, "
        f"{row['test']:.4f} on test data"
        for row in record["rows"]
    ]
    return lines + [
        f"{row['model']} tuned within {row['allowed']:g} s ({row['seconds']:.1f} s, {row['fits']} fits){_rank(row)}: "
        f"NDCG@10 {row['validation']:.4f} on validation data, {row['test']:.4f} on test data"
        for row in record["tuned"]
    ]


def _rank(row: Row) -> str:
    return "" if row["K"] is None else f", K = {row['K']}"
