"""Named benchmarks against peers in the same run; results as JSON."""

from __future__ import annotations

import importlib
from typing import Any

from taylorank.errors import ParameterError

# Each module has run(*, quick) -> record and describe(record) -> lines of text.
BENCHMARKS = {"gather-sum": "taylorank.bench.gather_sum", "read": "taylorank.bench.read"}


def run_benchmark(name: str, *, quick: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Run one benchmark; return its JSON-ready record and what it says in words."""
    if name not in BENCHMARKS:
        raise ParameterError(f"no benchmark {name!r}", f"choose from {', '.join(BENCHMARKS)}")
    module = importlib.import_module(BENCHMARKS[name])
    record: dict[str, Any] = module.run(quick=quick)
    return record, module.describe(record)
