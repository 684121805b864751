"""What closed form can do on the published splits of Gowalla and Yelp2018.

RG², sampled RG² and iALS at K = 64, and the three best settings of each again at K = 256. Each gets 12 settings; those
of RG² are pairs of exponents, since one fit has every threshold. They are chosen by NDCG@20 on 10 % of every user's
training interactions (a sample of users), then fitted to the whole training part and measured on test data once.

    python -m research.bench closed-form --json research/records/bench/closed_form.json
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from typing import Any

from research.bench.quality.defaults import sampled
from taylorank.data import Interactions, datasets, planted
from taylorank.machine import describe_machine
from taylorank.models import IALS, RG2, SampledRG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate

SHOWN = ("recall@20", "ndcg@20")
SWEEPS = 8
USERS = 10_000
DISCOUNTS = (0.0, 0.1, 0.2, 0.3)
Settings = list[dict[str, Any]]


def run(*, quick: bool = False) -> dict[str, Any]:
    """Search on both sets; `quick` uses planted data and small ranks."""
    machine = describe_machine()
    if quick:
        searches = {"planted": search(planted(300, 120, interactions=6000).split((0.8, 0.2)), 8, 16, settings=2)}
    else:
        searches = {name: search(datasets.published_split(name), 64, 256) for name in ("gowalla", "yelp2018")}
    return {"benchmark": "closed-form", "machine": machine, "search": searches}


def measured(model: Recommender, test: Interactions) -> dict[str, Any]:
    """Return parameters, recall@20 and NDCG@20."""
    metrics = evaluate(model, test, k=20)
    return {"parameters": model.get_params(), **{name: round(metrics[name], 5) for name in SHOWN}}


def search(parts: tuple[Interactions, ...], small: int, large: int, *, settings: int = 12) -> Settings:
    """Choose on validation data, measure on test data once, for every family and two ranks."""
    train, test = parts
    fit, valid = train.split((0.9, 0.1), random_state=0)
    valid = sampled(valid, USERS)
    rows = []
    for name, grid in families(settings).items():
        tried = [row for model in grid for row in try_out(model.set_params(factors=small), fit, valid)]
        rows.append(_chosen(name, tried, train, test))
        again = {id(row["source"]): row["source"] for row in _by_value(tried)[: 3 * len(DISCOUNTS)]}
        wider = [_unfitted(model).set_params(factors=large) for model in list(again.values())[:3]]
        tried = [row for model in wider for row in try_out(model, fit, valid)]
        rows.append(_chosen(name, tried, train, test))
    return rows


def families(settings: int) -> dict[str, list[Recommender]]:
    """The settings of each family, equally many; `settings` keeps the first ones."""
    rg2 = [
        RG2(proposal_exponent=gamma, context_exponent=rho)
        for gamma, rho in itertools.product((0.5, 0.6, 0.7, 0.8), (1.0, 1.2, 1.4))
    ]
    sampled_rg2 = [
        SampledRG2(proposal_exponent=gamma, negatives=n, regularization=share, iterations=SWEEPS)
        for gamma, n, share in itertools.product((0.0, 0.5), (10, 30, 100), (0.03, 0.1))
    ]
    ials = [
        IALS(unobserved_weight=weight, regularization=penalty, iterations=SWEEPS)
        for weight, penalty in itertools.product((0.003, 0.01, 0.03, 0.1), (0.001, 0.003, 0.01))
    ]
    each: dict[str, list[Recommender]] = {"rg2": [*rg2], "sampled-rg2": [*sampled_rg2], "ials": [*ials]}
    return {name: models[:settings] for name, models in each.items()}


def try_out(model: Recommender, fit: Interactions, valid: Interactions) -> Settings:
    """Fit once; measure what costs no refit too: thresholds of a path, popularity discounts."""
    began = time.perf_counter()
    model.fit(fit)
    seconds = time.perf_counter() - began
    found = ((point, evaluate(point, valid, k=20)["ndcg@20"]) for point in _free_points(model))
    return [{"source": model, "model": _unfitted(point), "seconds": seconds, "value": value} for point, value in found]


def _free_points(model: Recommender) -> Iterator[Recommender]:
    thresholds = model.path(regularization=(0.0, 0.1, 0.2, 0.3)) if isinstance(model, RG2) else (model,)
    for point in thresholds:
        if isinstance(point, RG2 | SampledRG2):
            yield from (copy.copy(point).set_params(popularity_discount=discount) for discount in DISCOUNTS)
        else:
            yield point


def _unfitted(model: Recommender) -> Recommender:
    return type(model)(**model.get_params())


def _by_value(tried: Settings) -> Settings:
    return sorted(tried, key=lambda row: -float(row["value"]))


def _chosen(name: str, tried: Settings, train: Interactions, test: Interactions) -> dict[str, Any]:
    best = _by_value(tried)[0]
    model = best["model"]
    began = time.perf_counter()
    model.fit(train)
    seconds = time.perf_counter() - began
    return {
        "family": name,
        "factors": model.get_params()["factors"],
        "fits": len({id(row["source"]) for row in tried}),
        "validation ndcg@20": round(best["value"], 5),
        "fit_seconds": round(seconds, 1),
        **measured(model, test),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for name, rows in record["search"].items():
        lines += [
            f"{name}, {row['family']}, K = {row['factors']}: validation NDCG@20 {row['validation ndcg@20']:.4f}, "
            f"test recall@20 {row['recall@20']:.4f}, NDCG@20 {row['ndcg@20']:.4f}, {row['fit_seconds']:.0f} s"
            for row in rows
        ]
    return lines
