"""How RG² on Spark grows with the data, in docs/spark.md: tables of what was measured, and of what follows from it.

What follows the line `<!-- found -->` of a section that names `spark-scale` is made from its record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from research.bench.speed.spark_scale import (
    CLUSTERS,
    COLUMNS,
    MACHINE_CORES,
    PROJECTED_FACTORS,
    PROJECTED_PASSES,
    WORDS,
    projected,
    verdict,
)
from research.pages.sections import filled
from research.places import Places

RECORD = "spark/scale.json"


def made(name: str, places: Places) -> str:
    """Return the page with what the record says."""
    file = places.records / RECORD
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def content(section: str) -> str | None:
        return None if record is None or "spark-scale" not in section else _text(record)

    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), content)


def _text(record: dict[str, Any]) -> str:
    model = record["model"]
    return "\n\n".join([_measured(record), verdict(model), _model(model), PROJECTION, _clusters(record)]) + "\n"


PROJECTION = (
    f"**Projections.** Nothing in the next table was measured. Machines have {MACHINE_CORES} cores, K = "
    f"{PROJECTED_FACTORS}, {PROJECTED_PASSES} passes of {COLUMNS} columns. Seconds, memory and what is shuffled once "
    "follow from the rates above, per core and per interaction, with the fixed part of the memory on each machine.\n\n"
    f"Formulas alone: 4 · interactions · {COLUMNS} operations a pass; partial sums of {COLUMNS} numbers for each item "
    "from each task of four cores, over a network of 1 GB/s a machine, twice in memory; the basis. Failures, slow "
    "machines and reading from far away are not in it."
)


def _measured(record: dict[str, Any]) -> str:
    head = ["interactions", "users", "fit, s", "read, s", "a pass, s", "users, s", "peak memory, MB", "shuffled, MB"]
    rows = [
        [
            f"{point['interactions'] / 1e6:.1f} M",
            f"{point['users']:,}",
            *(f"{value:.1f}" for value in (point["fit_s"], point["seconds"]["read"])),
            f"{point['seconds']['pass']:.2f}",
            f"{point['seconds']['users']:.1f}",
            f"{point['memory_mb']:,}",
            f"{point['shuffled_mb']:,.0f}",
        ]
        for point in record["points"]
    ]
    return _table(head, rows)


def _model(model: dict[str, Any]) -> str:
    rows = [
        [words, _unit(part), f"{model[part]['fixed']:.2f}", f"{model[part]['per_million']:.3f}", _percent(model[part])]
        for part, words in WORDS.items()
    ]
    return _table(["part", "unit", "fixed", "per million interactions", "largest error"], rows)


def _clusters(record: dict[str, Any]) -> str:
    head = ["interactions", "users", "items", "machines", "minutes", "Tflop a pass", "GB shuffled once"]
    head += ["GB of sums a pass", "GB a machine", "GB of basis"]
    rows = []
    for size, users, items, machines in CLUSTERS:
        one = projected(record, size, items, machines)
        sizes = [f"{size / 1e9:g} billion", f"{users / 1e6:g} M", f"{items / 1e6:g} M", str(machines)]
        work = [f"{60 * one['hours']:.1f}", f"{one['flops'] / 1e12:.2g}", f"{one['read_gb']:,.0f}"]
        rows.append([*sizes, *work, *(f"{one[key]:,.0f}" for key in ("shuffled_gb", "memory_gb", "basis_gb"))])
    return _table(head, rows)


def _unit(part: str) -> str:
    return "MB" if part in ("memory", "shuffled") else "s"


def _percent(one: dict[str, Any]) -> str:
    return f"{100 * one['largest_error']:.0f} %"


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
