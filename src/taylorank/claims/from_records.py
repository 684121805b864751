"""Findings of the papers judged by our own comparisons on real data, as the records in docs/reports hold them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from taylorank.claims.claim import UNTESTED, Claim, Judgement, Numbers, decide
from taylorank.reproduce.gather import Gathered, gather, of_record
from taylorank.reproduce.tables import MF, RECOMMENDATION, TABLES
from taylorank.selection.record import Record
from taylorank.selection.summary import summarise

GROUP = "On real data"
DOCS = Path(__file__).resolve().parents[3] / "docs"
SAMPLING = tuple(MF[name] for name in ("BPR", "BCE", "SSM", "UIB", "SML"))
WITHOUT = tuple(MF[name] for name in ("Sparsemax", "WRMF", "SM", "RG²"))  # RG× is RG² in matrix factorisation
FACTOR = 2.5


def gains(found: Gathered, model: str, others: Sequence[str], *, factor: float = 1.0) -> list[float]:
    """Return by how much `factor` times the model's values exceed the best of others, column by column."""
    best = [max(found.values[other][metric].mean for other in others) for metric in RECOMMENDATION]
    own = [factor * found.values[model][metric].mean for metric in RECOMMENDATION]
    return [value / top - 1 for value, top in zip(own, best, strict=True)]


def least_gains(docs: Path, models: Sequence[str], rivals: Sequence[str], *, turned: bool) -> Numbers:
    """Each model's least gain over the best rival; `turned` multiplies or divides the models' values so as to turn it.

    The numbers hold what is missing instead where some have not been run.
    """
    found = gather(TABLES["ml-1m"], docs)
    missing = [name for name in (*models, *rivals) if name not in found.values]
    if missing:
        return {"missing": missing}
    least = {name: min(gains(found, name, rivals)) for name in models}
    if turned:
        factor = 1 / FACTOR if min(least.values()) > 0 else FACTOR
        least = {name: min(gains(found, name, rivals, factor=factor)) for name in models}
    return {"least gain": least}


def untested(n: Numbers) -> Judgement:
    """What is said where some of the runs are missing."""
    return Judgement(UNTESTED, f"not run yet on {n.get('set', 'ML-1M')}: {', '.join(n['missing'])}")


def finding_1(seed: int, *, docs: Path = DOCS, turned: bool = False) -> Numbers:
    """Methods without sampling against the best of those with."""
    del seed
    return least_gains(docs, WITHOUT, SAMPLING, turned=turned)


def judge_finding_1(n: Numbers) -> Judgement:
    """Printed: all of them are above. Corrected: softmax and RG are."""
    if "missing" in n:
        return untested(n)
    least = n["least gain"]
    return Judgement(
        decide(min(least.values()) > 0, min(least[MF["SM"]], least[MF["RG²"]]) > 0),
        f"least gains over the best sampling method in MRR@10 and NDCG@10: {_shares(least)}",
    )


def finding_2(seed: int, *, docs: Path = DOCS, turned: bool = False) -> Numbers:
    """ALS against sampling and sparsemax; RG² against softmax."""
    del seed
    numbers = least_gains(docs, (MF["WRMF"], MF["RG²"]), (*SAMPLING, MF["Sparsemax"]), turned=turned)
    found = gather(TABLES["ml-1m"], docs)
    if "missing" not in numbers and MF["SM"] in found.values:
        numbers["RG² over softmax"] = float(np.mean(gains(found, MF["RG²"], [MF["SM"]])))
    return numbers


def judge_finding_2(n: Numbers) -> Judgement:
    """Printed: WRMF and RG are above. Corrected: RG is."""
    if "missing" in n:
        return untested(n)
    least = n["least gain"]
    beside = f"; RG² stands {n['RG² over softmax']:+.1%} to softmax" if "RG² over softmax" in n else ""
    return Judgement(
        decide(min(least.values()) > 0, least[MF["RG²"]] > 0),
        f"least gains over the sampling methods and sparsemax: {_shares(least)}{beside}",
    )


def finding_3(seed: int, *, docs: Path = DOCS, turned: bool = False) -> Numbers:
    """RG² as the papers have it against WRMF on both grids, paired over users; `turned` changes sides."""
    del seed
    found = gather(TABLES["ml-1m"], docs)
    record = with_models(found, {MF["RG²"], MF["WRMF"], "wrmf"})
    if record is None:
        return {"missing": [MF["RG²"], MF["WRMF"], "wrmf"]}
    first, second = (MF["WRMF"], MF["RG²"]) if turned else (MF["RG²"], MF["WRMF"])
    numbers: Numbers = {
        "gain over the papers' grid": gains(found, first, [second]),
        "p against the papers' grid": [paired(record, first, second, metric) for metric in RECOMMENDATION],
        "gain over a proper grid": gains(found, first, ["wrmf"]),
        "p against a proper grid": [paired(record, first, "wrmf", metric) for metric in RECOMMENDATION],
    }
    if "ials" in found.values:
        numbers["gain over iALS"] = gains(found, first, ["ials"])
    return numbers


def with_models(found: Gathered, models: set[str]) -> Record | None:
    """Return a record in which all of these models came to an end."""
    return next((one for one in found.records.values() if models <= of_record(one).keys()), None)


def paired(record: Record, first: str, second: str, metric: str) -> float:
    """Return p of the difference between two models of a record, paired over users."""
    pair = (first, second)
    small = {
        **record,
        "models": {name: record["models"][name] for name in pair},
        "runs": [run for run in record["runs"] if run["model"] in pair],
        "settings": {**record["settings"], "metrics": [metric]},
    }
    told = summarise(small)["models"]
    return float(next(told[name]["versus_best"][metric]["p"] for name in pair if told[name]["versus_best"]))


def judge_finding_3(n: Numbers) -> Judgement:
    """Printed: above a WRMF that is tuned properly, beyond noise. Corrected: above that of the papers' grid."""
    if "missing" in n:
        return untested(n)
    grids = ("the papers' grid", "a proper grid")
    above = [min(n[f"gain over {grid}"]) > 0 and max(n[f"p against {grid}"]) < 0.05 for grid in grids]
    told = [f"{_columns(n[f'gain over {g}'])} to WRMF on {g} (p ≤ {max(n[f'p against {g}']):.2g})" for g in grids]
    ials = f" and {_columns(n['gain over iALS'])} to iALS" if "gain over iALS" in n else ""
    return Judgement(
        decide(all(above), above[0]),
        f"in MRR@10 and NDCG@10 RG² with the papers' weights stands {', '.join(told)}{ials}; the papers print +5.5% "
        "and +5.7% to WRMF on ML-10M",
    )


def _shares(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:+.1%}" for name, value in values.items())


def _columns(values: list[float]) -> str:
    return " and ".join(f"{value:+.1%}" for value in values)


def _claim(
    finding: int, statement: str, experiment: Any, judge: Any, *, method: str, change: str, correction: str
) -> Claim:
    return Claim(
        id=f"finding-{finding}-on-ml-1m",
        group=GROUP,
        source=f"001 Sec. 5.2, Findings {finding}",
        statement=statement,
        method=method,
        experiment=experiment,
        judge=judge,
        change={"turned": True},
        change_in_words=change,
        correction=correction,
        heavy=True,
    )


RECORDS = "Records of ML-1M under the papers' protocol (docs/reports/ml-1m*.json), all tuned with equal budgets: "
SCALED = "values of these methods two and a half times as high, or as low where they are ahead"
CLAIMS = (
    _claim(
        1,
        "Methods without sampling are better than those with sampling (ML-1M).",
        finding_1,
        judge_finding_1,
        method=RECORDS + "each method without sampling against the best with it.",
        change=SCALED,
        correction="It depends on the method, and not on sampling alone: see the gains.",
    ),
    _claim(
        2,
        "ALS methods (WRMF, RG) beat all others but softmax (ML-1M).",
        finding_2,
        judge_finding_2,
        method=RECORDS + "WRMF and RG² as the papers have them against the sampling methods and sparsemax.",
        change=SCALED,
        correction="It is not so of both: see the gains.",
    ),
    _claim(
        3,
        "RG² beats WRMF (ML-1M).",
        finding_3,
        judge_finding_3,
        method=RECORDS
        + "RG² with the papers' weights against WRMF, on the papers' grid (λ ≤ 0.1) and on a proper one; "
        "sign-flip tests over users.",
        change="WRMF in the place of RG², and RG² in that of WRMF",
        correction="How far depends on how WRMF is tuned: see the gains.",
    ),
)
