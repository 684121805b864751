"""Would another rule for RG2's defaults be better on data that had no say in it? On validation data of all sets.

Each set is the training part of `fit-best`, and a tenth of each user's interactions in it is held back, as there; no
test data is touched. One fit for each pair (γ, ρ), of the default rank, up to `--most`; its path over the threshold
τ/σ₁, each point with discounts δ of popularity, NDCG@10 of a sample of users among the 300 items that the present
default ranks best for each. A rule is (γ, ρ, δ) and a threshold min(a √(M/n) + b √(N/n), c), interpolated between
those that were measured. Another kind of rule reads the threshold off the data: c times the second singular value, over
σ₁, of the same data with the items shuffled among the interactions, where nothing but noise is left. A rule's score is
the mean over sets of its NDCG relative to the best setting of the set. For each set the rule with the highest score on
the others is measured on it ("left out"): what a set gains by a rule that it had no say in. Gains are over the former
default, 0.7 (√(M/n) + √(N/n)) up to 0.4; the present one, 0.55 of shuffled data, was chosen by this. The file keeps
each set as soon as it is done.

    python -m research.bench rg2-defaults-rules --json research/records/bench/defaults_rules.json
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.quality.defaults import sampled
from research.bench.quality.fit_best import CLEANINGS, parts_of
from research.output import provenance, write_json
from taylorank.data import Interactions
from taylorank.errors import DataError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.models.rg_parameters import default_rank, largest_value, noise_level, share_of_sizes
from taylorank.ranking import Shortlist
from taylorank.selection import hold_back

DEFAULT = (0.7, 1.4)
PAIRS = (DEFAULT, (0.8, 1.4), (0.6, 1.4), (0.7, 1.7), (0.8, 1.7), (0.7, 2.0), (0.8, 2.0))
THRESHOLDS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
DISCOUNTS = (0.0, 0.1, 0.2, 0.3)
OF_USERS = OF_ITEMS = tuple(round(0.1 * step, 1) for step in range(2, 13))  # a and b
LIMITS = (0.3, 0.4, 0.5)  # c
FORMER = (0.7, 0.7, 0.4)  # a, b, c
OF_SHUFFLED = tuple(round(0.025 * step, 3) for step in range(12, 37))  # c of the other kind, 0.3 to 0.9
USERS, LISTED = 1000, 300
Row = dict[str, Any]
Rule = tuple[float, ...]  # γ, ρ, δ, then a, b, c or one number, of shuffled data


def run(
    *,
    sets: str = ",".join(CLEANINGS),
    most: int = 512,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Measure every pair of exponents on every set that is here.

    Parameters
    ----------
    sets
        Names of data sets, with commas between.
    most
        The highest rank.
    quick
        Planted data alone: does it run at all?
    """
    record: Row = {"benchmark": "rg2-defaults-rules", "machine": describe_machine(), "most": most, "sets": {}}
    if file is not None and file.exists():
        record["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name in ["planted"] if quick else sets.split(","):
        if "shuffled" in record["sets"].get(name, {}):
            continue
        try:
            train = parts_of(name)[0]
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")
            continue
        row = record["sets"].get(name) or measure(train, most)
        record["sets"][name] = row | {"shuffled": shuffled_shares(hold_back(train).train)}
        log_line(f"{name}: best {max(record['sets'][name]['ndcg@10'].values()):.4f}")
        if file is not None:
            write_json(file, {**provenance(command), **record, "rules": rules(record["sets"])})
    return record | {"rules": rules(record["sets"])}


def measure(data: Interactions, most: int) -> Row:
    """Return the size of the data, and NDCG@10 on validation data for every setting, keyed "γ ρ δ τ"."""
    held = hold_back(data)
    users, rank = sampled(held.valid, USERS), min(default_rank(held.train), most)
    values, shortlist = {}, None
    for gamma, rho in PAIRS:
        model = RG2(rank, proposal_exponent=gamma, context_exponent=rho, tolerance=1e-3).fit(held.train)
        if shortlist is None:
            shortlist = Shortlist(model, users, length=min(LISTED, held.train.n_items))
        for point in model.path([rank], THRESHOLDS):
            for discount in DISCOUNTS:
                found = shortlist.evaluate(point.set_params(popularity_discount=discount), metric="ndcg", k=10)
                values[f"{gamma:g} {rho:g} {discount:g} {point.regularization:g}"] = round(found, 5)
    size = {"users": held.train.n_users, "items": held.train.n_items, "interactions": held.train.nnz}
    default = round(share_of_sizes(held.train.n_users, held.train.n_items, held.train.nnz), 3)
    return {"size": size, "rank": rank, "default": default, "held back": held.kind, "ndcg@10": values}


def shuffled_shares(data: Interactions) -> dict[str, float]:
    """Return σ₂ of shuffled data over σ₁ of the data, keyed "γ ρ"."""
    shares = {}
    for gamma, rho in PAIRS:
        own = RG2(2, proposal_exponent=gamma, context_exponent=rho)._objective(data)
        shares[f"{gamma:g} {rho:g}"] = round(noise_level(own) / largest_value(own), 4)
    return shares


def rules(sets: dict[str, Row]) -> Row:
    """Return the present default and the best rules, with δ and without, and what each gives sets left out."""
    every: list[Rule] = [
        (*pair, discount, a, b, c)
        for pair, discount, a, b, c in itertools.product(PAIRS, DISCOUNTS, OF_USERS, OF_ITEMS, LIMITS)
    ]
    every += [(*pair, discount, c) for pair, discount, c in itertools.product(PAIRS, DISCOUNTS, OF_SHUFFLED)]
    shares = np.array([relative(row, every) for row in sets.values()])  # (sets, rules)
    plain = np.array([rule[2] == 0 for rule in every])
    sized = np.array([len(rule) == 6 for rule in every])
    tied = np.array([len(rule) == 6 and rule[3] == rule[4] for rule in every])
    present = every.index((*DEFAULT, 0.0, *FORMER))
    own = np.array([rule[3:] == FORMER for rule in every])
    default = np.array([rule[:2] == DEFAULT for rule in every])
    kinds = {
        "γ, ρ": plain & own,
        "γ, ρ, δ": own,
        "γ, ρ, one factor a = b": plain & tied,
        "γ, ρ, a, b": plain & sized,
        "γ, ρ, δ, one factor a = b": tied,
        "γ, ρ, δ, a, b": sized,
        "shuffled": default & plain & ~sized,
        "shuffled, γ, ρ, δ": ~sized,
    }
    chosen = {kind: _chosen(shares, every, present, np.flatnonzero(part)) for kind, part in kinds.items()}
    return {"present": _described(every[present], shares[:, present], list(sets)), "chosen among": chosen}


def _chosen(shares: NDArray[np.float64], every: Sequence[Rule], present: int, among: NDArray[np.int64]) -> Row:
    """The best rule of some, and for each set what the best on the others gives it, over the present default."""
    best = among[int(np.argmax(shares[:, among].mean(axis=0)))]
    gains = []
    for left in range(len(shares)):
        others = np.delete(np.arange(len(shares)), left)
        rule = among[int(np.argmax(shares[np.ix_(others, among)].mean(axis=0)))] if len(others) else present
        gains.append(float(shares[left, rule] / shares[left, present] - 1))
    return {
        "best": [*every[best]],
        "relative": round(float(shares[:, best].mean()), 4),
        "left out": [round(gain, 4) for gain in gains],
        "mean gain left out": round(float(np.mean(gains)), 4),
        "standard error": round(float(np.std(gains, ddof=1) / len(gains) ** 0.5), 4) if len(gains) > 1 else None,
    }


def _described(rule: Rule, shares: NDArray[np.float64], names: list[str]) -> Row:
    each = {name: round(float(share), 4) for name, share in zip(names, shares, strict=True)}
    return {"rule": [*rule], "relative": round(float(shares.mean()), 4), "each": each}


def relative(row: Row, every: Sequence[Rule]) -> NDArray[np.float64]:
    """Return the NDCG of every rule on a set, between measured thresholds, over that of the best setting."""
    size, values = row["size"], row["ndcg@10"]
    users, items = ((size[side] / size["interactions"]) ** 0.5 for side in ("users", "items"))
    curves = {
        (*pair, discount): [values[f"{pair[0]:g} {pair[1]:g} {discount:g} {tau:g}"] for tau in THRESHOLDS]
        for pair, discount in itertools.product(PAIRS, DISCOUNTS)
    }
    wanted = np.array([threshold(rule, users, items, row.get("shuffled", {})) for rule in every])
    found = np.empty(len(every))
    for key, curve in curves.items():
        same = np.array([rule[:3] == key for rule in every])
        found[same] = np.interp(wanted[same], THRESHOLDS, curve)
    shares: NDArray[np.float64] = found / max(values.values())
    return shares


def threshold(rule: Rule, users: float, items: float, shuffled: dict[str, float]) -> float:
    """Return τ/σ₁ of a rule, for √(M/n) and √(N/n) and what shuffled data say."""
    if len(rule) == 4:
        return rule[3] * shuffled.get(f"{rule[0]:g} {rule[1]:g}", 0.0)
    a, b, c = rule[3:]
    return min(a * users + b * items, c)


def describe(record: Row) -> list[str]:
    """Describe the present default, then each kind of rule."""
    present, names = record["rules"]["present"], list(record["sets"])
    lines = [f"the default: {100 * present['relative']:.1f} % of the best setting on average over {len(names)} sets"]
    for kind, row in record["rules"]["chosen among"].items():
        gamma, rho, discount = row["best"][:3]
        each = ", ".join(f"{name} {100 * gain:+.1f}" for name, gain in zip(names, row["left out"], strict=True))
        lines.append(
            f"{kind}: best γ {gamma:g}, ρ {rho:g}, δ {discount:g}, τ/σ₁ {in_words(row['best'])}, "
            f"{100 * row['relative']:.1f} %; on sets left out {100 * row['mean gain left out']:+.1f} % ({each})"
        )
    return lines


def in_words(rule: Sequence[float]) -> str:
    """Return the threshold of a rule as a formula."""
    if len(rule) == 4:
        return f"{rule[3]:g} σ₂ of shuffled data"
    a, b, c = rule[3:]
    return f"{a:g} √(M/n) + {b:g} √(N/n) up to {c:g}"
