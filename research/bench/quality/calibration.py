"""Do models state true probabilities on real data? The 20 best items of every user: p against outcomes.

RG² ranks by p = q (1 + o); softmax, sparsemax and entmax state the distribution of their loss. One 80/10/10 split of
each set, papers' cleaning, K = 64, everything else at its defaults, so nothing is chosen by the test data. As in
`metrics` (ece@20): what was seen is taken out, the rest scaled to a sum of 1, and of a user with n test items y is one
with probability 1 − (1 − p)^n.

    python -m research.bench calibration --json research/records/bench/calibration.json
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, datasets, planted
from taylorank.machine import describe_machine
from taylorank.metrics import calibration_error
from taylorank.metrics.calibration import listed_probability, reliability
from taylorank.models import RG2
from taylorank.models.recommender import Recommender
from taylorank.ranking import Ranker, evaluate
from taylorank.ranking.ranker import ranker_of
from taylorank.registry import model_named

SETS = ("ml-100k", "wikispeedia-links", "movietweetings")
LOSSES = ("softmax", "sparsemax", "entmax")
K = 20
BINS = 5  # shown; the error has 15
Row = dict[str, Any]


def run(*, quick: bool = False) -> Row:
    """Fit five models to each set; `quick` uses planted data, small ranks and few epochs."""
    sets = ("planted",) if quick else SETS
    rows = [row for name in sets for row in _of_set(name, quick=quick)]
    return {"benchmark": "calibration", "machine": describe_machine(), "rows": rows}


def _of_set(name: str, *, quick: bool) -> list[Row]:
    data = planted(150, 80, interactions=3000) if quick else datasets.get(name, cleaning="paper")
    train, valid, test = data.split((0.8, 0.1, 0.1), random_state=0)
    return [
        {"data": name, "model": label, **stated_and_true(model.fit(train), label, test, [train, valid])}
        for label, model in models(8 if quick else 64, epochs=3 if quick else 50).items()
    ]


def models(factors: int, *, epochs: int) -> dict[str, Recommender]:
    """Return the models by name, unfitted."""
    found: dict[str, Recommender] = {"RG2": RG2(factors), "RG2, papers' weights": RG2.paper(factors)}
    return found | {name: model_named(name).set_params(factors=factors, epochs=epochs) for name in LOSSES}


def stated_and_true(model: Recommender, label: str, test: Interactions, seen: list[Interactions]) -> Row:
    """Return NDCG@20, the calibration error, and the mean p and share that is true, in all and in five bins."""
    ranker = ranker_of(model) if label not in LOSSES else ranker_of_loss(model, label)
    stated, true = top_predictions(ranker, test, seen)
    bins = reliability(stated, true, bins=BINS)
    whole = SimpleNamespace(ranker=ranker)
    return {
        "ndcg@20": round(float(evaluate(whole, test, metrics=f"ndcg@{K}", seen=seen)[f"ndcg@{K}"]), 4),
        "ece@20": round(calibration_error(stated, true), 4),
        "stated": round(float(stated.mean()), 4),
        "true": round(float(true.mean()), 4),
        "bins": [[round(float(p), 4), round(float(t), 4)] for p, t in zip(bins.predicted, bins.observed, strict=True)],
    }


def ranker_of_loss(model: Recommender, name: str) -> Ranker:
    """Return how the model ranks, with the distribution that its loss makes of a row of scores."""
    import torch

    from taylorank.losses.simplex import entmax15_map, softmax_map, sparsemax_map

    weights_of = {"softmax": softmax_map, "sparsemax": sparsemax_map, "entmax": entmax15_map}[name]

    def probabilities(users: NDArray[np.int64]) -> NDArray[np.float32]:
        scores = torch.from_numpy(np.array(model.scores(users)))
        _, weights, total = weights_of(scores - scores.amax(dim=1, keepdim=True))
        p: NDArray[np.float32] = (weights / total[:, None]).numpy()
        return p

    return Ranker(model.users, model.items, model.seen, scores=model.scores, probabilities=probabilities)


def top_predictions(
    ranker: Ranker, test: Interactions, seen: list[Interactions]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return p of the 20 best items of every user with test items, and whether each is one of these."""
    users = np.flatnonzero(test.by_user.row_lengths)
    hidden = sum(part.matrix for part in seen).tocsr()[users].toarray() > 0
    true = test.matrix.tocsr()[users].toarray() > 0
    scores = np.where(hidden, -np.inf, ranker.scores_of(users))
    p = np.where(hidden, 0.0, np.maximum(ranker.probabilities_of(users), 0.0).astype(np.float64))
    p /= np.maximum(p.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    listed = np.take_along_axis(p, best, axis=1)
    among = listed_probability(np.minimum(listed, 1.0), true.sum(axis=1)[:, None])
    return among.ravel(), np.take_along_axis(true, best, axis=1).ravel()


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    return [
        f"{row['data']}, {row['model']}: ece@20 {row['ece@20']:.4f}, mean p {row['stated']:.4f} where "
        f"{row['true']:.4f} is true, NDCG@20 {row['ndcg@20']:.4f}; fifths by p: "
        + ", ".join(f"{p:.3f} → {t:.3f}" for p, t in row["bins"])
        for row in record["rows"]
    ]
