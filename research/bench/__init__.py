"""Named benchmarks against peers in the same run; results as JSON."""

from __future__ import annotations

import importlib
from typing import Any

from taylorank.errors import ParameterError
from taylorank.machine import cpu_ticks, stolen_share

# Each module has run(*, quick) -> record and describe(record) -> lines of text.
BENCHMARKS = {
    "closed-form": "research.bench.closed_form",
    "convergence": "research.bench.convergence",
    "evaluate": "research.bench.evaluate",
    "gather-sum": "research.bench.gather_sum",
    "public-splits": "research.bench.public_splits",
    "read": "research.bench.read",
    "regression": "research.bench.regression",
    "rg-step": "research.bench.rg_step",
    "neural-defaults": "research.bench.neural_defaults",
    "rg2-defaults": "research.bench.defaults",
    "top-k": "research.bench.top_k",
    "als": "research.bench.als",
    "growth": "research.bench.growth",
    "memory": "research.bench.memory",
    "svd": "research.bench.svd",
    "epochs": "research.bench.epochs",
}


def run_benchmark(name: str, *, quick: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Run one benchmark; return its JSON-ready record and what it says in words."""
    if name not in BENCHMARKS:
        raise ParameterError(f"no benchmark {name!r}", f"choose from {', '.join(BENCHMARKS)}")
    module = importlib.import_module(BENCHMARKS[name])
    before = cpu_ticks()
    record: dict[str, Any] = module.run(quick=quick)
    record["machine"]["stolen_cpu_share"] = stolen_share(before, cpu_ticks())
    return record, module.describe(record)
