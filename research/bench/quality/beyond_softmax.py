"""BSL, PSL and SL@K on a published split, beside the rows that were published for it.

Each row is a composition of 64 factors with a few settings, of which a random tenth of the training data chooses one;
it is fitted to all of the training data and tested once. The published rows were chosen on test data. BSL's are from
its authors' logs (temperature .08 and weight 1.22 on factors, 800 uniform draws a pair; .12 and .84 on LightGCN of one
layer with in-batch draws, ranked by inner products). The Gowalla of PSL's and SL@K's papers is another split, so they
have no published row here. Rows for which the seconds do not suffice are left out; the file keeps those that are done.

    python -m research.bench beyond-softmax --json research/records/bench/beyond_softmax.json
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from research.bench.quality.fit_best import parts_of
from research.output import provenance, write_json
from taylorank.data import Interactions
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.registry import model_named
from taylorank.selection import hold_back

METRICS = ("recall@20", "ndcg@20")
PUBLISHED = {  # Gowalla, recall@20 and NDCG@20, in the logs of BSL's authors
    "bsl": (0.1882, 0.1584),
    "sampled-bsl/lightgcn/in-batch": (0.1892, 0.1590),
    "softmax": (0.1759, 0.1395),
}
Grid = dict[str, list[Any]]
MF: Grid = {"learning_rate": [0.02], "epochs": [60], "batch_size": [1024]}
PAIRS: Grid = {"learning_rate": [0.02], "epochs": [40], "batch_size": [16384]}
ROWS: dict[str, Grid] = {
    "bsl": {
        **MF,
        "temperature": [0.08, 0.1, 0.12],
        "options": [{"negative_weight": w} for w in (1.22, 1.4)],
    },
    "softmax": {**MF, "temperature": [0.08, 0.1]},
    "sampled-bsl/lightgcn/in-batch": {
        **PAIRS,
        "temperature": [0.12],
        "options": [{"negative_weight": w, "layers": 1} for w in (0.84, 1.0)],
    },
    "sl-at-k": {**MF, "temperature": [0.1], "options": [{"weight_temperature": t} for t in (5.0, 20.0)]},
    "psl": {
        **PAIRS,
        "negatives": [256],
        "temperature": [2.0],
        "options": [{"sharpness": s} for s in (10.0, 20.0)],
    },
}
Row = dict[str, Any]


def run(
    train: Path | None = None,
    test: Path | None = None,
    /,
    *,
    rows: str = ",".join(ROWS),
    seconds: float = 170.0,
    epochs: int | None = None,
    device: str = "auto",
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Choose, fit and test each row that the file lacks.

    Parameters
    ----------
    train
        A file of Interactions.save_npz; if not given, Gowalla's training part.
    test
        Another; if not given, Gowalla's test part.
    rows
        Compositions, with commas between.
    seconds
        No fit of a search begins later.
    epochs
        In the place of each row's own: does it run at all?
    """
    record: Row = {"benchmark": "beyond-softmax", "machine": describe_machine(), "rows": {}}
    if file is not None and file.exists():
        record["rows"] = json.loads(file.read_text(encoding="utf-8"))["rows"]
    parts = _parts(train, test)
    held = hold_back(parts[0])
    ends = time.perf_counter() + seconds
    for name in rows.split(","):
        if name in record["rows"] or time.perf_counter() >= ends:
            continue
        grid = {**ROWS[name], **({} if epochs is None else {"epochs": [epochs]}), "device": [device]}
        record["rows"][name] = measure(name, grid, parts, held, ends=ends)
        log_line(line_of(name, record["rows"][name]))
        if file is not None:
            write_json(file, {**provenance(command), **record})
    return record


def measure(name: str, grid: Grid, parts: tuple[Interactions, Interactions], held: Any, *, ends: float) -> Row:
    """Return what each setting reached on validation data, and the best on test data."""
    tried: list[Row] = []
    for setting in _settings(grid):
        if tried and time.perf_counter() >= ends:
            break
        began = time.perf_counter()
        model = model_named(name).set_params(**setting).fit(held.train)
        found = evaluate(model, held.valid, metrics=METRICS)
        took = round(time.perf_counter() - began, 1)
        tried.append({"setting": setting, "validation": _rounded(found), "seconds": took})
    best = max(tried, key=lambda one: float(one["validation"]["ndcg@20"]))
    began = time.perf_counter()
    model = model_named(name).set_params(**best["setting"]).fit(parts[0])
    took = round(time.perf_counter() - began, 1)
    return {
        "chosen": best["setting"],
        "test": _rounded(evaluate(model, parts[1], metrics=METRICS)),
        "published": PUBLISHED.get(name),
        "seconds of the last fit": took,
        "tried": tried,
    }


def _parts(train: Path | None, test: Path | None) -> tuple[Interactions, Interactions]:
    if train is None or test is None:
        return parts_of("gowalla")
    return Interactions.load_npz(train), Interactions.load_npz(test)


def _settings(grid: Grid) -> Iterator[Row]:
    return (dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()))


def _rounded(found: Any) -> dict[str, float]:
    return {metric: round(float(found[metric]), 5) for metric in METRICS}


def line_of(name: str, row: Row) -> str:
    """Return a line of the table."""
    ours = "/".join(f"{row['test'][metric]:.4f}" for metric in METRICS)
    theirs = "none" if row["published"] is None else "/".join(f"{value:.4f}" for value in row["published"])
    chosen = {k: v for k, v in row["chosen"].items() if k in ("temperature", "options")}
    return f"{name}: {ours}, published {theirs}; {chosen}, {row['seconds of the last fit']:.0f} s a fit"


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    return ["recall@20/NDCG@20 on test data", *(line_of(name, row) for name, row in record["rows"].items())]
