"""Which settings should `taylorank run` search? Chosen on validation data of other seeds than its default.

For each of five seeds: data as the command plants them, one fit per setting of a wide grid (RG² judges ranks and
thresholds on its path), NDCG@10 on validation data. Every model gets 24 settings: `WIDTHS` neighbouring values of each
parameter, those whose best setting is highest as a mean over the seeds. No test data is touched.

    python -m research.bench run-grid --json research/records/bench/run_grid.json
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions, planted
from taylorank.machine import describe_machine
from taylorank.models import IALS, RG2
from taylorank.ranking import evaluate

SEEDS = tuple(range(10, 15))
METRIC = "ndcg@10"
FACTORS = (4, 8, 16, 32)
WIDE: dict[str, dict[str, tuple[float, ...]]] = {
    "RG2": {
        "proposal_exponent": (0.0, 0.25, 0.5, 0.75, 1.0),
        "factors": FACTORS,
        "regularization": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    },
    "IALS": {
        "factors": FACTORS,
        "unobserved_weight": (0.03, 0.1, 0.3, 1.0),
        "regularization": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
    },
}
WIDTHS = {"proposal_exponent": 3, "unobserved_weight": 3, "factors": 2, "regularization": 4}
Grid = dict[str, tuple[float, ...]]


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure every setting on every seed; `quick` has two seeds of small data."""
    machine = describe_machine()
    sizes = {"n_users": 150, "n_items": 80, "interactions": 3000} if quick else {}
    seeds = SEEDS[:2] if quick else SEEDS
    values: dict[str, list[Any]] = {name: [] for name in WIDE}
    for seed in seeds:
        train, valid, _ = planted_as_run(seed, **sizes).split(random_state=seed)
        values["RG2"].append(list(_of_rg2(train, valid)))
        values["IALS"].append(list(_of_ials(train, valid)))
    models = {}
    for name, wide in WIDE.items():
        by_seed = np.array(values[name]).reshape(len(seeds), *map(len, wide.values()))
        grid, reached = chosen(wide, by_seed)
        models[name] = {
            "wide": wide,
            "grid": grid,
            "reached": reached,
            "values": by_seed.mean(axis=0).round(5).tolist(),
        }
    return {"benchmark": "run-grid", "seeds": list(seeds), "metric": METRIC, "machine": machine, "models": models}


def planted_as_run(seed: int, n_users: int = 2000, n_items: int = 1000, interactions: int = 60_000) -> Interactions:
    """Return the data that `taylorank run --seed` generates."""
    return planted(n_users, n_items, interactions=interactions, random_state=seed).core(5)


def chosen(wide: Grid, by_seed: NDArray[np.float64]) -> tuple[Grid, float]:
    """Return neighbouring values of each parameter with the best mean over seeds of the best value, and that mean.

    Of equal ones the first counts. `by_seed` is (seeds, values of the first parameter, of the second, …).
    """
    starts = [range(len(axis) - WIDTHS[name] + 1) for name, axis in wide.items()]
    windows = [
        tuple(slice(start, start + WIDTHS[name]) for name, start in zip(wide, corner, strict=True))
        for corner in itertools.product(*starts)
    ]
    means = [float(by_seed[:, *window].reshape(len(by_seed), -1).max(axis=1).mean()) for window in windows]
    best = windows[int(np.argmax(means))]
    return {name: axis[part] for (name, axis), part in zip(wide.items(), best, strict=True)}, round(max(means), 5)


def _of_rg2(train: Interactions, valid: Interactions) -> Iterator[float]:
    wide = WIDE["RG2"]
    for gamma in wide["proposal_exponent"]:
        model = RG2(max(FACTORS), proposal_exponent=gamma, regularization=0.0).fit(train)
        for point in model.path(FACTORS, wide["regularization"]):
            yield evaluate(point, valid, k=10, seen=train)[METRIC]


def _of_ials(train: Interactions, valid: Interactions) -> Iterator[float]:
    for setting in itertools.product(*WIDE["IALS"].values()):
        model = IALS(**dict(zip(WIDE["IALS"], setting, strict=True))).fit(train)  # type: ignore[arg-type]
        yield evaluate(model, valid, k=10, seen=train)[METRIC]


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for name, found in record["models"].items():
        grid = ", ".join(f"{key} {' '.join(f'{v:g}' for v in values)}" for key, values in found["grid"].items())
        lines.append(f"{name}: {grid}; reaches {found['reached']:.4f} on validation data")
    return lines
