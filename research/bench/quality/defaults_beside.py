"""The default RG2 beside this library's default EASE and implicit's default ALS, on the test part of every set.

Train and test parts are those of `fit-best`. Nothing is tuned here. The first five sets are those on whose validation
data RG2's defaults were chosen (`rg2-defaults`); the others had no say. implicit's ALS has its own defaults (100
factors, λ = 0.01, α = 1, 15 sweeps) and this library's evaluation. Means are of each set's value over that of the best
of the three, over the sets where all three were measured. The file keeps what is done, model by model, each with its
commit: rows are added to it, and what it has is not run again. EASE takes N³ operations and 8 N² bytes, so that 41,000
items are a matter of an hour or less and 14 GB:

    python -m research.bench defaults-beside --json research/records/bench/defaults_beside.json
    python -m research.bench defaults-beside --models EASE --sets gowalla,yelp2018,moby-thesaurus \
        --most-items 45000 --json research/records/bench/defaults_beside.json
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.quality.defaults import SETS as CHOSEN_ON
from research.bench.quality.fit_best import CLEANINGS, parts_of
from research.output import provenance, write_json
from taylorank.errors import DataError, TaylorankError, in_one_line
from taylorank.machine import describe_machine, source_commit
from taylorank.models import EASE, RG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate
from taylorank.selection.peers import ImplicitALS

METRIC = "ndcg@10"
MOST_ITEMS = 20_000  # for EASE, whose inverse takes N³ operations, without a GPU
SETS = (*CHOSEN_ON, *(name for name in CLEANINGS if name not in CHOSEN_ON))
MODELS: dict[str, Callable[[], Recommender]] = {
    "RG2": RG2,
    "EASE": EASE,
    "implicit": lambda: ImplicitALS(100, alpha=1.0, regularization=0.01, iterations=15),
}
Row = dict[str, Any]


def run(
    *,
    sets: str = ",".join(SETS),
    models: str = ",".join(MODELS),
    parts: Path | None = None,
    most_items: int = MOST_ITEMS,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Measure what the file lacks.

    Parameters
    ----------
    sets
        Names of data sets, with commas between.
    models
        Of RG2, EASE and implicit, with commas between.
    parts
        A folder with NAME-train.npz and NAME-test.npz in the place of the data sets.
    most_items
        EASE is left out where there are more.
    quick
        Planted data alone: does it run at all?
    """
    record: Row = {"benchmark": "defaults-beside", "metric": METRIC, "machine": describe_machine(), "sets": {}}
    if file is not None and file.exists():
        record["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name in ["planted"] if quick else sets.split(","):
        row = record["sets"].setdefault(name, {})
        wanted = [model for model in models.split(",") if _value(row, model) is None]
        if not wanted:
            continue
        try:
            train, test = parts_of(name, parts)
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")
            continue
        row["data"] = str(train).split("\n", 1)[0]
        for model in wanted:
            if model != "EASE" or train.n_items <= most_items:
                row[model] = {**measured(MODELS[model](), train, test), "commit": source_commit()}
                log_line(f"{name}: {model} {row[model]}")
        if file is not None:
            write_json(file, {**provenance(command), **record})
    return record


def measured(model: Recommender, train: Any, test: Any) -> Row:
    """Fit and test; a failure is noted."""
    began = time.perf_counter()
    try:
        model.fit(train)
    except (TaylorankError, MemoryError) as error:
        return {"test": None, "note": in_one_line(error)}
    seconds = time.perf_counter() - began
    return {"test": round(float(evaluate(model, test, metrics=METRIC)[METRIC]), 5), "seconds": round(seconds, 1)}


def means(sets: dict[str, Row], names: tuple[str, ...]) -> tuple[dict[str, float], int]:
    """Return each model's value over the best of the three, averaged over the complete ones of `names`; how many."""
    rows: list[dict[str, Any]] = [{model: _value(sets.get(name, {}), model) for model in MODELS} for name in names]
    whole = [row for row in rows if all(value is not None for value in row.values())]
    if not whole:
        return {}, 0
    return {model: float(np.mean([row[model] / max(row.values()) for row in whole])) for model in MODELS}, len(whole)


def _value(row: Row, model: str) -> float | None:
    value: float | None = (row.get(model) or {}).get("test")
    return value


def gap(record: Row) -> tuple[str, int]:
    """Return by how much RG2's mean share of the best is above or below EASE's, in words, and over how many sets.

    >>> values = {"RG2": 0.19, "EASE": 0.2, "implicit": 0.1}
    >>> gap({"sets": {"one": {model: {"test": value} for model, value in values.items()}}})
    ('5.0 % behind', 1)
    """
    share, count = means(record["sets"], tuple(record["sets"]))
    percent = 100 * (share["RG2"] - share["EASE"])
    return f"{abs(percent):.1f} % {'behind' if percent < 0 else 'ahead of'}", count


def found_in(record: Row) -> str:
    """Return the result in a sentence."""
    share, _ = means(record["sets"], tuple(record["sets"]))
    words, count = gap(record)
    both = [(_value(row, "RG2"), _value(row, "EASE")) for row in record["sets"].values()]
    pairs = [(mine, theirs) for mine, theirs in both if mine is not None and theirs is not None]
    ahead, behind = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    shares = ", ".join(f"`{model}` {100 * value:.1f} %" for model, value in share.items())
    return (
        f"Nothing tuned, the share of the best of three is on average {shares}. **RG2's defaults are {words} EASE's on "
        f"average** of {count} sets: ahead on {ahead}, behind on {behind}"
    )


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    lines = [f"NDCG@10 on test data, defaults alone; {'; '.join(MODELS)}"]
    for name, row in record["sets"].items():
        values = [_value(row, model) for model in MODELS]
        shown = "  ".join("–" if value is None else f"{value:.4f}" for value in values)
        lines.append(f"{name}: {shown}{'' if name in CHOSEN_ON else '  (had no say)'}")
    others = tuple(name for name in record["sets"] if name not in CHOSEN_ON)
    for title, names in (("chosen on", CHOSEN_ON), ("others", others), ("all", tuple(record["sets"]))):
        share, count = means(record["sets"], names)
        if count:
            shown = ", ".join(f"{model} {100 * value:.1f} %" for model, value in share.items())
            lines.append(f"mean share of the best, {title} ({count} sets): {shown}")
    return lines
