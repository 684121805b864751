"""Encoders that learn a teacher's lists: two towers on warm and on cold items, LightGCN beside plain vectors.

A fifth of the items is held out with all its interactions, so that features alone can rank them; of the rest of each
user a tenth is validation data and a tenth test data. Warm test items are ranked among the warm items, cold ones among
the cold. All models have the same epochs, batches and rate; the temperature of each is chosen on the warm validation
data, and nothing on cold items. The last part compares students on the graph with students of plain vectors.

    python -m research.bench encoder-students --json research/records/bench/encoder_students.json
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from research.bench.quality.side_features import features_of_truth, online_retail
from taylorank.data import Interactions, datasets, planted
from taylorank.machine import describe_machine
from taylorank.models import RG2, Popularity
from taylorank.ranking import Ranker, evaluate
from taylorank.ranking.ranker import ranker_of

Row = dict[str, Any]
METRIC = "ndcg@10"
TEMPERATURES = (0.1, 0.2)
COLD_SHARE = 0.2


def run(*, quick: bool = False, epochs: int = 20, log_line: Callable[[str], object] = print) -> Row:
    """Fit and measure; `quick` uses small planted data alone."""
    machine = describe_machine()
    small = planted(150, 80, interactions=2500) if quick else planted(2000, 600, interactions=40_000)
    sets: dict[str, tuple[Interactions, Any]] = {"planted": (small, features_of_truth(small))}
    if not quick:
        sets["online-retail"] = online_retail()
    settings: Row = {
        "epochs": 2 if quick else epochs,
        "factors": 8 if quick else 32,
        "context_exponent": 0.5,
        "device": "cpu",
    }
    teacher: Row = {"teacher": RG2(16 if quick else 128, device="cpu"), "top": 20 if quick else 100, "sharpness": 1.0}
    cold = {name: _towers(*given, settings, teacher, log_line) for name, given in sets.items()}
    graph = small if quick else datasets.get("ml-100k")
    return {
        "benchmark": "encoder-students",
        "machine": machine,
        "settings": settings,
        "teacher": {**teacher, "teacher": f"RG2({teacher['teacher'].factors})"},
        "temperatures": TEMPERATURES,
        "cold": cold,
        "graph": {"planted" if quick else "ml-100k": _graph(graph, settings, teacher, log_line)},
    }


def _towers(data: Interactions, features: Any, settings: Row, teacher: Row, log_line: Callable[[str], object]) -> Row:
    """(a) a student of plain vectors, (b) of two towers, (c) the same towers on the data themselves."""
    is_cold = np.random.default_rng(0).random(data.n_items) < COLD_SHARE
    of_cold = is_cold[data.by_user.indices]
    train, valid, test = data.select(~of_cold, "warm items").split((0.8, 0.1, 0.1), seed=0)
    cold = data.select(of_cold, "cold items")
    towers = {"backbone": "two-tower", "options": {"item_features": features, "id_dropout": 0.5}}
    contenders: dict[str, Row] = {
        "student, plain vectors": dict(teacher),
        "student, two towers": {**teacher, **towers},
        "two towers on the data": towers,
    }
    found: Row = {"data": [train.n_users, train.n_items, train.nnz], "cold_items": int(is_cold.sum())}
    known = train.item_popularity > 0
    for name, own in contenders.items():
        model, temperature = _chosen({**settings, **own}, train, valid, known)
        found[name] = {
            "temperature": temperature,
            "valid": _measured(model, valid, train, known),
            "warm": _measured(model, test, train, known),
            "cold": _measured(model, cold, train, is_cold),
        }
        log_line(f"{name}: {found[name]}")
    popular, by_chance = Popularity().fit(train), _by_chance(train)
    found["popularity"] = {"warm": _measured(popular, test, train, known)}  # of cold items it knows nothing
    found["at random"] = {
        "warm": _measured(by_chance, test, train, known),
        "cold": _measured(by_chance, cold, train, is_cold),
    }
    best = RG2(teacher["teacher"].factors, device="cpu").fit(train)
    found["teacher"] = {"warm": _measured(best, test, train, known)}
    return found


def _graph(data: Interactions, settings: Row, teacher: Row, log_line: Callable[[str], object]) -> Row:
    train, valid, test = data.split((0.8, 0.1, 0.1), seed=0)
    known = train.item_popularity > 0
    found: Row = {"data": [train.n_users, train.n_items, train.nnz]}
    for name, backbone in (("student, plain vectors", "mf"), ("student, LightGCN", "lightgcn")):
        own = {**settings, **teacher, "backbone": backbone}
        model, temperature = _chosen(own, train, valid, known)
        found[name] = {
            "temperature": temperature,
            "valid": _measured(model, valid, train, known),
            "test": _measured(model, test, train, known),
        }
        log_line(f"{name}: {found[name]}")
    best = RG2(teacher["teacher"].factors, device="cpu").fit(train)
    found["teacher"] = {"test": _measured(best, test, train, known)}
    return found


def _chosen(options: Row, train: Interactions, valid: Interactions, known: np.ndarray[Any, Any]) -> tuple[Any, float]:
    """Return the fit that is best on the validation data, and its temperature."""
    from taylorank.training import Neural

    fits = [(Neural("softmax", temperature=t, **options).fit(train), t) for t in TEMPERATURES]
    return max(fits, key=lambda one: _measured(one[0], valid, train, known))


def _measured(model: Any, test: Interactions, seen: Interactions, among: np.ndarray[Any, Any]) -> float:
    """NDCG@10 with only these items in the lists."""
    ranker: Ranker = replace(ranker_of(model), rankable=among)
    return round(float(evaluate(ranker, test, metrics=METRIC, seen=seen)[METRIC]), 4)


def _by_chance(train: Interactions) -> Ranker:
    scores = np.random.default_rng(0).random((train.n_users, train.n_items)).astype(np.float32)
    return Ranker(train.users, train.items, train, scores=lambda users: scores[users], name="chance")


def describe(record: Row) -> list[str]:
    """Describe each part by its NDCG@10."""
    lines = []
    for name, found in [*record["cold"].items(), *record["graph"].items()]:
        for contender, values in found.items():
            if isinstance(values, dict):
                shown = ", ".join(f"{part} {values[part]:.4f}" for part in ("warm", "cold", "test") if part in values)
                lines.append(f"{name}: {contender}: NDCG@10 {shown}")
    return lines
