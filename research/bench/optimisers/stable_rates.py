"""The largest stable learning rate of each loss: gradient descent with momentum, matrix factorisation.

A rate is stable if after some epochs the mean loss of an epoch is a number and below that of the first epoch at the
smallest rate. Rates double; the largest is the last before the first that is not stable.

    python -m research.bench stable-rates ml-1m.npz --json rates.json
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taylorank import losses as family
from taylorank.data import Interactions
from taylorank.errors import TrainingError
from taylorank.losses import names as loss_names
from taylorank.machine import describe_machine
from taylorank.training import Neural
from taylorank.training.run import BATCH_SIZES

RATES = [2.0**power for power in range(-6, 21)]


def largest_rate(loss: str, data: Interactions, **params: Any) -> dict[str, Any]:
    """Double the rate until the loss no longer falls."""
    first, found, reached = None, None, []
    params = {"batch_size": BATCH_SIZES[family.get(loss).batch_of], **params}  # the same on small data
    for rate in RATES:
        model = Neural(loss, learning_rate=rate, regularization=0.0, optimizer="sgd", schedule="constant", **params)
        try:
            history = [record["loss"] for record in model.fit(data).history_]
        except TrainingError:
            history = [math.nan]
        first = history[0] if first is None else first
        reached.append(history[-1])
        if not history[-1] <= first:
            break
        found = rate
    return {
        "loss": loss,
        "largest": found,
        "first": first,
        "losses": [x if math.isfinite(x) else None for x in reached],
    }


def run(
    data: Path,
    /,
    *,
    losses: str = ",".join(loss_names()),
    epochs: int = 4,
    factors: int = 64,
    log_line: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Find the largest rate of every loss.

    Parameters
    ----------
    data
        A file of Interactions.save_npz.
    losses
        With commas between.
    """
    interactions = Interactions.load_npz(data)
    rows = []
    for loss in losses.split(","):
        rows.append(largest_rate(loss, interactions, epochs=epochs, factors=factors, negatives=32))
        log_line(f"{loss}: {rows[-1]['largest']}")
    return {"benchmark": "stable-rates", "machine": describe_machine(), "epochs": epochs, "rows": rows}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the rates in a line."""
    return [", ".join(f"{row['loss']} {row['largest']:g}" for row in record["rows"] if row["largest"] is not None)]
