"""Which rank, exponents and threshold should RG2 have by default? Chosen on validation data of five sets.

Each set is the training part of `fit-best` (no test data is touched), and a tenth of each user's interactions in it is
held back: the last where times or an order are known, else random ones. One fit per (γ, ρ) at the largest rank, its
path over the rank K and the threshold τ/σ₁, NDCG@10 for a sample of users. A setting's score is the mean over the sets
of its NDCG relative to the best setting of that set, so that every set counts the same. The rank of a setting is a
number, or a rule that reads it off the size of the data (`RULES`). The threshold is a number, or for the best of these
ranks a multiple of √(M/n) + √(N/n), at most the largest that was measured, with values between measured thresholds
interpolated. `defaults-beside` shows what was chosen beside other models' defaults, on the other sets too. The file
keeps each set as soon as it is done.

    python -m research.bench rg2-defaults --json research/records/bench/defaults.json
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.quality.fit_best import parts_of
from research.output import provenance, write_json
from taylorank.data import Interactions
from taylorank.errors import DataError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.ranking import evaluate
from taylorank.selection import hold_back

SETS = ("ml-100k", "movietweetings", "wikispeedia-links", "online-retail", "amazon-sports-s3rec")
PROPOSAL = (0.4, 0.5, 0.6, 0.7, 0.8)
CONTEXT = (1.0, 1.2, 1.4)
THRESHOLD = (0.0, 0.1, 0.2, 0.3, 0.4)
RANKS = (64, 128, 256, 512)
MULTIPLES = tuple(round(0.3 + 0.05 * step, 2) for step in range(15))
QUARTER = "K min(M, N) / 4"
USERS = 1000
Row = dict[str, Any]


def _fixed(rank: int) -> Callable[[Row], float]:
    return lambda size: float(rank)


# A rank by the size of the data: users M, items N, interactions n; the nearest of `RANKS` is taken.
RULES: dict[str, Callable[[Row], float]] = {
    **{f"K {rank}": _fixed(rank) for rank in RANKS},
    "K √n": lambda size: float(size["interactions"] ** 0.5),
    "K √n / 2": lambda size: float(size["interactions"] ** 0.5 / 2),
    "K min(M, N) / 16": lambda size: min(size["users"], size["items"]) / 16,
    "K min(M, N) / 8": lambda size: min(size["users"], size["items"]) / 8,
    "K min(M, N) / 4": lambda size: min(size["users"], size["items"]) / 4,  # what `default_rank` does
}


def run(
    *,
    sets: str = ",".join(SETS),
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
    record: Row = {"benchmark": "rg2-defaults", "machine": describe_machine(), "axes": axes(), "sets": {}}
    if file is not None and file.exists():
        record["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name, train in _present(["planted"] if quick else sets.split(","), log_line):
        if name in record["sets"]:
            continue
        record["sets"][name] = measure(train)
        log_line(f"{name}: best {max(record['sets'][name]['ndcg@10'].values()):.4f}")
        if file is not None:
            write_json(file, {**provenance(command), **record, **choices(record["sets"])})
    return record | choices(record["sets"])


def choices(sets: dict[str, Row]) -> Row:
    """The best settings, with thresholds that are numbers, and with such that follow the density."""
    return {"settings": settings(sets), "by density": by_density(sets)}


def axes() -> Row:
    """What was tried."""
    return {"γ": list(PROPOSAL), "ρ": list(CONTEXT), "τ/σ₁": list(THRESHOLD), "K": list(RANKS)}


def _present(names: list[str], log_line: Callable[[str], object]) -> Iterator[tuple[str, Interactions]]:
    for name in names:
        try:
            yield name, parts_of(name)[0]
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")


def measure(data: Interactions) -> Row:
    """Return the size of the data, and NDCG@10 on validation for every setting, keyed "γ ρ τ K"."""
    held = hold_back(data)
    sample = sampled(held.valid, USERS)
    most = min(held.train.n_users, held.train.n_items)
    ranks = sorted({min(rank, most) for rank in RANKS})
    values = {}
    for gamma, rho in itertools.product(PROPOSAL, CONTEXT):
        model = RG2(factors=ranks[-1], proposal_exponent=gamma, context_exponent=rho, tolerance=1e-3).fit(held.train)
        for point in model.path(ranks, THRESHOLD):
            ndcg = evaluate(point, sample, metrics="ndcg@10")["ndcg@10"]
            values[f"{gamma:g} {rho:g} {point.regularization:g} {point.factors}"] = round(ndcg, 5)
    size = {"users": held.train.n_users, "items": held.train.n_items, "interactions": held.train.nnz}
    return {"size": size, "held back": held.kind, "ndcg@10": values}


def settings(sets: dict[str, Row]) -> list[Row]:
    """Return the settings with a rank or a rule for it, best first."""
    rows: list[Row] = []
    for rule, gamma, rho, tau in itertools.product(RULES, PROPOSAL, CONTEXT, THRESHOLD):
        each = {name: _value(row, rule, f"{gamma:g} {rho:g} {tau:g}") for name, row in sets.items()}
        shares = [value / max(sets[name]["ndcg@10"].values()) for name, value in each.items()]
        rows.append(
            {
                "rank": rule,
                "proposal_exponent": gamma,
                "context_exponent": rho,
                "regularization": tau,
                "relative": round(float(np.mean(shares)), 5),
                "ndcg@10": each,
            }
        )
    rows.sort(key=lambda row: -row["relative"])
    best = [row for row in rows if rows.index(row) < KEPT]
    firsts = [next(row for row in rows if row["rank"] == rule) for rule in RULES]
    return [*best, *(row for row in firsts if row not in best)]


def by_density(sets: dict[str, Row]) -> list[Row]:
    """Return the settings whose threshold is a multiple of √(M/n) + √(N/n), best first."""
    rows: list[Row] = []
    for multiple, gamma, rho in itertools.product(MULTIPLES, PROPOSAL, CONTEXT):
        each = {name: _interpolated(row, multiple, gamma, rho) for name, row in sets.items()}
        shares = [value / max(sets[name]["ndcg@10"].values()) for name, value in each.items()]
        relative = round(float(np.mean(shares)), 5)
        exponents = {"proposal_exponent": gamma, "context_exponent": rho}
        rows.append({"rank": QUARTER, **exponents, "multiple": multiple, "relative": relative, "ndcg@10": each})
    return sorted(rows, key=lambda row: -float(row["relative"]))[:KEPT]


def _interpolated(row: Row, multiple: float, gamma: float, rho: float) -> float:
    """The NDCG at the threshold of a set, between those of the thresholds that were measured."""
    users, items, count = (row["size"][name] for name in ("users", "items", "interactions"))
    wanted = min(multiple * ((users / count) ** 0.5 + (items / count) ** 0.5), THRESHOLD[-1])
    values = [_value(row, QUARTER, f"{gamma:g} {rho:g} {tau:g}") for tau in THRESHOLD]
    return round(float(np.interp(wanted, THRESHOLD, values)), 5)


KEPT = 10  # settings in the record, beside the best of each rule


def _value(row: Row, rule: str, key: str) -> float:
    """The NDCG of a setting at the measured rank that is nearest to the rule's."""
    ranks = sorted({int(name.split()[3]) for name in row["ndcg@10"]})
    wanted = np.log(max(RULES[rule](row["size"]), 1.0))
    rank = min(ranks, key=lambda one: abs(np.log(one) - wanted))
    return float(row["ndcg@10"][f"{key} {rank}"])


def describe(record: Row) -> list[str]:
    """Describe the best thresholds by density, the best settings, then the best of each rule for the rank."""
    return [
        f"{row['rank']}, γ {row['proposal_exponent']:g}, ρ {row['context_exponent']:g}, "
        f"τ/σ₁ {_threshold(row)}: {100 * row['relative']:.1f} % of the best; "
        + ", ".join(f"{name} {value:.4f}" for name, value in row["ndcg@10"].items())
        for row in [*record["by density"][:3], *record["settings"]]
    ]


def _threshold(row: Row) -> str:
    if "multiple" in row:
        return f"{row['multiple']:g} (√(M/n) + √(N/n))"
    return f"{row['regularization']:g}"


def sampled(valid: Interactions, count: int) -> Interactions:
    """Keep `count` users, always the same."""
    users = np.flatnonzero(valid.by_user.row_lengths)
    chosen = np.zeros(valid.n_users, dtype=bool)
    chosen[np.random.default_rng(0).permutation(users)[:count]] = True
    return valid.select(np.repeat(chosen, valid.by_user.row_lengths), f"{count} users")
