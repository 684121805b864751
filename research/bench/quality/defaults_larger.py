"""Should RG2() have a higher rank, or a discount of popularity? On validation data of all sets, one fit for each.

γ, ρ and the rule for the threshold are those of `rg2-defaults`. Each set is the training part of `fit-best`, and a
tenth of each user's interactions in it is held back, as there; no test data is touched. The rank is a quarter of the
smaller side of the data, up to a limit. A setting's score is the mean over the sets of its NDCG@10 relative to the best
setting of that set. The file keeps each set as soon as it is done.

    python -m research.bench rg2-defaults-larger --json research/records/bench/defaults_larger.json
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.quality.defaults import sampled
from research.bench.quality.fit_best import CLEANINGS, parts_of
from research.output import provenance, write_json
from taylorank.data import Interactions
from taylorank.errors import DataError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.models.rg_parameters import LEAST_RANK, share_of_sizes
from taylorank.ranking import evaluate
from taylorank.selection import hold_back

LIMITS = (512, 768, 1024)
DISCOUNTS = (0.0, 0.1, 0.2, 0.3)
USERS = 2000
Row = dict[str, Any]


def run(
    *,
    sets: str = ",".join(CLEANINGS),
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Measure every setting on every set that is here.

    Parameters
    ----------
    sets
        Names of data sets, with commas between.
    quick
        Planted data alone: does it run at all?
    """
    record: Row = {"benchmark": "rg2-defaults-larger", "machine": describe_machine(), "sets": {}}
    if file is not None and file.exists():
        record["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name in ["planted"] if quick else sets.split(","):
        if name in record["sets"]:
            continue
        try:
            train = parts_of(name)[0]
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")
            continue
        record["sets"][name] = measure(train)
        log_line(f"{name}: {record['sets'][name]}")
        if file is not None:
            write_json(file, {**provenance(command), **record, "means": means(record["sets"])})
    return record | {"means": means(record["sets"])}


def measure(data: Interactions) -> Row:
    """Return the rank for each limit, and NDCG@10 on validation data for each rank and discount, keyed "K δ"."""
    held = hold_back(data)
    users = sampled(held.valid, USERS)
    side = min(held.train.n_users, held.train.n_items)
    ranks = {str(limit): min(max(LEAST_RANK, min(side // 4, limit)), side) for limit in LIMITS}
    model = RG2(max(ranks.values()), tolerance=1e-3).fit(held.train)
    share, values = share_of_sizes(held.train.n_users, held.train.n_items, held.train.nnz), {}
    for point in model.path(sorted(set(ranks.values())), (share,)):
        for discount in DISCOUNTS:
            found = evaluate(point.set_params(popularity_discount=discount), users, metrics="ndcg@10")["ndcg@10"]
            values[f"{point.factors} {discount:g}"] = round(found, 5)
    return {"ranks": ranks, "share": round(share, 3), "ndcg@10": values}


def means(sets: dict[str, Row]) -> dict[str, float]:
    """Return the mean of each limit and discount, relative to the best of each set, keyed "limit δ"."""
    found = {}
    for limit in LIMITS:
        for discount in DISCOUNTS:
            shares = [
                row["ndcg@10"][f"{row['ranks'][str(limit)]} {discount:g}"] / max(row["ndcg@10"].values())
                for row in sets.values()
            ]
            found[f"{limit} {discount:g}"] = round(float(np.mean(shares)), 4) if shares else float("nan")
    return found


def describe(record: Row) -> list[str]:
    """Describe the means, the best first, and each set."""
    order = sorted(record["means"], key=lambda key: -record["means"][key])
    lines = [f"mean over {len(record['sets'])} sets of NDCG@10 relative to the best, rank at most K, discount δ"]
    lines += [f"K {key.split()[0]}, δ {key.split()[1]}: {100 * record['means'][key]:.1f} %" for key in order]
    for name, row in record["sets"].items():
        best = max(row["ndcg@10"], key=lambda key: float(row["ndcg@10"][key]))
        lines.append(f"{name}: K {best.split()[0]}, δ {best.split()[1]} is best, {row['ndcg@10'][best]:.4f}")
    return lines
