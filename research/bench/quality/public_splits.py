"""RG² beside published tables, on the published splits of Gowalla and Yelp2018, tuned within a time budget.

Of each user's training items 10 % are held back, as a group of like items (`selection.split_blocks`) or at random;
`tune` chooses on them, with a budget in seconds that covers the last fit to all training data. Then one evaluation on
the test part, which took no part in the choice. Full ranking, training items left out, Recall@20 and NDCG@20.

Both sets are visits to places, and their test parts are no random fifth: `drift` says how many times as much the items'
shares in the test part vary as they would at random. A random tenth of the training part is easier than such a test
part, so the rows to read are those of the groups. That there are two kinds of rows is hindsight: those of the random
tenth came first, and did badly on Gowalla.

    python -m research.bench public-splits --json research/records/bench/public_splits.json
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taylorank.data import Interactions, datasets, planted
from taylorank.errors import DataError
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.selection import split_blocks, tune

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
        "ChebyCF": (0.1941, 0.1616),
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


# How a tenth of the training part is held back.
HOLD_OUT: dict[str, Callable[[Interactions], Sequence[Interactions]]] = {
    "groups": lambda train: split_blocks(train, 0.1, random_state=0),
    "at random": lambda train: train.split((0.9, 0.1), random_state=0),
}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Tune, refit and test on every set that is here; `quick` uses planted data alone."""
    machine = describe_machine()
    if quick:
        train, test = planted(300, 120, interactions=6000).split((0.8, 0.2))
        sets = [measure("planted", train, test, hold_out=hold_out, seconds=5.0) for hold_out in HOLD_OUT]
    else:
        sets = [measured for name in PUBLISHED for measured in _measure(name)]
    return {"benchmark": "public-splits", "metric": METRIC, "machine": machine, "sets": sets}


def _measure(name: str) -> list[dict[str, Any]]:
    start = time.perf_counter()
    try:
        train, test = datasets.published_split(name)
    except DataError:
        return []  # not on this machine
    reading = time.perf_counter() - start
    records = [measure(name, train, test, hold_out=hold_out, seconds=SECONDS) for hold_out in HOLD_OUT]
    return [{**record, "seconds": {"reading": reading, **record["seconds"]}} for record in records]


def measure(name: str, train: Interactions, test: Interactions, *, hold_out: str, seconds: float) -> dict[str, Any]:
    """Return what was chosen on validation data, how it does on test data, and what it took."""
    started = time.perf_counter()
    part, valid = HOLD_OUT[hold_out](train)
    found = tune("rg2", part, valid, metric=METRIC, seconds=seconds, refit=True)
    tuned = time.perf_counter()
    assert found.model is not None
    metrics = evaluate(found.model, test, k=20, seen=train)
    ended = time.perf_counter()
    return {
        "set": name,
        "held back": hold_out,
        "drift": round(drift(train, test), 2),
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


def drift(train: Interactions, test: Interactions) -> float:
    """Return the variance of the items' test shares over that of a random split: 1 if test is a random part.

    Σ_y (t_y/n_y − p)² / Σ_y p(1 − p)/n_y over items with n_y ≥ 20, t_y of them in test, p the overall share.
    """
    of_test, of_train = (np.bincount(part.by_user.indices, minlength=part.n_items) for part in (test, train))
    total = of_test + of_train
    common = total >= 20
    share = test.nnz / (test.nnz + train.nnz)
    spread = np.square(of_test[common] / total[common] - share).sum()
    return float(spread / (share * (1 - share) / total[common]).sum()) if common.any() else float("nan")


def describe(record: dict[str, Any]) -> list[str]:
    """Describe for each set what was chosen, how it ranks beside the published values, and the time."""
    lines = [line for measured in record["sets"] for line in _lines(measured)]
    published = {measured["set"]: measured["published"] for measured in record["sets"] if measured["published"]}
    for name, others in published.items():
        by_ndcg = sorted(others.items(), key=lambda other: -other[1][1])
        values = "; ".join(f"{model} {recall:.4f}/{ndcg:.4f}" for model, (recall, ndcg) in by_ndcg)
        lines.append(f"{name}, published Recall@20/NDCG@20: {values}")
    return lines


def _lines(measured: dict[str, Any]) -> list[str]:
    recall, ndcg = (measured["test"][key] for key in SHOWN)
    others = list(measured["published"].values())
    places = [1 + sum(other[i] > own for other in others) for i, own in enumerate((recall, ndcg))]
    chosen = ", ".join(f"{name} {value}" for name, value in measured["chosen"].items())
    total = sum(measured["seconds"].values())
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in measured["seconds"].items())
    name = f"{measured['set']}, held back {measured['held back']}"
    values = f"Recall@20 {recall:.4f} (place {places[0]}), NDCG@20 {ndcg:.4f} (place {places[1]} of {1 + len(others)})"
    return [
        f"{name}: {values}; {total:.0f} s ({parts})",
        f"{name}: chosen with NDCG@20 {measured['validation']:.4f} on validation data: {chosen}",
    ]
