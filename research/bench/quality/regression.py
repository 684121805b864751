"""Has a change lowered the quality or the speed of RG² on Gowalla?

Known settings on the published split. They were found on test data, so these are checks and no result: converged at
K = 768, the same ranked by lift, stopped after five passes, and the papers' exponents at K = 256.

    python -m research.bench regression --json research/records/bench/regression.json
"""

from __future__ import annotations

import copy
import time
from typing import Any

from research.bench.quality.closed_form import measured
from taylorank.data import Interactions, datasets, planted
from taylorank.machine import describe_machine
from taylorank.models import RG2

FOUND_ON_TEST: dict[str, Any] = {"proposal_exponent": 0.8, "context_exponent": 1.2, "regularization": 0.28}
TARGETS = {"converged": "≥ 0.190, ≥ 0.159, ≤ 40 s", "max_passes = 5": "≤ 15 s"}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure; `quick` uses planted data and small ranks."""
    machine = describe_machine()
    if quick:
        rows = checks(planted(300, 120, interactions=6000).split((0.8, 0.2)), 16, 16)
    else:
        rows = checks(datasets.published_split("gowalla"), 768, 256)
    return {"benchmark": "regression", "machine": machine, "checks": rows}


def checks(parts: tuple[Interactions, ...], factors: int, of_paper: int) -> list[dict[str, Any]]:
    """RG² converged, ranked by lift, stopped early, and as in the papers."""
    train, test = parts
    converged = RG2(factors, **FOUND_ON_TEST)
    rows = [_timed("converged", converged, train, test)]
    lift = copy.copy(converged).set_params(ranking="lift")
    rows.append({"what": "the same, ranked by lift", **measured(lift, test)})
    early = RG2(factors, **{**FOUND_ON_TEST, "max_passes": 5})
    rows.append(_timed("max_passes = 5", early, train, test))
    papers = RG2.paper(of_paper, regularization=0.0).fit(train)
    shares = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    best = max((measured(point, test) for point in papers.path(regularization=shares)), key=lambda m: m["ndcg@20"])
    rows.append({"what": "the papers' exponents, best threshold", **best})
    return rows


def _timed(what: str, model: RG2, train: Interactions, test: Interactions) -> dict[str, Any]:
    began = time.perf_counter()
    model.fit(train)
    seconds = round(time.perf_counter() - began, 1)
    return {"what": what, **measured(model, test), "seconds": seconds, "passes": model.passes_,
            "residual": round(model.residual_, 5)}  # fmt: skip


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for row in record["checks"]:
        cost = f", {row['seconds']:.1f} s, {row['passes']} passes" if "seconds" in row else ""
        target = f" (target {TARGETS[row['what']]})" if row["what"] in TARGETS else ""
        lines.append(f"{row['what']}: recall@20 {row['recall@20']:.4f}, NDCG@20 {row['ndcg@20']:.4f}{cost}{target}")
    return lines
