"""SASRec under leave-one-out: each user's last item is the test, the one before it chooses the epoch.

Full ranking, items of the history left out, on the data of the published values (ML-1M, all ratings, 5-core). As there,
the model that is tested has been fitted to all but the last item. Half of ML-1M's ratings share their second with the
one before; in what order they come is not known, and matters: `--ties random` or by `id` makes one.

    python -m research.bench.sequential ml-1m.npz --loss softmax --json sasrec.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from taylorank.data import Interactions, merge
from taylorank.machine import describe_machine
from taylorank.output import atomic_path
from taylorank.ranking import evaluate
from taylorank.training import Neural

# NDCG@10 on ML-1M: antklen/sasrec-bert4rec-recsys23, and Petrov and Macdonald 2023 (gSASRec).
PUBLISHED = {
    "SASRec, BCE": 0.1341,
    "SASRec, cross-entropy": 0.1821,
    "SASRec, 3000 negatives": 0.1857,
    "gSASRec": 0.1726,
}
METRICS = ("ndcg@10", "recall@10", "mrr@10")


def in_order(data: Interactions, ties: str, *, seed: int) -> Interactions:
    """Return the data with different times for all interactions: those of one moment at random, or by item id."""
    assert data.timestamps is not None
    rows, columns = data.by_user.row_of_entry(), data.by_user.indices
    keys = np.random.default_rng(seed).random(data.nnz) if ties == "random" else columns
    order = np.lexsort((keys, data.timestamps))
    times = np.empty(data.nnz, dtype=np.int64)
    times[order] = np.arange(data.nnz)
    return Interactions.from_positions((data.users, rows), (data.items, columns), timestamps=times)


def measure(data: Interactions, model: Neural, *, patience: int) -> dict[str, Any]:
    """Choose the epoch by the last item but one, fit to all but the last for as many epochs, test on the last."""
    train, valid, test = data.split_last()
    began = time.perf_counter()

    def tell(progress: Any) -> None:
        print(f"epoch {progress.step}: loss {progress.loss:.4f}, ndcg@10 {progress.metric:.4f}", flush=True)

    model.fit(train, valid, tell, metric="ndcg@10", patience=patience)
    history = model.history_
    chosen = 1 + max(range(len(history)), key=lambda i: history[i]["metric"])
    both = merge(train, valid)
    unfitted = evaluate(model.fold_in(both), test, seen=both, metrics=METRICS)
    final = Neural(**model.get_params()).fit(both, callback=lambda progress: progress.step >= chosen)
    found = evaluate(final, test, seen=both, metrics=METRICS)
    return {
        "parameters": model.get_params(),
        "epochs": chosen,
        "validation": history[chosen - 1]["metric"],
        "test": {name: round(found[name], 5) for name in METRICS},
        "test without the fit to validation items": {name: round(unfitted[name], 5) for name in METRICS},
        "seconds": round(time.perf_counter() - began, 1),
        "history": history,
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, fit, test, write."""
    parser = argparse.ArgumentParser(description="SASRec, leave-one-out, full ranking.")
    parser.add_argument("data", help="a file of Interactions.save_npz with times")
    parser.add_argument("--loss", default="softmax")
    parser.add_argument("--sampler")
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--negatives", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--patience", type=int, default=20)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--schedule", default="constant")
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--ties", choices=("random", "id"), default="random", help="order of items of one moment")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", required=True)
    given = parser.parse_args(arguments)
    model = Neural(
        given.loss,
        "sasrec",
        given.sampler,
        factors=given.factors,
        negatives=given.negatives,
        epochs=given.epochs,
        learning_rate=given.learning_rate,
        schedule=given.schedule,
        weight_decay=given.weight_decay,
        optimizer="adamw" if given.weight_decay else "adam",
        batch_size=given.batch_size,
        precision=given.precision,
        options={name: getattr(given, name) for name in ("length", "dropout", "blocks", "heads")},
        random_state=given.seed,
    )
    result = {
        "benchmark": "sequential",
        "command": " ".join(["python -m research.bench.sequential", *sys.argv[1:]]),
        "machine": describe_machine(),
        "published": PUBLISHED,
        "ties": given.ties,
        **measure(
            in_order(Interactions.load_npz(given.data), given.ties, seed=given.seed), model, patience=given.patience
        ),
    }
    with atomic_path(given.json) as temporary:
        Path(temporary).write_text(json.dumps(result, indent=1) + "\n")
    print({key: result[key] for key in ("epochs", "validation", "test", "seconds")})


if __name__ == "__main__":
    main()
