"""Sampled softmax and NCE against the number of draws: NDCG@20 on a published split, all else at Neural's defaults.

Uniform draws, and for sampled softmax the hardest of a few (dynamic) beside them. Nothing is chosen by the test data:
every fit has the same settings but for the draws.

    python -m research.bench negatives gowalla-train.npz gowalla-test.npz --json research/records/neural/negatives.json
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taylorank.data import Interactions, share_ids
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.training import Neural

METRICS = ("ndcg@20", "recall@20")
COMPOSITIONS = "sampled-softmax/uniform,sampled-softmax/dynamic,nce/uniform"


def run(
    train: Path,
    test: Path,
    /,
    *,
    compositions: str = COMPOSITIONS,
    counts: str = "1,4,16,64,256",
    epochs: int = 50,
    factors: int = 64,
    random_state: int = 0,
    log_line: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Fit every composition with every number of draws.

    Parameters
    ----------
    train, test
        Files of Interactions.save_npz.
    compositions
        loss/sampler, with commas between.
    counts
        Numbers of draws, with commas between.
    """
    given, held_out = share_ids(Interactions.load_npz(train), Interactions.load_npz(test))
    fits = []
    for name in compositions.split(","):
        loss, sampler = name.split("/")
        for count in map(int, counts.split(",")):
            model = Neural(
                loss, sampler=sampler, negatives=count, epochs=epochs, factors=factors, random_state=random_state
            )
            began = time.perf_counter()
            model.fit(given)
            seconds = time.perf_counter() - began
            found = evaluate(model, held_out, metrics=METRICS)
            fits.append({"composition": name, "draws": count, "seconds": round(seconds, 2), "metrics": dict(found)})
            log_line(f"{name}, {count} draws: NDCG@20 {found['ndcg@20']:.4f}, {seconds:.0f} s")
    settings = {"epochs": epochs, "factors": factors, "random_state": random_state}
    return {"benchmark": "negatives", "machine": describe_machine(), **settings, "train": train.name, "fits": fits}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the metric by number of draws, a line for each composition."""
    lines = []
    for name in dict.fromkeys(fit["composition"] for fit in record["fits"]):
        own = [fit for fit in record["fits"] if fit["composition"] == name]
        lines.append(f"{name}: " + ", ".join(f"{fit['metrics']['ndcg@20']:.4f} with {fit['draws']}" for fit in own))
    return lines
