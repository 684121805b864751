"""Does RG2 give the same lists with another seed? The seed is where the SVD begins; `tolerance` is where it ends.

Two fits with seeds 0 and 1 and otherwise the defaults, for several values of `tolerance`: the share of users whose ten
best items are the same in the same order, the mean share of items that two lists have in common, and NDCG@10 of both.

    python -m research.bench seed-agreement --json research/records/bench/seed_agreement.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorank.data import Interactions, datasets, planted
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.ranking import evaluate

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure on planted data, ML-1M and Yelp2018; `quick` has small planted data."""
    machine = describe_machine()
    if quick:
        sets = {"planted": planted(300, 150, interactions=6000).core(5)}
    else:
        sets = {
            "planted": planted(2000, 1000, interactions=60_000, random_state=0).core(5),
            "ml-1m": datasets.get("ml-1m", cleaning="paper"),
            "yelp2018": datasets.published_split("yelp2018")[0],
        }
    rows = [{"data": name, **measured(data, tol)} for name, data in sets.items() for tol in TOLERANCES]
    return {"benchmark": "seed-agreement", "default": RG2().tolerance, "machine": machine, "results": rows}


def measured(data: Interactions, tolerance: float) -> dict[str, Any]:
    """Fit with two seeds and compare the lists of ten of all users who have test items."""
    train, valid, test = data.split(random_state=0)
    users = test.users.values[np.flatnonzero(test.by_user.row_lengths > 0)]
    models = [RG2(tolerance=tolerance, random_state=seed).fit(train) for seed in (0, 1)]
    first, second = (model.recommend(users, n=10, seen=train)[0] for model in models)
    common = [len(np.intersect1d(a, b)) / len(a) for a, b in zip(first, second, strict=True)]
    quality = [evaluate(model, test, k=10, seen=[train, valid])["ndcg@10"] for model in models]
    return {
        "tolerance": tolerance,
        "users": len(users),
        "same": round(float((first == second).all(axis=1).mean()), 4),
        "common": round(float(np.mean(common)), 4),
        "ndcg@10": [round(value, 5) for value in quality],
        "passes": [model.passes_ for model in models],
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for row in record["results"]:
        is_default = " (default)" if row["tolerance"] == record["default"] else ""
        line = (
            f"{row['data']}, tolerance {row['tolerance']:g}{is_default}: {100 * row['same']:.2f} % of {row['users']:,} "
        )
        line += f"lists of 10 the same, {100 * row['common']:.1f} % of their items in common, "
        low, high = row["ndcg@10"]
        lines.append(line + f"NDCG@10 {low:.4f} and {high:.4f}, {row['passes'][0]} passes")
    return lines
