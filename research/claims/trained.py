"""Fits of the softmax family on planted data, small enough for seconds, each loss at its best learning rate."""

from __future__ import annotations

from typing import Any

from taylorank import losses
from taylorank.data import Interactions, planted
from taylorank.ranking.expected_ndcg import regret
from taylorank.training import Neural

RATES = (0.01, 0.03, 0.1)
USERS_PER_STEP = 100
PAIRS_PER_STEP = 1000


def parts(
    seed: int, *, users: int = 300, items: int = 120, interactions: int = 7000
) -> tuple[Interactions, Interactions]:
    """Return planted training and validation data."""
    train, valid = planted(users, items, interactions=interactions, random_state=seed).split(
        (0.8, 0.2), random_state=seed
    )
    return train, valid


def fit(loss: str, data: tuple[Interactions, Interactions], **params: Any) -> Neural:
    """Fit one model; validation data are measured after every epoch, and the best epoch is kept."""
    train, valid = data
    epochs = params.get("epochs", 30)
    settings = {
        "factors": 8,
        "epochs": epochs,
        "batch_size": USERS_PER_STEP if losses.get(loss).batch_of == "users" else PAIRS_PER_STEP,
        "regularization": 1e-3,
        "device": "cpu",
        "num_threads": 1,
        **params,
    }
    return Neural(loss, **settings).fit(train, valid, patience=epochs)


def best_fit(
    loss: str, data: tuple[Interactions, Interactions], *, rates: tuple[float, ...] = RATES, **params: Any
) -> Neural:
    """Return the fit with the learning rate of the best validation NDCG@10."""
    return max((fit(loss, data, learning_rate=rate, **params) for rate in rates), key=peak)


def peak(model: Neural) -> float:
    """Return the best validation NDCG@10 on the way."""
    return max(record["metric"] for record in model.history_)


def epochs_to(model: Neural, target: float) -> int:
    """Return the first epoch whose validation NDCG@10 reaches `target`; 0 if none does."""
    return next((int(record["step"]) for record in model.history_ if record["metric"] >= target), 0)


def expected_ndcg(model: Any, data: tuple[Interactions, Interactions]) -> float:
    """Return the expected NDCG@10 under the planted truth."""
    return regret(model, data[1])["expected_ndcg@10"]
