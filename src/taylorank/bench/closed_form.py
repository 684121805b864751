"""What closed form can do on the published splits of Gowalla and Yelp2018.

Regression: known settings of RG² on Gowalla, which were found on test data; they say whether a change has lowered
quality or speed, and are no result. Search: RG², sampled RG² and iALS at K = 64, and the three best settings of each
again at K = 256. Each gets 12 settings; those of RG² are pairs of exponents, since one fit has every threshold. They
are chosen by NDCG@20 on 10 % of every user's training interactions (a sample of users), then fitted to the whole
training part and measured on test data once.

    taylorank bench closed-form --json docs/bench/closed_form.json
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from typing import Any

from taylorank.bench.defaults import sampled
from taylorank.bench.machine import describe_machine
from taylorank.data import Interactions, datasets, planted
from taylorank.models import IALS, RG2, SampledRG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate

SHOWN = ("recall@20", "ndcg@20")
SWEEPS = 8
USERS = 10_000
DISCOUNTS = (0.0, 0.1, 0.2, 0.3)
FOUND_ON_TEST: dict[str, Any] = {"proposal_exponent": 0.8, "context_exponent": 1.2, "regularization": 0.28}
Settings = list[dict[str, Any]]


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure both parts; `quick` uses planted data and small ranks."""
    machine = describe_machine()
    if quick:
        parts = planted(300, 120, interactions=6000).split((0.8, 0.2))
        small, large = 8, 16
        searches = {"planted": search(parts, small, large, settings=2)}
        return _record(machine, regression(parts, large, large), searches)
    splits = {name: datasets.published_split(name) for name in ("gowalla", "yelp2018")}
    checks = regression(splits["gowalla"], 768, 256)
    return _record(machine, checks, {name: search(parts, 64, 256) for name, parts in splits.items()})


def _record(machine: dict[str, Any], checks: Settings, searches: dict[str, Settings]) -> dict[str, Any]:
    return {"benchmark": "closed-form", "machine": machine, "regression": checks, "search": searches}


def regression(parts: tuple[Interactions, ...], factors: int, of_paper: int) -> Settings:
    """RG² converged, ranked by lift, stopped early, and as in the papers."""
    train, test = parts
    converged = RG2(factors, **FOUND_ON_TEST)
    rows = [_timed("converged", converged, train, test)]
    lift = copy.copy(converged).set_params(ranking="lift")
    rows.append({"what": "the same, ranked by lift", **_measured(lift, test)})
    early = RG2(factors, **{**FOUND_ON_TEST, "max_passes": 5})
    rows.append(_timed("max_passes = 5", early, train, test))
    papers = RG2.paper(of_paper, regularization=0.0).fit(train)
    shares = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    best = max((_measured(point, test) for point in papers.path(regularization=shares)), key=lambda m: m["ndcg@20"])
    rows.append({"what": "the papers' exponents, best threshold", **best})
    return rows


def _timed(what: str, model: RG2, train: Interactions, test: Interactions) -> dict[str, Any]:
    began = time.perf_counter()
    model.fit(train)
    seconds = round(time.perf_counter() - began, 1)
    return {"what": what, **_measured(model, test), "seconds": seconds, "passes": model.passes_,
            "residual": round(model.residual_, 5)}  # fmt: skip


def _measured(model: Recommender, test: Interactions) -> dict[str, Any]:
    metrics = evaluate(model, test, k=20)
    return {"parameters": model.get_params(), **{name: round(metrics[name], 5) for name in SHOWN}}


def search(parts: tuple[Interactions, ...], small: int, large: int, *, settings: int = 12) -> Settings:
    """Choose on validation data, measure on test data once, for every family and two ranks."""
    train, test = parts
    fit, valid = train.split((0.9, 0.1), seed=0)
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
        **_measured(model, test),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Say the results in words."""
    lines = []
    for row in record["regression"]:
        cost = f", {row['seconds']:.1f} s, {row['passes']} passes" if "seconds" in row else ""
        lines.append(f"regression, {row['what']}: recall@20 {row['recall@20']:.4f}, NDCG@20 {row['ndcg@20']:.4f}{cost}")
    for name, rows in record["search"].items():
        lines += [
            f"{name}, {row['family']}, K = {row['factors']}: validation NDCG@20 {row['validation ndcg@20']:.4f}, "
            f"test recall@20 {row['recall@20']:.4f}, NDCG@20 {row['ndcg@20']:.4f}, {row['fit_seconds']:.0f} s"
            for row in rows
        ]
    return lines
