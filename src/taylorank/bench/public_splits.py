"""RG² beside published tables, on the published splits of Gowalla and Yelp2018, with tuning on the clock.

Of each user's training items 10 % are held back; `tune` chooses on them, with a budget in seconds that covers the last
fit to all training data. Then one evaluation on the test part, which nothing before has seen. Full ranking, training
items left out, Recall@20 and NDCG@20.

    taylorank bench public-splits --json docs/bench/public_splits.json
"""

from __future__ import annotations

import time
from typing import Any

from taylorank.bench.machine import describe_machine
from taylorank.data import Interactions, datasets, planted
from taylorank.errors import DataError
from taylorank.ranking import evaluate
from taylorank.selection import tune

SECONDS = 165.0  # of tuning, the last fit included; the goal is 180 with reading and evaluation of the test part
METRIC = "ndcg@20"
SHOWN = ("recall@20", "ndcg@20")

# Recall@20 and NDCG@20 as published on these splits, by the BARS leaderboard or the authors' repositories; several of
# them were chosen on test data.
PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "gowalla": {
        "MF-BPR": (0.1627, 0.1378),
        "EASE": (0.1765, 0.1467),
        "LightGCN": (0.1830, 0.1554),
        "GF-CF": (0.1849, 0.1518),
        "UltraGCN": (0.1862, 0.1580),
        "SimpleX": (0.1872, 0.1557),
        "softmax, MF": (0.1759, 0.1395),
        "softmax, LightGCN": (0.1874, 0.1571),
        "BSL, MF": (0.1882, 0.1584),
        "BSL, LightGCN": (0.1892, 0.1590),
    },
    "yelp2018": {
        "MF-BPR": (0.0576, 0.0468),
        "EASE": (0.0657, 0.0552),
        "LightGCN": (0.0649, 0.0530),
        "GF-CF": (0.0697, 0.0571),
        "UltraGCN": (0.0683, 0.0561),
        "SimpleX": (0.0701, 0.0575),
        "softmax, MF": (0.0721, 0.0592),
        "softmax, LightGCN": (0.0736, 0.0612),
        "BSL, MF": (0.0725, 0.0599),
        "BSL, LightGCN": (0.0744, 0.0617),
    },
}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Tune, refit and test on every set that is here; `quick` uses planted data alone."""
    machine = describe_machine()
    if quick:
        train, test = planted(300, 120, interactions=6000).split((0.8, 0.2))
        sets = [measure("planted", train, test, seconds=5.0)]
    else:
        sets = [measured for name in PUBLISHED if (measured := _measure(name)) is not None]
    return {"benchmark": "public-splits", "metric": METRIC, "machine": machine, "sets": sets}


def _measure(name: str) -> dict[str, Any] | None:
    start = time.perf_counter()
    try:
        train, test = datasets.published_split(name)
    except DataError:
        return None  # not on this machine
    read = time.perf_counter()
    record = measure(name, train, test, seconds=SECONDS)
    record["seconds"] = {"reading": read - start, **record["seconds"]}
    return record


def measure(name: str, train: Interactions, test: Interactions, *, seconds: float) -> dict[str, Any]:
    """Return what was chosen on validation data, how it does on test data, and what it took."""
    started = time.perf_counter()
    part, valid = train.split((0.9, 0.1), seed=0)
    found = tune("rg2", part, valid, metric=METRIC, seconds=seconds, refit=True)
    tuned = time.perf_counter()
    assert found.model is not None
    metrics = evaluate(found.model, test, k=20, seen=train)
    ended = time.perf_counter()
    return {
        "set": name,
        "chosen": found.best,
        "validation": found.value,
        "test": {key: round(metrics[key], 5) for key in SHOWN},
        "fits": len({trial.fit for trial in found.trials}),
        "points": len(found.trials),
        "advice": found.advice,
        "published": PUBLISHED.get(name, {}),
        "seconds": {
            "split and search": tuned - started - found.parts["last fit"],
            "fit to all training data": found.parts["last fit"],
            "test": ended - tuned,
        },
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Say for each set what was chosen, how it ranks beside the published values, and the time."""
    return [line for measured in record["sets"] for line in _lines(measured)]


def _lines(measured: dict[str, Any]) -> list[str]:
    recall, ndcg = (measured["test"][key] for key in SHOWN)
    others = list(measured["published"].values())
    places = [1 + sum(other[i] > own for other in others) for i, own in enumerate((recall, ndcg))]
    chosen = ", ".join(f"{name} {value}" for name, value in measured["chosen"].items())
    total = sum(measured["seconds"].values())
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in measured["seconds"].items())
    return [
        f"{measured['set']}: Recall@20 {recall:.4f} (place {places[0]}), NDCG@20 {ndcg:.4f} (place {places[1]} of "
        f"{1 + len(others)}); {total:.0f} s ({parts})",
        f"{measured['set']}: chosen on validation data (NDCG@20 {measured['validation']:.4f}): {chosen}",
    ]
