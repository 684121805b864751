"""Which penalty should a loss have on inner products by default? Chosen on validation data of several sets.

For each set: the papers' cleaning, 80/10/10 per user, one fit per loss, backbone and penalty with all else as `Neural`
has it, NDCG@10 on validation data for a sample of users. No test data is touched. A penalty's score is the mean over
the sets of its NDCG relative to the best penalty of that loss and backbone on that set, so that every set counts the
same.

    python -m research.bench neural-defaults --json research/records/bench/neural_defaults.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from research.bench.quality.defaults import USERS, sampled
from taylorank.data import Interactions, datasets, planted
from taylorank.errors import DataError, TrainingError
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.torch_extra import require_torch
from taylorank.training import Neural

SETS = ("ml-100k", "wikispeedia-links")
LOSSES = ("softmax", "rankmax", "sparsemax", "entmax", "sampled-softmax", "nce", "bce", "bpr", "hinge", "uib", "rg2")
ON_LIGHTGCN = ("softmax", "rankmax", "sparsemax", "entmax", "bpr")
PENALTIES = (0.0, 0.001, 0.01, 0.03, 0.1, 0.3)


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure every penalty on every set that is here; `quick` uses planted data and two losses."""
    require_torch()
    machine = describe_machine()
    values: dict[str, dict[str, list[float]]] = {}
    if quick:
        data = planted(200, 80, interactions=3000)
        values["planted"] = {name: measure(data, name, epochs=2) for name in ("softmax/mf", "bpr/lightgcn")}
    else:
        for name in SETS:
            found = load(name)
            if found is not None:
                values[name] = {one: measure(found, one) for one in compositions()}
    return {
        "benchmark": "neural-defaults",
        "machine": machine,
        "penalties": list(PENALTIES),
        "ndcg@10": values,
        "relative": relative(values),
    }


def compositions() -> list[str]:
    """Return loss/backbone of all that is measured."""
    return [*(f"{loss}/mf" for loss in LOSSES), *(f"{loss}/lightgcn" for loss in ON_LIGHTGCN)]


def load(name: str) -> Interactions | None:
    """Return a set with the papers' cleaning, or None where it is not on this machine."""
    try:
        return datasets.get(name, cleaning="paper")
    except DataError:
        return None


def measure(data: Interactions, composition: str, **params: Any) -> list[float]:
    """Return NDCG@10 on validation data for each penalty; 0 where training fails."""
    train, valid, _ = data.split(random_state=0)
    sample = sampled(valid, USERS)
    loss, backbone = composition.split("/")
    values = []
    for penalty in PENALTIES:
        model = Neural(loss, backbone, regularization=penalty, **params)
        try:
            values.append(round(evaluate(model.fit(train), sample, k=10)["ndcg@10"], 5))
        except TrainingError:
            values.append(0.0)
    return values


def relative(values: dict[str, dict[str, list[float]]]) -> dict[str, list[float]]:
    """Return for each composition the mean over the sets of each penalty's share of the best.

    >>> relative({"a": {"bpr/mf": [0.1, 0.2]}, "b": {"bpr/mf": [0.3, 0.3]}})
    {'bpr/mf': [0.75, 1.0]}
    """
    names = list(next(iter(values.values()), {}))
    shares = {name: [np.divide(found[name], max(found[name])) for found in values.values()] for name in names}
    return {name: np.mean(each, axis=0).round(4).tolist() for name, each in shares.items()}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe each composition's share of its best, penalty by penalty."""
    head = ", ".join(f"{penalty:g}" for penalty in record["penalties"])
    lines = [f"shares of the best penalty on {', '.join(record['ndcg@10'])}, for λ = {head}:"]
    for name, shares in record["relative"].items():
        lines.append(f"{name}: {', '.join(f'{100 * share:.0f} %' for share in shares)}")
    return lines
