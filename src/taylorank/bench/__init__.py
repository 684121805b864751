"""Named benchmarks against peers in the same run; results as JSON."""

from __future__ import annotations

import importlib
from typing import Any

from taylorank.bench.machine import cpu_ticks, stolen_share
from taylorank.errors import ParameterError

# Each module has run(*, quick) -> record and describe(record) -> lines of text.
BENCHMARKS = {
    "closed-form": "taylorank.bench.closed_form",
    "convergence": "taylorank.bench.convergence",
    "evaluate": "taylorank.bench.evaluate",
    "gather-sum": "taylorank.bench.gather_sum",
    "public-splits": "taylorank.bench.public_splits",
    "read": "taylorank.bench.read",
    "regression": "taylorank.bench.regression",
    "rg-step": "taylorank.bench.rg_step",
    "neural-defaults": "taylorank.bench.neural_defaults",
    "rg2-defaults": "taylorank.bench.defaults",
    "top-k": "taylorank.bench.top_k",
    "als": "taylorank.bench.als",
    "growth": "taylorank.bench.growth",
    "memory": "taylorank.bench.memory",
    "svd": "taylorank.bench.svd",
    "epochs": "taylorank.bench.epochs",
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
