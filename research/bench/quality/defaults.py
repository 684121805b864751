"""Which exponents and threshold should RG2 have by default? Chosen on validation data of several sets.

For each set: the papers' cleaning, 80/10/10 per user (of the training part, where a split is published), one fit per
(γ, ρ) at K = 128, its path over the threshold τ/σ₁, NDCG@10 on validation for a sample of users. No test data is
touched. A setting's score is the mean over the sets of its NDCG relative to the best setting of that set, so that
every set counts the same. Of settings within 0.1 % of the best mean, the default is the one nearest to the papers' ρ.

    python -m research.bench rg2-defaults --json research/records/bench/defaults.json
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from taylorank.data import Interactions, datasets, planted
from taylorank.errors import DataError
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.ranking import evaluate

SETS = ("ml-1m", "gowalla", "yelp2018", "moby-thesaurus", "online-retail")
PROPOSAL = (0.4, 0.5, 0.6, 0.7, 0.8)
CONTEXT = (1.0, 1.2, 1.4)
THRESHOLD = (0.0, 0.1, 0.2, 0.3, 0.4)
FACTORS = 128
USERS = 2000


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure every setting on every set that is here; `quick` uses planted data alone."""
    machine = describe_machine()
    if quick:
        results = {"planted": measure(planted(300, 120, interactions=6000), factors=16)}
    else:
        results = {name: measure(data, factors=FACTORS) for name in SETS if (data := _load(name)) is not None}
    settings: list[dict[str, Any]] = [
        {
            "proposal_exponent": gamma,
            "context_exponent": rho,
            "regularization": tau,
            "relative": _relative(results, key := f"{gamma:g} {rho:g} {tau:g}"),
            "ndcg@10": {name: values[key] for name, values in results.items()},
        }
        for gamma, rho, tau in itertools.product(PROPOSAL, CONTEXT, THRESHOLD)
    ]
    settings.sort(key=lambda setting: float(setting["relative"]), reverse=True)
    return {"benchmark": "rg2-defaults", "factors": FACTORS, "machine": machine, "settings": settings}


def measure(data: Interactions, *, factors: int) -> dict[str, float]:
    """NDCG@10 on validation for every setting, keyed "γ ρ τ"."""
    train, valid, _ = data.split(random_state=0)
    sample = sampled(valid, USERS)
    values = {}
    for gamma, rho in itertools.product(PROPOSAL, CONTEXT):
        model = RG2(factors=factors, proposal_exponent=gamma, context_exponent=rho).fit(train)
        for point in model.path(regularization=THRESHOLD):
            ndcg = evaluate(point, sample, k=10)["ndcg@10"]
            values[f"{gamma:g} {rho:g} {point.regularization:g}"] = round(ndcg, 5)
    return values


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the best settings, and the papers' neighbours."""
    lines = []
    for setting in record["settings"][:5]:
        each = ", ".join(f"{name} {value:.4f}" for name, value in setting["ndcg@10"].items())
        lines.append(
            f"γ {setting['proposal_exponent']:g}, ρ {setting['context_exponent']:g}, "
            f"τ/σ₁ {setting['regularization']:g}: {100 * setting['relative']:.1f} % of the best; {each}"
        )
    return lines


def _load(name: str) -> Interactions | None:
    """The papers' cleaning; of a published split only the training part."""
    try:
        if datasets.info(name).has_split:
            return datasets.published_split(name)[0]
        return datasets.get(name, cleaning="paper")
    except DataError:
        return None  # not on this machine


def sampled(valid: Interactions, count: int) -> Interactions:
    """Keep `count` users, always the same."""
    users = np.flatnonzero(valid.by_user.row_lengths)
    chosen = np.zeros(valid.n_users, dtype=bool)
    chosen[np.random.default_rng(0).permutation(users)[:count]] = True
    return valid.select(np.repeat(chosen, valid.by_user.row_lengths), f"{count} users")


def _relative(results: dict[str, dict[str, float]], key: str) -> float:
    return float(np.mean([values[key] / max(values.values()) for values in results.values()]))
