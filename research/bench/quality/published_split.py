"""One composition of the softmax family with given settings on a published split: its log, and one look at the test.

Nothing is chosen here, so there is no validation data: this repeats published runs, whose settings are known.

    python -m research.bench published-split gowalla-train.npz gowalla-test.npz bpr/lightgcn \
        --set epochs=400 --set negatives=1 --option layers=3 --json lightgcn.json
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from research.options import pairs
from taylorank.data import Interactions
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.registry import model_named

METRICS = ("recall@20", "ndcg@20")
TOLD_EVERY = 20


def measure(
    model: Any, train: Interactions, test: Interactions, *, log_line: Callable[[str], object]
) -> dict[str, Any]:
    """Fit, with a line for an epoch now and then, and test once."""

    def after(progress: Any) -> None:
        if progress.step % TOLD_EVERY == 0:
            log_line(f"epoch {progress.step}: loss {progress.loss:.4f}, {progress.seconds:.0f} s")

    began = time.perf_counter()
    model.fit(train, callback=after)
    seconds = time.perf_counter() - began
    found = evaluate(model, test, metrics=METRICS)
    return {
        "parameters": model.get_params(),
        "test": {name: round(found[name], 5) for name in METRICS},
        "seconds": round(seconds, 1),
        "history": [{name: round(value, 6) for name, value in record.items()} for record in model.history_],
    }


def run(
    train: Path,
    test: Path,
    composition: str,
    /,
    *,
    set: list[str] | None = None,
    option: list[str] | None = None,
    log_line: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Fit one composition and test it.

    Parameters
    ----------
    train
        A file of Interactions.save_npz.
    test
        Another.
    composition
        loss/backbone/sampler.
    set
        A parameter, name=value; may be repeated.
    option
        An option of a part, name=value; may be repeated.
    """
    options = pairs(option or (), "--option") or None
    model = model_named(composition).set_params(**pairs(set or (), "--set"), options=options)
    return {
        "benchmark": "published-split",
        "machine": describe_machine(),
        "composition": composition,
        **measure(model, Interactions.load_npz(train), Interactions.load_npz(test), log_line=log_line),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in a line."""
    found = ", ".join(f"{name} {value:.4f}" for name, value in record["test"].items())
    return [f"{record['composition']}: {found}; {record['seconds']:.0f} s"]
