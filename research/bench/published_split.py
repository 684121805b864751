"""One composition of the softmax family with given settings on a published split: its log, and one look at the test.

Nothing is chosen here, so there is no validation data: this repeats published runs, whose settings are known.

    python -m research.bench.published_split gowalla-train.npz gowalla-test.npz bpr/lightgcn \
        --set epochs=400 --set negatives=1 --option layers=3 --json lightgcn.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from taylorank.data import Interactions
from taylorank.machine import describe_machine
from taylorank.output import atomic_path
from taylorank.ranking import evaluate
from taylorank.registry import model_named

METRICS = ("recall@20", "ndcg@20")
TOLD_EVERY = 20


def measure(model: Any, train: Interactions, test: Interactions) -> dict[str, Any]:
    """Fit, telling of an epoch now and then, and test once."""

    def tell(progress: Any) -> None:
        if progress.step % TOLD_EVERY == 0:
            print(f"epoch {progress.step}: loss {progress.loss:.4f}, {progress.seconds:.0f} s", flush=True)

    began = time.perf_counter()
    model.fit(train, callback=tell)
    seconds = time.perf_counter() - began
    found = evaluate(model, test, metrics=METRICS)
    return {
        "parameters": model.get_params(),
        "test": {name: round(found[name], 5) for name in METRICS},
        "seconds": round(seconds, 1),
        "history": [{name: round(value, 6) for name, value in record.items()} for record in model.history_],
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, fit, test, write."""
    parser = argparse.ArgumentParser(description="A composition on a published split.")
    parser.add_argument("train", help="a file of Interactions.save_npz")
    parser.add_argument("test", help="another")
    parser.add_argument("composition", help="loss/backbone/sampler")
    parser.add_argument("--set", action="append", default=[], help="a parameter, name=value")
    parser.add_argument("--option", action="append", default=[], help="an option of a part, name=value")
    parser.add_argument("--json", required=True)
    given = parser.parse_args(arguments)
    model = model_named(given.composition).set_params(**_pairs(given.set), options=_pairs(given.option) or None)
    result = {
        "benchmark": "published-split",
        "command": " ".join(["python -m research.bench.published_split", *(arguments or sys.argv[1:])]),
        "machine": describe_machine(),
        "composition": given.composition,
        **measure(model, Interactions.load_npz(given.train), Interactions.load_npz(given.test)),
    }
    with atomic_path(given.json) as temporary:
        Path(temporary).write_text(json.dumps(result, indent=1) + "\n")
    print({key: result[key] for key in ("test", "seconds")})


def _pairs(texts: list[str]) -> dict[str, Any]:
    return {name: _value(value) for name, _, value in (text.partition("=") for text in texts)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
