"""The largest learning rate that each loss bears: gradient descent with momentum, matrix factorisation.

A rate is borne if after some epochs the mean loss of an epoch is a number and below that of the first epoch at the
smallest rate. Rates double; the largest is the last before the first that is not borne.

    python -m research.bench.stable_rates ml-1m.npz --json rates.json
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from taylorank import losses
from taylorank.data import Interactions
from taylorank.errors import TrainingError
from taylorank.machine import describe_machine
from taylorank.output import atomic_path
from taylorank.training import Neural

RATES = [2.0**power for power in range(-6, 21)]


def largest_rate(loss: str, data: Interactions, **params: Any) -> dict[str, Any]:
    """Double the rate until the loss no longer falls."""
    first, found, reached = None, None, []
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


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, try, write."""
    parser = argparse.ArgumentParser(description="The largest learning rate that each loss bears.")
    parser.add_argument("data", help="a file of Interactions.save_npz")
    parser.add_argument("--losses", default=",".join(losses.names()))
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--json", required=True)
    given = parser.parse_args(arguments)
    data = Interactions.load_npz(given.data)
    rows = []
    for loss in given.losses.split(","):
        rows.append(largest_rate(loss, data, epochs=given.epochs, factors=given.factors, negatives=32))
        print(f"{loss}: {rows[-1]['largest']}", flush=True)
    result = {
        "benchmark": "stable-rates",
        "command": " ".join(["python -m research.bench.stable_rates", *sys.argv[1:]]),
        "machine": describe_machine(),
        "epochs": given.epochs,
        "rows": rows,
    }
    with atomic_path(given.json) as temporary:
        Path(temporary).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
