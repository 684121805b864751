"""RG² as the loss of an encoder with side features: two towers over ids and features, every loss tuned alike.

On planted data a feature is a noisy half-space of the items' true factors; on online-retail it is a word of the item's
name, hashed. Few interactions per user, so that features can help; the rows "… ids" are the same towers without
them, which says whether they do.

    python -m research.bench side-features planted --trials 8 --seeds 0,1,2 --json features_planted.json
    python -m research.bench side-features online-retail --trials 8 --json features_retail.json
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from research.bench.quality.softmax_family import composed, describe, space_of
from research.options import numbers
from taylorank.data import Interactions, datasets, planted
from taylorank.report.record import Record
from taylorank.selection import CompareProgress, compare

__all__ = ["contenders", "describe", "features_of_truth", "features_of_words", "run"]

WITH_FEATURES = ("rg2", "rgx", "softmax", "sampled-softmax", "bpr")
IDS_ALONE = ("rg2", "softmax")
BUCKETS = 1024
KEPT_SHARE = 0.3  # of online-retail's purchases: features should have something to add
METRICS = ("ndcg@10", "recall@20")


def features_of_truth(data: Interactions, *, count: int = 64, noise: float = 0.5, seed: int = 0) -> Any:
    """Return X_yf = [Q_y · a_f + noise > 0], a_f random directions in the space of the true factors; (N, count)."""
    assert data.truth is not None
    Q = data.truth.item_factors[data.item_ids]
    rng = np.random.default_rng(seed)
    along = (Q / np.linalg.norm(Q, axis=1).mean()) @ rng.normal(size=(Q.shape[1], count))
    return sparse.csr_array((along + noise * rng.normal(size=along.shape) > 0).astype(np.float32))


def features_of_words(names: list[str], *, buckets: int = BUCKETS) -> Any:
    """Return the words of each name, hashed, each row of length 1.

    >>> features_of_words(["red mug", "Red MUG!", "blue"], buckets=64).toarray().any(axis=1).tolist()
    [True, True, True]
    """
    from taylorank.backbones.features import hash_columns

    words = [sorted(set(re.findall(r"[a-z]+", name.lower()))) for name in names]
    columns = {word: place for place, word in enumerate(sorted({word for row in words for word in row}))}
    counts = [len(row) for row in words]
    indices = np.array([columns[word] for row in words for word in row], dtype=np.int64)
    values = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts).astype(np.float32)
    shape = (len(names), max(len(columns), 1))
    return hash_columns(sparse.csr_array((values, indices, np.cumsum([0, *counts])), shape=shape), buckets)


def online_retail(*, seed: int = 0) -> tuple[Interactions, Any]:
    """Return a share of the purchases, 5-core, and the words of the items' names."""
    import polars

    data = datasets.get("online-retail")
    kept = np.random.default_rng(seed).random(data.nnz) < KEPT_SHARE
    data = data.select(kept, f"{KEPT_SHARE:.0%} of the purchases").core(5)
    table = polars.read_parquet(datasets.path("online-retail").with_name("online-retail-items.parquet"))
    names = dict(zip(table["id"], table["description"], strict=True))
    return data, features_of_words([names.get(int(item)) or "" for item in data.item_ids])


def contenders(data: Interactions, features: Any, *, epochs: int | None) -> dict[str, Any]:
    """Return the towers: with features, and with ids alone."""
    towers = {
        loss: composed(f"{loss}/two-tower", data, epochs=epochs, options={"item_features": features})
        for loss in WITH_FEATURES
    }
    return towers | {f"{loss}, ids": composed(f"{loss}/two-tower", data, epochs=epochs) for loss in IDS_ALONE}


def run(
    data: Literal["planted", "online-retail"],
    /,
    *,
    trials: int = 8,
    seeds: str = "0",
    epochs: int | None = None,
    interactions: int = 40_000,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Record:
    """Compare the towers.

    Parameters
    ----------
    trials
        Fits of tuning per tower and seed.
    seeds
        With commas between.
    interactions
        Of planted data.
    """
    if data == "planted":
        known = planted(3000, 1000, interactions=interactions)
        features = features_of_truth(known)
    else:
        known, features = online_retail()
    models = contenders(known, features, epochs=epochs)

    def after(progress: CompareProgress) -> None:
        if progress.stage in ("done", "failed"):
            log_line(f"{progress.model} {progress.seed} {progress.stage}")

    return compare(
        known,
        models,
        spaces={name: space_of(model) for name, model in models.items()},
        seeds=numbers(seeds, "--seeds"),
        trials=trials,
        metrics=METRICS,
        file=file,
        name=data,
        command=command,
        callback=after,
    ).record
