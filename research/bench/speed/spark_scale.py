"""RG² on Spark for 1 to 100 M interactions on this machine, and a cost model fitted to it.

Generated data (`spark_data`), K = 64, a fixed number of passes over 64 columns, each size in a process of its own on
two cores. Read: two passes over the Parquet file, one shuffle by user, blocks of sparse rows written. Pass: SᵀS X for
64 columns. Users: their vectors and histories written as Parquet.

The model, fitted by least squares of relative errors: seconds = fixed + interactions · rate for each of the three
parts, and megabytes of memory and of all shuffles likewise. From these rates follow the seconds, the memory and the
bytes shuffled once of projections for clusters, as if rates per core stayed. Operations, 4 · interactions · b a pass,
partial sums, N × b numbers from each task over a network of 1 GB/s per machine of 16 cores, and the basis are
formulas. Nothing in the projections was measured on a cluster.

    python -m research.bench spark-scale --json research/records/spark/scale.json
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.speed.process import in_own_process
from research.bench.speed.spark_data import FOLDER, generated
from research.bench.speed.spark_events import shuffled_bytes
from research.bench.speed.spark_session import PeakMemory, local_session
from research.output import provenance, write_json
from taylorank.machine import describe_machine

FACTORS, PASSES, CORES = 64, 4, 2
LEAST = 1e-3  # seconds or megabytes, below which errors are not relative
PARTS = ("read", "pass", "users")
WORDS = {
    "read": "reading",
    "pass": "a pass",
    "users": "users",
    "memory": "peak memory",
    "shuffled": "bytes shuffled",
    "fit": "the fit",
}
LINEAR = 1.2  # what was measured, over a fixed part and a rate for all sizes
# interactions, users, items, machines of 16 cores and 64 GB: what a projection is for.
CLUSTERS = ((1e9, 1e7, 1e6, 4), (1e10, 1e8, 3e6, 20), (1e11, 1e9, 1e7, 150))
MACHINE_CORES, NETWORK, PROJECTED_FACTORS, PROJECTED_PASSES, COLUMNS = 16, 1e9, 128, 30, 32


def run(
    *,
    millions: str = "1,3,10,30,100",
    limit: float = 600,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Fit every size that the record does not have yet, in at most `limit` seconds each; `quick`: 100 times smaller."""
    sizes = [float(size) / (100 if quick else 1) for size in millions.split(",")]
    record: dict[str, Any] = json.loads(file.read_text()) if file is not None and file.exists() else {"points": []}
    for size in sizes:
        if any(point["millions"] == size for point in record["points"]):
            continue
        points = [*record["points"], in_own_process(__name__, f"{size:g}", limit=limit)]
        points.sort(key=lambda point: point["millions"])
        record = {
            **provenance(command),
            "benchmark": "spark-scale",
            "factors": FACTORS,
            "cores": CORES,
            "machine": describe_machine(),
            "points": points,
            "model": fitted(points),
        }
        if file is not None:
            write_json(file, record)
    return record


def measure(millions: str) -> dict[str, Any]:
    """Fit one size in this process."""
    from taylorank.spark import RG2

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as log:
        session = local_session(cores=CORES, log=Path(log))
        RG2(rank=4).fit(generated(session, 0.01, FOLDER))
        frame = generated(session, float(millions), FOLDER)
        start, began = time.time(), time.perf_counter()
        with PeakMemory(0.5) as memory:
            model = RG2(rank=FACTORS, maxIter=PASSES).fit(frame)
            seconds = time.perf_counter() - began
        facts, shuffled = model.facts, shuffled_bytes(Path(log), start, time.time())
        model.unpersist()
    return {
        "millions": float(millions),
        "interactions": facts["interactions"],
        "users": facts["n_users"],
        "items": facts["n_items"],
        "blocks": facts["blocks"],
        "passes": facts["passes"],
        "columns": facts["pass_columns"],
        "shuffled_mb": round(shuffled / 1e6, 3),
        "sums_mb_per_pass": round(facts["blocks"] * facts["n_items"] * facts["pass_columns"] * 4 / 1e6),
        "fit_s": round(seconds, 2),
        "memory_mb": round(memory.megabytes),
        "load_average": describe_machine()["load_average"],
        "seconds": {
            "read": round(facts["prepare_seconds"], 3),
            "pass": round(statistics.median(facts["pass_seconds"]), 3),
            "users": round(facts["users_seconds"], 3),
        },
    }


def fitted(points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return fixed seconds and seconds per million of each part, how well they fit, and whether the cost is linear."""
    sizes = np.array([point["interactions"] / 1e6 for point in points])
    found: dict[str, Any] = {}
    for part in (*PARTS, "fit", "memory", "shuffled"):
        measured = np.maximum([_measured(point, part) for point in points], LEAST)
        design = np.column_stack((np.ones(len(sizes)), sizes)) / measured[:, None]
        fixed, rate = np.linalg.lstsq(design, np.ones(len(sizes)), rcond=None)[0]
        predicted = fixed + rate * sizes
        found[part] = {
            "fixed": round(float(fixed), 3),
            "per_million": round(float(rate), 4),
            "largest_error": round(float(np.abs(predicted / measured - 1).max()), 3),
        }
    return found


def _measured(point: dict[str, Any], part: str) -> float:
    """Seconds of a part, or megabytes of memory or of all shuffles."""
    whole = {"fit": "fit_s", "memory": "memory_mb", "shuffled": "shuffled_mb"}
    return float(point[whole[part]] if part in whole else point["seconds"][part])


def projected(record: dict[str, Any], interactions: float, items: float, machines: int) -> dict[str, Any]:
    """Return what the model says of a cluster: hours, bytes shuffled per pass, memory per machine."""
    model, cores = record["model"], record["cores"]
    share = cores / (machines * MACHINE_CORES)
    million, tasks = interactions / 1e6, machines * MACHINE_CORES / 4  # tasks of four cores
    read = model["read"]["per_million"] * million * share
    work = model["pass"]["per_million"] * million * share * COLUMNS / record["points"][0]["columns"]
    shuffled = tasks * items * COLUMNS * 4
    per_pass = work + shuffled / (machines * NETWORK)
    wide = PROJECTED_FACTORS / record["factors"]
    total = read + PROJECTED_PASSES * per_pass + model["users"]["per_million"] * million * share * wide
    fitted_mb = model["memory"]["fixed"] + model["memory"]["per_million"] * million / machines
    sums = (tasks / machines) * items * COLUMNS * 4 * 2
    basis = items * (PROJECTED_FACTORS + 6 * COLUMNS) * 4
    return {
        "hours": total / 3600,
        "shuffled_gb": shuffled / 1e9,
        "flops": 4 * interactions * COLUMNS,
        "memory_gb": fitted_mb / 1e3 + sums / 1e9,
        "read_gb": model["shuffled"]["per_million"] * million / 1e3,
        "basis_gb": basis / 1e9,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for point in record["points"]:
        s = point["seconds"]
        lines.append(
            f"{point['interactions'] / 1e6:.1f} M interactions, {point['users']:,} users: fit {point['fit_s']:.1f} s "
            f"(read {s['read']:.1f}, {point['passes']} passes of {s['pass']:.2f}, users {s['users']:.1f}), peak memory "
            f"{point['memory_mb']:,} MB, {point['shuffled_mb']:,.0f} MB shuffled, {point['sums_mb_per_pass']:,} MB of "
            "partial sums a pass"
        )
    model = record["model"]
    for part, words in WORDS.items():
        one, unit = model[part], "MB" if part in ("memory", "shuffled") else "s"
        lines.append(
            f"{words}: {one['fixed']:.2f} {unit} + {one['per_million']:.3f} {unit} per million, largest error "
            f"{100 * one['largest_error']:.0f} %"
        )
    lines.append(verdict(model))
    for size, users, items, machines in CLUSTERS:
        one = projected(record, size, items, machines)
        lines.append(
            f"PROJECTION, {size / 1e9:g} billion interactions, {users / 1e6:g} M users, {items / 1e6:g} M items, K = "
            f"{PROJECTED_FACTORS}, {PROJECTED_PASSES} passes of {COLUMNS} columns, {machines} machines of "
            f"{MACHINE_CORES} cores: {60 * one['hours']:.1f} minutes, {one['flops'] / 1e12:.2g} Tflop and "
            f"{one['shuffled_gb']:,.0f} GB shuffled a pass, "
            f"{one['memory_gb']:.0f} GB a machine, {one['read_gb']:,.0f} GB shuffled once, a "
            f"basis of {one['basis_gb']:.1f} GB on the driver or in shards"
        )
    return lines


def verdict(model: dict[str, Any]) -> str:
    """Say which parts grow linearly, and which do not.

    >>> verdict({part: {"largest_error": 0.3 if part == "pass" else 0.02} for part in WORDS})
    'Linear within 20 %: kept by reading, users, peak memory, bytes shuffled, the fit; MISSED by a pass (30 %).'
    """
    limit = LINEAR - 1
    kept = [words for part, words in WORDS.items() if model[part]["largest_error"] <= limit]
    missed = [
        f"{words} ({100 * model[part]['largest_error']:.0f} %)"
        for part, words in WORDS.items()
        if model[part]["largest_error"] > limit
    ]
    told = [f"{word} by {', '.join(names)}" for word, names in (("kept", kept), ("MISSED", missed)) if names]
    return f"Linear within {100 * limit:.0f} %: {'; '.join(told)}."
