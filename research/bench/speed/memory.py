"""Peak resident memory of a fit, each in a process of its own.

`input` is what the data hold, compressed sparse rows in one order; `factors` are those of users and items. The total is
the input and what the peak during `fit` is above what was resident just before it: with the data loaded, after a small
fit that makes BLAS take its buffers, and after the allocator has handed back what it had in reserve.

Targets: ALS in all at most 2.5 times (input + factors), the spectral solver at most 5 times the factors beside the
input.

    python -m research.bench memory --json research/records/bench/memory.json
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from research.bench.speed.gather_sum import ITEMS, USERS, long_tailed
from research.bench.speed.gowalla import save_gowalla
from research.bench.speed.process import forget_peak, in_own_process, peak_mb, resident_mb, return_memory
from taylorank.data import Interactions, planted, read_interactions
from taylorank.errors import ParameterError
from taylorank.machine import describe_machine
from taylorank.models import IALS, RG2

ALS_TARGET, SPECTRAL_TARGET = 2.5, 5.0


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure every fit; `quick` uses small data."""
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="taylorank-bench-") as folder:
        cases = _cases(Path(folder), quick)
        results = [in_own_process(__name__, *case) for case in cases]
    return {"benchmark": "memory", "machine": machine, "results": results}


def _cases(folder: Path, quick: bool) -> list[tuple[str, str, str, str]]:
    """(fit, K, file, words for the data) of every measurement."""
    sweeps, large = ("32", 64) if quick else ("128", 768)
    rows = long_tailed(20_000, users=2_000, items=500) if quick else long_tailed(6_600_000, users=USERS, items=ITEMS)
    generated = _saved(read_interactions(rows.to_scipy()), folder / "generated.npz")
    cases = [(fit, sweeps, generated, "generated") for fit in ("rg2-als", "ials")]
    if quick:
        return [*cases, ("rg2-spectral", str(large), generated, "generated")]
    large_path = folder / "large.npz"
    words = save_gowalla(large_path)
    return [*cases, ("rg2-spectral", str(large), str(large_path), words)]


def _saved(data: Interactions, path: Path) -> str:
    data.save_npz(path)
    return str(path)


def fit(kind: str, factors: int, data: Interactions) -> Any:
    """Fit one model for a few sweeps, or to its tolerance."""
    models: dict[str, Callable[[], RG2 | IALS]] = {
        "rg2-als": lambda: RG2(factors, solver="als", iterations=3, tolerance=0.0),
        "ials": lambda: IALS(factors, iterations=2),
        "rg2-spectral": lambda: RG2(factors, proposal_exponent=0.8, context_exponent=1.2),
    }
    if kind not in models:
        raise ParameterError(f"no fit {kind!r}", f"choose from {', '.join(models)}")
    return models[kind]().fit(data)


def measure(kind: str, width: str, path: str, words: str) -> dict[str, Any]:
    """Fit in this process and return what it took."""
    factors = int(width)
    fit(kind, 8, planted(3000, 1000, interactions=30_000))
    data = Interactions.load_npz(path)
    rows = data.by_user
    strengths = 0 if rows.weights is None else rows.weights.nbytes
    held = (rows.indptr.nbytes + rows.indices.nbytes + strengths) / 2**20
    return_memory()
    forget_peak()
    before = resident_mb()
    model = fit(kind, factors, data)
    total = peak_mb() - before + held
    result = (model.user_factors.nbytes + model.item_factors.nbytes) / 2**20
    return {
        "fit": kind,
        "data": words,
        "users": data.n_users,
        "items": data.n_items,
        "interactions": data.nnz,
        "factors": factors,
        "input_mb": round(held, 1),
        "factors_mb": round(result, 1),
        "total_mb": round(total, 1),
        "times_input_and_factors": round(total / (held + result), 2),
        "times_factors_beside_input": round((total - held) / result, 2),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for r in record["results"]:
        size = f"{r['fit']}, {r['interactions'] / 1e6:.1f} M interactions ({r['data']}), K = {r['factors']}"
        parts = f"{r['total_mb']:.0f} MB in all, input {r['input_mb']:.0f}, factors {r['factors_mb']:.0f}"
        if r["fit"] == "rg2-spectral":
            ratio, target = r["times_factors_beside_input"], SPECTRAL_TARGET
            words = f"beside the input {ratio:.2f} times the factors"
        else:
            ratio, target = r["times_input_and_factors"], ALS_TARGET
            words = f"{ratio:.2f} times input and factors"
        lines.append(f"{size}: {parts}; {words} (target {target:g}: {'kept' if ratio <= target else 'MISSED'})")
    return lines
