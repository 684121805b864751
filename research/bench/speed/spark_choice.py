"""Parameters of RG² and of MLlib's ALS for Gowalla, on a tenth of the training data that is held back from both.


RG²: every rank and regParam of one fit. MLlib: a fit of `ITERATIONS` iterations at K = 64 for every alpha and regParam;
the ranks above take over what it chose. NDCG@20 decides. Values that are there already are kept.
For generated data MLlib alone, on a million pairs drawn like the larger sets, whose test part is left out first.

    python -m research.bench spark-choice --json research/records/spark/choice.json
    python -m research.bench spark-choice --data 1 --json research/records/spark/choice_generated.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from research.bench.speed.process import in_own_process
from research.bench.speed.spark_contenders import Mllib
from research.bench.speed.spark_data import benchmark_data
from research.bench.speed.spark_session import local_session
from research.output import provenance, write_json
from taylorank.machine import describe_machine

RANKS, SHARES = (64, 128, 256, 512), (0.0, 0.1, 0.2, 0.3, 0.4)
ALPHAS, REG_PARAMS = (80.0, 20.0, 320.0, 5.0), (1.0, 10.0, 3.0, 0.3, 30.0)
BEYOND = ((5.0, 0.1), (1.0, 0.3), (1.0, 0.1))  # for generated data, where the best of these is a corner
RANK, ITERATIONS = 64, 4


def run(*, data: str = "gowalla", quick: bool = False, file: Path | None = None, command: str = "") -> dict[str, Any]:
    """Choose; each fit of MLlib, and all of RG², in a process of its own. A record that is there is gone on with."""
    record: dict[str, Any] = json.loads(file.read_text()) if file is not None and file.exists() else {"trials": []}
    data = "quick" if quick else data
    jobs = [("mllib", f"{a:g}", f"{r:g}") for a in ALPHAS for r in REG_PARAMS]
    more = [("mllib", f"{a:g}", f"{r:g}") for a, r in BEYOND]
    jobs = [("ours", "", ""), *jobs] if data in ("gowalla", "quick") else [*jobs, *more]
    for kind, alpha, reg in jobs[:2] if quick else jobs:
        key = {"contender": kind, "alpha": float(alpha), "regParam": float(reg)} if alpha else {"contender": kind}
        if any(key.items() <= trial.items() for trial in record["trials"]):
            continue
        found = in_own_process(__name__, kind, data, alpha, reg)["trials"]
        record = {
            **provenance(command),
            "benchmark": "spark-choice",
            "machine": describe_machine(),
            "data": data,
            "iterations": ITERATIONS,
            "trials": [*record["trials"], *found],
        }
        if file is not None:
            write_json(file, record)
    return record


def measure(kind: str, data: str, alpha: str, reg: str) -> dict[str, Any]:
    """Fit to nine tenths of the training data; return what each setting reaches on the rest."""
    session = local_session(memory="4g")
    train, valid = benchmark_data(session, data)[1]()[0].split((0.8, 0.2) if data == "quick" else (0.9, 0.1))
    frame, other = (
        session.createDataFrame(part.to_frame("pyarrow").select(["user", "item"])).persist() for part in (train, valid)
    )
    ranks = (2, 4) if data == "quick" else RANKS
    if kind == "ours":
        from taylorank.spark import RG2, tune

        found = tune(RG2(), frame, other, metric="ndcg@20", ranks=list(ranks), regParams=SHARES)
        return {"trials": [{"contender": "ours", **trial} for trial in found.trials]}
    settings = {"alpha": float(alpha), "regParam": float(reg)}
    one = Mllib(ranks[0], settings, iterations=ITERATIONS)
    quality = one.quality(one.fit(frame), train, valid)
    return {"trials": [{"contender": "mllib", "rank": ranks[0], **settings, "ndcg@20": quality}]}


def chosen(record: dict[str, Any], kind: str, rank: int) -> dict[str, Any]:
    """Return the best settings of a contender at a rank, or at the only one that was tried."""
    trials = [trial for trial in record["trials"] if trial["contender"] == kind]
    trials = [trial for trial in trials if trial["rank"] == rank] or trials
    best = max(trials, key=lambda trial: trial["ndcg@20"])
    return {name: best[name] for name in ("alpha", "regParam") if name in best}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for kind, name in (("ours", "RG²"), ("mllib", "MLlib's ALS")):
        trials = [trial for trial in record["trials"] if trial["contender"] == kind]
        for rank in sorted({trial["rank"] for trial in trials}):
            best = max((t for t in trials if t["rank"] == rank), key=lambda trial: trial["ndcg@20"])
            settings = ", ".join(f"{key} {best[key]:g}" for key in ("alpha", "regParam") if key in best)
            count = sum(trial["rank"] == rank for trial in trials)
            score = f"NDCG@20 {best['ndcg@20']:.4f} of what was held back"
            lines.append(f"{name}, K = {rank}: {settings} is the best of {count}, {score}")
    return lines
