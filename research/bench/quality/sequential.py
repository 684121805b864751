"""SASRec under leave-one-out: each user's last item is the test, the one before it chooses the epoch.

Full ranking, items of the history left out, on the data of the published values (ML-1M, all ratings, 5-core). As there,
the model that is tested has been fitted to all but the last item. Half of ML-1M's ratings share their second with the
one before; in what order they come is not known, and matters: `--ties random` or by `id` makes one.

    python -m research.bench sequential ml-1m.npz --loss softmax --json sasrec.json
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from taylorank.data import Interactions, merge
from taylorank.machine import describe_machine
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


def measure(data: Interactions, model: Neural, *, patience: int, log_line: Callable[[str], object]) -> dict[str, Any]:
    """Choose the epoch by the last item but one, fit to all but the last for as many epochs, test on the last."""
    train, valid, test = data.split_last()
    began = time.perf_counter()

    def after(progress: Any) -> None:
        log_line(f"epoch {progress.step}: loss {progress.loss:.4f}, ndcg@10 {progress.metric:.4f}")

    model.fit(train, valid, after, metric="ndcg@10", patience=patience)
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


def run(
    data: Path,
    /,
    *,
    loss: str = "softmax",
    sampler: str | None = None,
    factors: int = 64,
    negatives: int = 256,
    epochs: int = 200,
    patience: int = 20,
    learning_rate: float = 0.001,
    schedule: str = "constant",
    weight_decay: float = 0.0,
    batch_size: int = 128,
    length: int = 200,
    dropout: float = 0.2,
    blocks: int = 2,
    heads: int = 2,
    precision: str = "float32",
    ties: Literal["random", "id"] = "random",
    seed: int = 0,
    log_line: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Fit SASRec and test it.

    Parameters
    ----------
    data
        A file of Interactions.save_npz with times.
    ties
        The order of items of one moment.
    """
    model = Neural(
        loss,
        "sasrec",
        sampler,
        factors=factors,
        negatives=negatives,
        epochs=epochs,
        learning_rate=learning_rate,
        schedule=schedule,
        weight_decay=weight_decay,
        optimizer="adamw" if weight_decay else "adam",
        batch_size=batch_size,
        precision=precision,
        options={"length": length, "dropout": dropout, "blocks": blocks, "heads": heads},
        random_state=seed,
    )
    ordered = in_order(Interactions.load_npz(data), ties, seed=seed)
    return {
        "benchmark": "sequential",
        "machine": describe_machine(),
        "published": PUBLISHED,
        "ties": ties,
        **measure(ordered, model, patience=patience, log_line=log_line),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in a line."""
    found = ", ".join(f"{name} {value:.4f}" for name, value in record["test"].items())
    return [f"{record['epochs']} epochs, validation {record['validation']:.4f}; {found}; {record['seconds']:.0f} s"]
