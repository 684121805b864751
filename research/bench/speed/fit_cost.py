"""What does a whole fit of RG² to its default tolerance cost? Seconds against rank, interactions and items.

- `rank`: Gowalla at K = 64 to 1,024.
- `interactions`: an eighth, a quarter, a half and all interactions of Gowalla, drawn at random, K = 128; users and
  items stay.
- `items`: planted data with as many interactions for every user, 12,500 to 100,000 items and as many users, K = 128.

Each size is fitted twice and the quicker one counts. The exponent is the slope of log seconds over log size.

    python -m research.bench fit-cost --json research/records/bench/fit_cost.json
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.bench.speed.gowalla import save_gowalla
from taylorank.data import Interactions
from taylorank.machine import describe_machine

Row = dict[str, Any]
SETTINGS = {"proposal_exponent": 0.8, "context_exponent": 1.2, "regularization": 0.2, "device": "cpu"}
RANKS = (64, 128, 256, 512, 768, 1024)
SHARES = (0.125, 0.25, 0.5, 1.0)
ITEMS = (12_500, 25_000, 50_000, 100_000)
FACTORS = 128


def run(*, quick: bool = False, log_line: Callable[[str], object] = lambda line: None) -> Row:
    """Fit at every size; `quick` makes everything small."""
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="taylorank-bench-") as folder:
        path = Path(folder) / "data.npz"
        words = save_gowalla(path, quick=quick)
        data = Interactions.load_npz(path)
    rank = 8 if quick else FACTORS
    ranks = (4, 8, 16) if quick else RANKS
    cases = {
        "rank": [fitted(data, count, size=count, log_line=log_line) for count in ranks],
        "interactions": [fitted(part, rank, size=part.nnz, log_line=log_line) for part in parts(data)],
        "items": [
            fitted(tr.planted(n, n, interactions=20 * n), rank, size=n, log_line=log_line)
            for n in ((200, 400, 800) if quick else ITEMS)
        ],
    }
    return {
        "benchmark": "fit-cost",
        "data": words,
        "settings": SETTINGS,
        "machine": machine,
        "cases": cases,
        "exponents": {name: round(slope(rows), 2) for name, rows in cases.items()},
    }


def parts(data: Interactions) -> list[Interactions]:
    """Return growing shares of the interactions, each within the next."""
    order = np.random.default_rng(0).permutation(data.nnz)
    kept = []
    for share in SHARES:
        mask = np.zeros(data.nnz, dtype=bool)
        mask[order[: int(share * data.nnz)]] = True
        kept.append(data.select(mask, f"{share:.3g} of the interactions"))
    return kept


def fitted(data: Interactions, factors: int, *, size: int, log_line: Callable[[str], object]) -> Row:
    """Return the seconds of the quicker of two fits."""
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        model = tr.RG2(factors, **SETTINGS).fit(data)  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - began)
    shape = {"users": data.n_users, "items": data.n_items, "interactions": data.nnz, "factors": factors}
    row = {
        "size": size,
        **shape,
        "seconds": round(min(seconds), 3),
        "residual": model.residual_,
        "passes": model.passes_,
    }
    log_line(str(row))
    return row


def slope(rows: list[Row]) -> float:
    """Return the slope of log seconds over log size."""
    sizes, seconds = (np.log([row[name] for row in rows]) for name in ("size", "seconds"))
    return float(np.polyfit(sizes, seconds, 1)[0])


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    lines = [f"{record['data']}; seconds of a fit to the default tolerance"]
    for name, rows in record["cases"].items():
        points = ", ".join(f"{row['size']:,}: {row['seconds']:.2f} s" for row in rows)
        lines.append(f"{name}: {points}; grows as the power {record['exponents'][name]:.2f}")
    return lines
