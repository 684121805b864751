"""SASRec under leave-one-out: each user's last item is the test, the one before it chooses the epoch.

Full ranking, items of the history left out. The published values rank the same way on the same data (ML-1M, all
ratings, 5-core). Like them, the model that is tested reads the validation item as part of the history.

    python -m taylorank.bench.sequential ml-1m.npz --loss softmax --json sasrec.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from taylorank.bench.machine import describe_machine
from taylorank.data import Interactions, merge
from taylorank.output import atomic_path
from taylorank.ranking import evaluate
from taylorank.training import Neural

# NDCG@10 on ML-1M: antklen/sasrec-bert4rec-recsys23, and Petrov and Macdonald 2023 (gSASRec).
PUBLISHED = {"SASRec, BCE": 0.1341, "SASRec, cross-entropy": 0.1821, "SASRec, 3000 negatives": 0.1857, "gSASRec": 0.1726}
METRICS = ("ndcg@10", "recall@10", "mrr@10")


def measure(data: Interactions, model: Neural, *, patience: int) -> dict[str, Any]:
    """Fit with early stopping on the last item but one; test on the last."""
    train, valid, test = data.split_last()
    began = time.perf_counter()

    def tell(progress: Any) -> None:
        print(f"epoch {progress.step}: loss {progress.loss:.4f}, ndcg@10 {progress.metric:.4f}", flush=True)

    model.fit(train, valid, tell, metric="ndcg@10", patience=patience)
    seconds = time.perf_counter() - began
    known = model.fold_in(merge(train, valid))
    found = evaluate(known, test, seen=[train, valid], metrics=METRICS)
    return {
        "parameters": model.get_params(),
        "epochs": len(model.history_),
        "validation": max(record["metric"] for record in model.history_),
        "test": {name: round(found[name], 5) for name in METRICS},
        "seconds": round(seconds, 1),
        "history": model.history_,
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
        "command": " ".join(["python -m taylorank.bench.sequential", *sys.argv[1:]]),
        "machine": describe_machine(),
        "published": PUBLISHED,
        **measure(Interactions.load_npz(given.data), model, patience=given.patience),
    }
    with atomic_path(given.json) as temporary:
        Path(temporary).write_text(json.dumps(result, indent=1) + "\n")
    print({key: result[key] for key in ("epochs", "validation", "test", "seconds")})


if __name__ == "__main__":
    main()
