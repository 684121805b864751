"""MovieLens 100K at K = 64: RecStudio's published row beside ours, and the calibration of the top 20.

RecStudio publishes no table of results; its README holds the log of one run, BPR on MovieLens 100K (github.com/ustcml/
RecStudio, commit 6f628ddd, log of 2023-08-24): ratings ≥ 3 (943 users, 1,574 items, 82,520 interactions), a random
80/10/10 split of every user's, K = 64, one uniform negative, Adam at 0.001, stopped by validation NDCG@5. The same data
and split sizes are used here, with other random splits; the log does not say whether validation items may be
recommended in the test, here they may. Ours are fitted with their defaults at K = 64 (BPR: one draw) to training data
alone, and nothing is chosen.

    python -m research.bench small-ratings --json research/records/bench/small_ratings.json
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from taylorank.data import Interactions, datasets, planted
from taylorank.data.datasets.places import locate
from taylorank.machine import describe_machine
from taylorank.models import IALS, RG2, WRMF, SampledRG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import Ranker, evaluate
from taylorank.registry import model_named

METRICS = ("recall@10", "ndcg@10", "mrr@10", "recall@20", "ndcg@20")
RECSTUDIO = {"recall@10": 0.2391, "ndcg@10": 0.2442, "mrr@10": 0.4021, "recall@20": 0.3530, "ndcg@20": 0.2701}
CALIBRATION = "ece@20"
SEEDS = (0, 1, 2)


def run(*, quick: bool = False) -> dict[str, Any]:
    """Fit all models on three splits; `quick` uses planted data, one split and small ranks."""
    data = planted(200, 90, interactions=4000) if quick else rated()
    factors, seeds = (8, SEEDS[:1]) if quick else (64, SEEDS)
    rows = {name: [measure(name, data, factors, seed) for seed in seeds] for name in models(factors)}
    return {
        "benchmark": "small-ratings",
        "machine": describe_machine(),
        "data": {"users": data.n_users, "items": data.n_items, "interactions": data.nnz},
        "recstudio": RECSTUDIO,
        "ours": {name: _mean(found) for name, found in rows.items()},
    }


def rated() -> Interactions:
    """Return the ratings ≥ 3 of MovieLens 100K, without a core."""
    entry = datasets.info("ml-100k")
    return datasets.read(entry, locate(entry), replace(entry.cleaning("paper"), core=None))


def models(factors: int) -> dict[str, Recommender]:
    """Return the models by name, unfitted; softmax and BPR (one draw, as RecStudio) where torch is installed."""
    found: dict[str, Recommender] = {
        "RG2": RG2(factors),
        "RG2, papers' weights": RG2.paper(factors),
        "RG2, as printed": RG2.literal(factors, iterations=30),
        "SampledRG2": SampledRG2(factors),
        "SampledRG2, as printed": SampledRG2.literal(factors),
        "WRMF": WRMF(factors),
        "IALS": IALS(factors),
    }
    if importlib.util.find_spec("torch"):
        found["softmax"] = model_named("softmax").set_params(factors=factors)
        found["BPR, one draw"] = model_named("bpr").set_params(factors=factors, negatives=1)
    return found


def measure(name: str, data: Interactions, factors: int, seed: int) -> dict[str, float]:
    """Fit one model to one split, and test it."""
    train, _, test = data.split((0.8, 0.1, 0.1), random_state=seed)
    began = time.perf_counter()
    model = models(factors)[name].fit(train)
    seconds = time.perf_counter() - began
    return {**_evaluated(name, model, test), "seconds": seconds}


def _evaluated(name: str, model: Recommender, test: Interactions) -> dict[str, float]:
    """Return the metrics; with the calibration error where p(y | x) is what the model fits."""
    if name == "softmax":
        found = evaluate(SimpleNamespace(ranker=softmax_ranker(model)), test, metrics=(*METRICS, CALIBRATION))
    else:
        found = evaluate(model, test, metrics=(*METRICS, CALIBRATION) if hasattr(model, "probabilities") else METRICS)
    return {metric: float(value) for metric, value in found.items()}


def softmax_ranker(model: Recommender) -> Ranker:
    """Return how a model of logits ranks, with p(y | x) = exp(o_xy) / Σ_j exp(o_xj)."""

    def probabilities(users: NDArray[np.int64]) -> NDArray[np.float32]:
        p: NDArray[np.float32] = special.softmax(model.scores(users), axis=1)
        return p

    return Ranker(model.users, model.items, model.seen, scores=model.scores, probabilities=probabilities)


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([row[name] for row in rows])), 5) for name in rows[0]}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    rows = {"RecStudio's BPR, as published": record["recstudio"], **record["ours"]}
    return [
        f"{name}: {', '.join(f'{metric} {row[metric]:.4f}' for metric in (*METRICS, CALIBRATION) if metric in row)}"
        for name, row in rows.items()
    ]
