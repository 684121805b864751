"""RG² on two towers with side features: the same loss by Newton-CG and by Adam, for each activation.

    python -m research.bench towers --json research/records/optimisers/towers.json

The full loss without any penalty, so that optimisers differ in nothing else. An epoch of Newton-CG is one iteration,
one of Adam a pass over the users in 16 steps.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from research.bench.quality.side_features import features_of_truth
from taylorank.data import planted
from taylorank.errors import TrainingWarning
from taylorank.machine import describe_machine
from taylorank.training import Neural

AFTER = (1, 2, 5, 10, 20, 40, 80, 160)
SHAPE: dict[str, Any] = {"factors": 16, "regularization": 0.0, "device": "cpu", "num_threads": 1}


def run(
    *,
    activations: str = "gelu,softplus,relu",
    newton_epochs: int = 40,
    adam_epochs: int = 160,
    users: int = 600,
    items: int = 300,
    interactions: int = 12_000,
    log_line: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Follow the loss of every activation by both optimisers.

    Parameters
    ----------
    activations
        With commas between.
    newton_epochs, adam_epochs
        Iterations, and passes over the data.
    """
    data = planted(users, items, interactions=interactions)
    features = features_of_truth(data, count=32)
    rows = []
    for activation in activations.split(","):
        options = {"activation": activation, "hidden": (32,), "item_features": features}
        for optimizer, epochs in (("newton", newton_epochs), ("adam", adam_epochs)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TrainingWarning)  # relu by newton is asked for
                model = Neural("rg2", "two-tower", optimizer=optimizer, epochs=epochs, options=options, **SHAPE)
                history = model.fit(data).history_
            losses = {str(n): round(history[n - 1]["loss"], 5) for n in AFTER if n <= len(history)}
            last = {"epochs": len(history), "last": history[-1]["loss"], "seconds": round(history[-1]["seconds"], 1)}
            rows.append({"activation": activation, "optimizer": optimizer, "losses": losses, **last})
            log_line(describe({"rows": rows[-1:]})[0])
    sizes = {"users": users, "items": items, "interactions": data.nnz}
    return {"benchmark": "towers", "machine": describe_machine(), "data": sizes, "rows": rows}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe each curve in a line."""
    return [
        f"{row['activation']}, {row['optimizer']}: {row['last']:.4f} after {row['epochs']} epochs, {row['seconds']} s"
        for row in record["rows"]
    ]
