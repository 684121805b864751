"""Does the cost of a sweep grow linearly? Seconds per sweep for 1 to 50 M interactions, ours alone.

Users grow with the interactions, items (9,888) and factors (64) stay. A larger matrix is the smallest one over and over
again, so that the lengths of the rows, the popularity of the items and the density are the same at every size. What
changes is the memory: the user factors are 2.7 MB at 1 M interactions and 135 MB at 50 M. Linear means here: ten times
the interactions take at most eleven times the seconds. The slope is that of log seconds over log interactions.

    python -m research.bench growth --json research/records/bench/growth.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from research.bench.speed.als import rg2_sweeps, rg_of
from research.bench.speed.gather_sum import ITEMS, USERS, long_tailed
from research.bench.speed.ials_sweeps import our_sweepers
from research.bench.speed.timing import sample_in_turns, timed
from taylorank.data import CSR, read_interactions
from taylorank.machine import describe_machine

FACTORS = 64
MILLIONS = (1, 2, 5, 10, 20, 50)
MOST = 11.0  # times the seconds for ten times the interactions
KINDS = {"rg2": "RG²", "cholesky": "iALS, exact"}


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time one sweep of RG² and one of iALS at every size; `quick` makes all sizes a thousand times smaller."""
    machine = describe_machine()
    unit = 1_000 if quick else 1_000_000
    users, items = (20, 60) if quick else (round(USERS * 1_000_000 / 6_600_000), ITEMS)
    base = long_tailed(unit, users=users, items=items)
    points = [time_size(repeated(base, times), threads=threads, repeats=2 if quick else 3) for times in MILLIONS]
    return {
        "benchmark": "growth",
        "items": items,
        "factors": FACTORS,
        "threads": threads,
        "machine": machine,
        "points": points,
        "growth": {kind: growth_of([(p["interactions"], p["seconds"][kind]) for p in points]) for kind in KINDS},
    }


def repeated(base: CSR, times: int) -> CSR:
    """Return the rows of `base`, all of them `times` over."""
    indptr = np.concatenate(([0], np.cumsum(np.tile(base.row_lengths, times))))
    return CSR(indptr, np.tile(base.indices, times), None, base.n_columns)


def time_size(rows: CSR, *, threads: int, repeats: int) -> dict[str, Any]:
    """Return the seconds of the fastest sweep of each kind."""
    objective = rg_of(read_interactions(rows.to_scipy()))
    ials = our_sweepers(rows, rows.transpose(), FACTORS, threads=threads)["ours, cholesky"]
    contenders = {"rg2": rg2_sweeps(objective, FACTORS, sweeps=4), "cholesky": timed(ials.sweep)}
    times = sample_in_turns(contenders, repeats=repeats)
    return {
        "interactions": rows.nnz,
        "users": rows.n_rows,
        "seconds": {kind: round(time.best, 5) for kind, time in times.items()},
        "median_seconds": {kind: round(time.median, 5) for kind, time in times.items()},
    }


def growth_of(points: list[tuple[int, float]]) -> dict[str, Any]:
    """Return slope, seconds per million, their largest ratio, what tenfold data cost, and the verdict."""
    sizes, seconds = np.array(points, dtype=np.float64).T
    per_million = 1e6 * seconds / sizes
    by_size = dict(points)
    tenfold = {f"{n:,}": round(by_size[10 * n] / s, 2) for n, s in points if 10 * n in by_size}
    return {
        "slope": round(float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), 3),
        "seconds_per_million": [round(float(value), 5) for value in per_million],
        "largest_ratio": round(float(per_million.max() / per_million.min()), 3),
        "tenfold": tenfold,
        "linear": max(tenfold.values()) <= MOST,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for kind, words in KINDS.items():
        growth = record["growth"][kind]
        sizes = (p["interactions"] / 1e6 for p in record["points"])
        costs = ", ".join(
            f"{1000 * cost:.1f} at {size:g} M" for cost, size in zip(growth["seconds_per_million"], sizes, strict=True)
        )
        tenfold = ", ".join(f"{ratio:.1f}" for ratio in growth["tenfold"].values())
        lines.append(f"{words}: ms per sweep and million interactions {costs}")
        lines.append(
            f"{words}: ten times the data take {tenfold} times as long (target {MOST:g}: "
            f"{'kept' if growth['linear'] else 'MISSED'}); slope {growth['slope']:.2f}, "
            f"largest ratio per interaction {growth['largest_ratio']:.2f}"
        )
    return lines
