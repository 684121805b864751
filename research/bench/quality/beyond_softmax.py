"""BSL, PSL and SL@K on factors and on LightGCN, on Gowalla's published split, beside the rows published for it.

Each row is a composition of 64 factors with a few settings, of which validation data choose one: the last fifth of each
line of the training part, as the test part is each user's latest fifth. It is then fitted to all of the training data
and tested once. The published rows are those of BSL's authors' logs, chosen on test data. Their settings: on factors
temperature .08, weight 1.22, 800 uniform draws a pair, cosines rank; on LightGCN of one layer .12 and .84, the other
2,047 pairs of the batch as draws, rate .001, penalty 1e-5, and **inner products rank** (`ranks_by="dot"`). Their logs
do not say which form of softmax their row on LightGCN has: it stands beside two. The Gowalla of PSL's and SL@K's papers
is cleaned and split otherwise, so they have no published row here. Rows for which the seconds do not suffice are left
out; the file keeps those that are done.

    python -m research.bench students --prepare --folder .carry/students
    python -m research.bench beyond-softmax .carry/students --jobs 4 --json research/records/bench/beyond_softmax.json
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from research.bench.quality.students.sets import Parts, load
from research.output import provenance, write_json
from taylorank.machine import describe_machine
from taylorank.ranking import evaluate
from taylorank.registry import model_named

METRICS = ("recall@20", "ndcg@20")
IN_BATCH = "sampled-bsl/lightgcn/in-batch"
SOFTMAX_IN_BATCH = "sampled-softmax/lightgcn/in-batch"
PUBLISHED = {  # Gowalla, recall@20 and NDCG@20, in the logs of BSL's authors
    "bsl": (0.1882, 0.1584),
    IN_BATCH: (0.1892, 0.1590),
    "softmax": (0.1759, 0.1395),
    "softmax/lightgcn": (0.1874, 0.1571),
    SOFTMAX_IN_BATCH: (0.1874, 0.1571),
}
Grid = dict[str, list[Any]]
USERS: Grid = {"learning_rate": [0.005], "epochs": [60], "batch_size": [256]}  # every item in the softmax
GRAPH: Grid = {"learning_rate": [0.01], "epochs": [60], "batch_size": [512]}
PAIRS: Grid = {"learning_rate": [0.01], "epochs": [20], "batch_size": [8192], "negatives": [256], "temperature": [2.0]}
BATCH: Grid = {"learning_rate": [0.001], "regularization": [1e-5], "epochs": [40], "batch_size": [2048]}
AS_PUBLISHED: dict[str, Any] = {"layers": 1, "std": 0.0075, "ranks_by": "dot"}
ROWS: dict[str, Grid] = {
    IN_BATCH: {
        **BATCH,
        "temperature": [0.12],
        "options": [{"negative_weight": w, **AS_PUBLISHED} for w in (0.84, 1.0)],
    },
    SOFTMAX_IN_BATCH: {**BATCH, "temperature": [0.1, 0.12], "options": [AS_PUBLISHED]},
    "bsl": {**USERS, "temperature": [0.08, 0.1], "options": [{"negative_weight": w} for w in (1.1, 1.22)]},
    "psl": {**PAIRS, "options": [{"sharpness": s} for s in (15.0, 25.0, 40.0)]},
    "psl/lightgcn": {**PAIRS, "options": [{"sharpness": s, "layers": 1} for s in (15.0, 25.0)]},
    "bsl/lightgcn": {
        **GRAPH,
        "temperature": [0.1, 0.15],
        "options": [{"negative_weight": w, "layers": 1} for w in (1.0, 1.12)],
    },
    "sl-at-k": {**USERS, "temperature": [0.1], "options": [{"weight_temperature": t} for t in (10.0, 20.0)]},
    "sl-at-k/lightgcn": {
        **GRAPH,
        "temperature": [0.1, 0.15],
        "options": [{"weight_temperature": 20.0, "layers": 1}],
    },
    "softmax": {**USERS, "learning_rate": [0.02, 0.005], "batch_size": [1024, 256], "temperature": [0.08, 0.1]},
    "softmax/lightgcn": {**GRAPH, "temperature": [0.1, 0.15], "options": [{"layers": 1}]},
}
Row = dict[str, Any]


def run(
    folder: Path,
    /,
    *,
    rows: str = ",".join(ROWS),
    seconds: float = 200.0,
    epochs: int | None = None,
    jobs: int = 1,
    device: str = "auto",
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Choose, fit and test each row that the file lacks.

    Parameters
    ----------
    folder
        Has gowalla.npz, which `students --prepare` wrote.
    rows
        Compositions, with commas between.
    seconds
        No fit of a search begins later.
    epochs
        In the place of each row's own: does it run at all?
    jobs
        Processes at a time.
    quick
        Planted data in the place of Gowalla.
    """
    record: Row = {"benchmark": "beyond-softmax", "machine": describe_machine(), "rows": {}}
    if file is not None and file.exists():
        record["rows"] = json.loads(file.read_text(encoding="utf-8"))["rows"]
    ends = time.time() + seconds
    more: Grid = {**({} if epochs is None else {"epochs": [epochs]}), "device": [device]}
    missing = [name for name in rows.split(",") if name not in record["rows"]]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(measure, name, {**ROWS[name], **more}, folder, ends=ends, quick=quick): name for name in missing
        }
        for future in as_completed(waiting):
            found = future.result()
            if found is None:
                continue
            record["rows"][waiting[future]] = found
            log_line(line_of(waiting[future], found))
            if file is not None:
                write_json(file, {**provenance(command), **record})
    return record


def measure(name: str, grid: Grid, folder: Path, *, ends: float, quick: bool = False) -> Row | None:
    """Return what each setting reached on validation data, and the best on test data; None where it is too late."""
    import torch

    torch.set_num_threads(2)
    if time.time() >= ends:
        return None
    parts = load("gowalla", folder, 0, quick=quick)
    tried: list[Row] = []
    for setting in _settings(grid):
        if tried and time.time() >= ends:
            break
        began = time.perf_counter()
        model = model_named(name).set_params(**setting).fit(parts.train)
        found = evaluate(model, parts.valid, metrics=METRICS)
        took = round(time.perf_counter() - began, 1)
        tried.append({"setting": setting, "validation": _rounded(found), "seconds": took})
    best = max(tried, key=lambda one: float(one["validation"]["ndcg@20"]))
    return {**_tested(name, best["setting"], parts), "tried": tried}


def _tested(name: str, setting: Row, parts: Parts) -> Row:
    began = time.perf_counter()
    model = model_named(name).set_params(**setting).fit(parts.whole)
    took = round(time.perf_counter() - began, 1)
    return {
        "chosen": setting,
        "test": _rounded(evaluate(model, parts.test, metrics=METRICS)),
        "published": PUBLISHED.get(name),
        "seconds of the last fit": took,
    }


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
