"""What the tables of the papers say of each other and of the findings drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.papers import PU_2024, PU_2025
from research.reproduce.printed import BASELINES_IN_2024, RG2_IN_2024, SETS, TABLE_3, TABLE_4

GROUP = "Printed tables"
SAMPLING = ("BPR", "BCE", "SSM", "UIB", "SML")
COLUMNS = tuple(f"{metric} {name}" for name in SETS for metric in ("MRR@10", "NDCG@10"))


def gains(name: str, others: Any, *, table: dict[str, tuple[float, ...]] = TABLE_3) -> list[float]:
    """Return by how much `name` exceeds the best of `others`, column by column."""
    best = np.max([table[other] for other in others if other in table], axis=0)
    excess: list[float] = (np.array(table[name]) / best - 1).tolist()
    return excess


def same_numbers(seed: int, *, method: str = "RG²") -> Numbers:
    """A method's row of Pu et al. 2025 against that of 2024, in the standard deviations of RG² there."""
    del seed
    earlier = BASELINES_IN_2024 | {"RG²": tuple(mean for mean, _ in RG2_IN_2024)}
    rows = zip(COLUMNS, TABLE_3[method], earlier[method], RG2_IN_2024, strict=True)
    off = {column: abs(value - other) / deviation for column, value, other, (_, deviation) in rows}
    return {
        "standard deviations apart": off,
        "columns more than 3 apart": sum(value > 3 for value in off.values()),
        "rows that are equal": [name for name, row in BASELINES_IN_2024.items() if row == TABLE_3[name]],
    }


def judge_same_numbers(n: Numbers) -> Judgement:
    """The same method on the same data should differ by noise."""
    apart = n["standard deviations apart"]
    worst = max(apart, key=lambda name: float(apart[name]))
    return Judgement(
        decide(n["columns more than 3 apart"] == 0),
        f"{n['columns more than 3 apart']} of 6 columns differ by more than three of the standard deviations that "
        f"{PU_2024} give, {worst} by {apart[worst]:.0f}, while the rows of "
        f"{' and '.join(n['rows that are equal'])} are equal",
    )


def finding_1(seed: int, *, methods: tuple[str, ...] = ("WRMF", "SM", "RG²", "RG×")) -> Numbers:
    """The methods without sampling that the paper names: least gain of each over the best sampling method."""
    del seed
    links = [name for name in methods if name in TABLE_4]
    return {
        "least gain, recommendation": {name: min(gains(name, SAMPLING)) for name in methods},
        "least gain, links": {name: min(gains(name, SAMPLING, table=TABLE_4)) for name in links},
        "mean gain of softmax": float(np.mean(gains("SM", SAMPLING) + gains("SM", SAMPLING, table=TABLE_4))),
    }


def judge_finding_1(n: Numbers) -> Judgement:
    """Every method named above every sampling one, and softmax by what is stated; corrected: softmax and RG are."""
    parts = {part: n[f"least gain, {part}"] for part in ("recommendation", "links")}
    least = [(name, part, value) for part, found in parts.items() for name, value in found.items()]
    below = [f"{name} in {part} ({value:+.1%})" for name, part, value in least if value < 0]
    stated = abs(n["mean gain of softmax"] - 0.174) < 0.0005
    return Judgement(
        decide(stated and not below, stated and min(value for name, _, value in least if name != "WRMF") > 0),
        f"by the printed tables {' and '.join(below) or 'none of the methods named'} falls below the best sampling "
        f"method in some column; softmax is above it by {n['mean gain of softmax']:.1%} on average of all columns",
    )


def finding_2(seed: int, *, rivals: tuple[str, ...] = (*SAMPLING, "Sparsemax")) -> Numbers:
    """ALS methods against all others but softmax; RG× against softmax."""
    del seed
    return {
        "least gain over rivals": {name: min(gains(name, rivals)) for name in ("WRMF", "RG²", "RG×")},
        "RG× over softmax, recommendation": float(np.mean(gains("RG×", ["SM"]))),
        "RG× over softmax, links": float(np.mean(gains("RG×", ["SM"], table=TABLE_4))),
    }


def judge_finding_2(n: Numbers) -> Judgement:
    """ALS methods "consistently outperform other baselines except softmax"."""
    least = n["least gain over rivals"]
    return Judgement(
        decide(min(least.values()) > 0, min(least["RG²"], least["RG×"]) > 0),
        f"the least gains over the sampling methods and sparsemax are WRMF {least['WRMF']:+.1%}, RG² "
        f"{least['RG²']:+.1%}, RG× {least['RG×']:+.1%}; RG× stands {n['RG× over softmax, recommendation']:+.1%} to "
        f"softmax in recommendation and {n['RG× over softmax, links']:+.1%} in link prediction (+6.0 % and −3.3 % are "
        "stated)",
    )


def finding_3(seed: int, *, method: str = "RG×") -> Numbers:
    """RG against WRMF."""
    del seed
    return {"mean gain over WRMF": float(np.mean(gains(method, ["WRMF"]))), "least gain": min(gains(method, ["WRMF"]))}


def judge_finding_3(n: Numbers) -> Judgement:
    """Better in every column, by what is stated."""
    return Judgement(
        decide(n["least gain"] > 0 and abs(n["mean gain over WRMF"] - 0.153) < 0.01, n["least gain"] > 0),
        f"by the printed table RG× is {n['mean gain over WRMF']:.1%} above WRMF on average (15.3 % is stated) and "
        f"{n['least gain']:.1%} at least; how well that WRMF was tuned is another matter (wrmf-grid)",
    )


CLAIMS = (
    Claim(
        id="rg2-numbers-agree",
        group=GROUP,
        source=f"{PU_2025}, Table 3 against {PU_2024}, Table 4",
        statement="Both papers report RG² on the same data in the same set-up.",
        method="The printed numbers, in standard deviations that Pu et al. 2024 give.",
        experiment=same_numbers,
        judge=judge_same_numbers,
        change={"method": "SM"},
        change_in_words="the rows of softmax, which both papers print alike",
        correction="They do not agree, so at least one set-up is not the one described.",
    ),
    Claim(
        id="finding-1",
        group=GROUP,
        source=f"{PU_2025}, Sec. 5.2, Findings 1",
        statement="In recommendation WRMF, softmax and RG, and in link prediction softmax and RG, are significantly "
        "better than the sampling methods (BPR, BCE, SSM, UIB, SML); softmax is 17.4 % above the best of them on "
        "average of all metrics and tasks.",
        method="The printed tables 3 and 4: each method named against the best sampling method, by column. The tables "
        "have no deviations, so significance is not tested; sparsemax, which does not sample either and is the worst "
        "of all in Table 3, is not among those named.",
        experiment=finding_1,
        judge=judge_finding_1,
        change={"methods": ("SM", "RG²", "RG×")},
        change_in_words="the comparison without WRMF",
        correction="True of softmax and RG; WRMF is below sampled softmax on Steam in both columns.",
    ),
    Claim(
        id="finding-2",
        group=GROUP,
        source=f"{PU_2025}, Sec. 5.2, Findings 2",
        statement="ALS methods (WRMF, RG) consistently beat all others but softmax; RG× is 6.0 % above softmax in "
        "recommendation and 3.3 % below it in link prediction.",
        method="The printed tables 3 and 4.",
        experiment=finding_2,
        judge=judge_finding_2,
        change={"rivals": ("BPR", "BCE", "Sparsemax")},
        change_in_words="the comparison without sampled softmax, UIB and SML",
        correction="True of RG, not of WRMF.",
    ),
    Claim(
        id="finding-3",
        group=GROUP,
        source=f"{PU_2025}, Sec. 5.2, Findings 3",
        statement="RG beats WRMF by 15.3 % on average.",
        method="The printed table 3.",
        experiment=finding_3,
        judge=judge_finding_3,
        change={"method": "WRMF"},
        change_in_words="WRMF compared with itself",
    ),
)
