"""The printed penalty λ (‖P‖² + ‖Q‖²) on sparse data: λ against the size of the scores and quality.

Eq. 31 of Pu et al. 2025 at K = 64 by ALS (`RG2.literal`), for the papers' λ and for shares of λ_max, from which on all
factors are 0: ‖diag(I) S‖₂, the norm of the gradient in O = PQᵀ at O = 0. Beside it the penalty that their Eq. 36-37
solve (`RG2.paper`), whose path has every threshold. Scores o are shown by their root mean square over all pairs and by
their mean over training positives, whose mean target is E[N / I_x] − 1. Nothing is chosen; the test part is looked at
by a sample of users.

    python -m research.bench printed-penalty --json research/records/bench/printed_penalty.json
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from research.bench.quality.defaults import sampled
from taylorank.data import Interactions, datasets, planted
from taylorank.kernels import nonzero_scores
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.ranking import evaluate
from taylorank.solvers import solve_spectral

PAPERS = (0.0, 0.001, 0.01, 0.1, 1.0)
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # of λ_max
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.5)
USERS, SWEEPS = 5000, 12
Row = dict[str, Any]


def run(*, quick: bool = False) -> dict[str, Any]:
    """Fit every λ; `quick` uses planted data and a small rank."""
    if quick:
        sets = {"planted": planted(300, 120, interactions=4000).split((0.8, 0.2))}
    else:
        sets = {"yelp2018": datasets.published_split("yelp2018")}
    return {
        "benchmark": "printed-penalty",
        "machine": describe_machine(),
        "factors": 8 if quick else 64,
        "sets": {name: measure(*parts, factors=8 if quick else 64) for name, parts in sets.items()},
    }


def measure(train: Interactions, test: Interactions, *, factors: int) -> dict[str, Any]:
    """Return λ_max, the mean target, and a row for each λ of both penalties."""
    test = sampled(test, USERS)
    most = largest_penalty(train)
    plain = []
    for penalty in (*PAPERS, *(share * most for share in SHARES)):
        began = time.perf_counter()
        model = RG2.literal(factors, regularization=penalty, iterations=SWEEPS, tolerance=0).fit(train)
        plain.append({"λ": penalty, "seconds": round(time.perf_counter() - began, 1), **scores_of(model, train, test)})
    weighted = [
        {"λ": model.penalty_, "threshold": model.regularization, **scores_of(model, train, test)}
        for model in RG2.paper(factors).fit(train).path(regularization=THRESHOLDS)
    ]
    targets = train.n_items / np.repeat(train.by_user.row_lengths, train.by_user.row_lengths) - 1
    return {"λ_max": most, "mean target": round(float(targets.mean()), 2), "plain": plain, "weighted": weighted}


def largest_penalty(train: Interactions) -> float:
    """Return ‖diag(I) S‖₂, from which λ on P = Q = 0 is the optimum of Eq. 31.

    With ρ = 2 and uniform q the scaled matrix is diag(I) S / √N.
    """
    objective = rg_objective(RG2Objective, train, proposal_exponent=0.0, context_exponent=2.0)
    return float(np.sqrt(train.n_items)) * solve_spectral(objective, 1, tolerance=1e-3).largest


def scores_of(model: RG2, train: Interactions, test: Interactions) -> Row:
    """Return the size of the scores, and test metrics."""
    P, Q = model.user_factors.astype(np.float64), model.item_factors.astype(np.float64)
    size = np.sqrt(np.vdot(P.T @ P, Q.T @ Q) / (len(P) * len(Q)))
    found = evaluate(model, test, metrics=("recall@20", "ndcg@20"))
    return {
        "rms score": round(float(size), 4),
        "mean score of positives": round(float(nonzero_scores(train.by_user, P, item_factors=Q).mean()), 3),
        **{name: round(found[name], 4) for name in ("recall@20", "ndcg@20")},
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for name, found in record["sets"].items():
        lines.append(f"{name}: all factors are 0 from λ = {found['λ_max']:.4g} on; mean target {found['mean target']}")
        for kind in ("plain", "weighted"):
            lines += [
                f"{kind} penalty, λ = {row['λ']:.4g}: rms score {row['rms score']:.3f}, mean score of positives "
                f"{row['mean score of positives']:.2f}, recall@20 {row['recall@20']:.4f}, NDCG@20 {row['ndcg@20']:.4f}"
                for row in found[kind]
            ]
    return lines
