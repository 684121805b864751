"""RG² on Spark against MLlib's ALS, on two cores of this machine, each in a process of its own, one after the other.

Both read the same cached DataFrame after a small fit that warms Java up. A sweep of RG² is one pass of SᵀS over K
columns, the whole work of two half-sweeps; MLlib's iteration is timed by Spark's event log, without what it prepares.
Parameters are those that `spark_choice` found on validation data: of both on Gowalla, of MLlib alone on generated data,
where RG² has its default threshold; `rank` 0 is RG² with all its defaults. NDCG@20 is of Gowalla's published test
part, or of a tenth of the generated pairs, held back from both. `recommendForAllUsers(20)` writes its result nowhere;
both rank all items, ours also without those in the user's history, for which MLlib has no option; it is given up after
`lists_limit` seconds. Memory is the largest sum of driver, Java and Python workers during the fit.

    python -m research.bench spark --json research/records/bench/spark.json
    python -m research.bench spark --data 20 --ours 64,128 --json research/records/bench/spark.json
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from research.bench.speed.process import in_own_process
from research.bench.speed.spark_choice import chosen
from research.bench.speed.spark_contenders import Mllib, Ours
from research.bench.speed.spark_data import benchmark_data
from research.bench.speed.spark_session import PeakMemory, local_session, within
from research.output import provenance, write_json
from research.places import HERE
from taylorank.errors import DataError
from taylorank.machine import describe_machine

SWEEP_TARGET, LISTS_TARGET = 10.0, 5.0
BUSY = 4.0  # load of two cores beyond which other work was there
CHOICES = HERE.records / "spark"


def run(
    *,
    data: str = "gowalla",
    factors: str = "64,128",
    ours: str = "64,128,256,0",
    contenders: str = "ours,mllib",
    iterations: int = 10,
    limit: float = 3600,
    lists_limit: float = 600,
    again: bool = False,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Fit and recommend with both; `data` is gowalla, or so many million generated interactions such as 20.

    MLlib has the ranks in `factors` and so many `iterations`, RG² the ranks in `ours`, 0 for its default. What the
    record has already is kept, unless it is to be measured `again`, and each result names its commit; one that takes
    more than `limit` seconds, or lists that take more than `lists_limit`, are given up, and that is noted.
    """
    ranks = {"ours": ours.split(","), "mllib": factors.split(",")}
    name = data
    if quick:
        name, ranks = "quick", {"ours": ["4"], "mllib": ["4"]}
    record: dict[str, Any] = json.loads(file.read_text()) if file is not None and file.exists() else {"results": []}
    for kind, rank in [(who, rank) for who in contenders.split(",") for rank in ranks[who]]:
        key = {"contender": kind, "data": name, "asked": int(rank)}
        if not again and any(key.items() <= one.items() for one in record["results"]):
            continue
        given = {"settings": settings(kind, name, int(rank)), "iterations": iterations}
        try:
            own = in_own_process(__name__, kind, name, rank, json.dumps(given), str(lists_limit), limit=limit)
        except TimeoutError:
            own = {**key, "factors": int(rank), "given_up_after_s": limit}
        source = provenance(command)
        own |= {"commit": source.get("commit")}
        kept = [one for one in record["results"] if not key.items() <= one.items() and "asked" in one]
        machine = describe_machine()
        results = [*kept, own]
        record = {**source, "benchmark": "spark", "machine": machine, "results": results}
        if file is not None:
            write_json(file, record)
    return record


def settings(kind: str, data: str, rank: int, folder: Path = CHOICES) -> dict[str, Any]:
    """Return what was chosen for the data; nothing for RG² at rank 0 and on generated data."""
    if data == "quick":
        return {"alpha": 80.0, "regParam": 1.0} if kind == "mllib" else {}
    if kind == "ours" and (not rank or data != "gowalla"):
        return {}
    name, option = ("choice", "") if data == "gowalla" else ("choice_generated", "--data 1 ")
    choice = folder / f"{name}.json"
    if not choice.exists():
        raise DataError(
            f"{choice} is not there, which holds the parameters of both models",
            f"write it by `python -m research.bench spark-choice {option}--json {choice}`",
        )
    return chosen(json.loads(choice.read_text(encoding="utf-8")), kind, rank)


def measure(kind: str, data: str, rank: str, given: str, lists_limit: str) -> dict[str, Any]:
    """Measure one contender with the given settings in this process."""
    with tempfile.TemporaryDirectory() as log:
        session = local_session(log=Path(log))
        frame, parts = benchmark_data(session, data)
        frame = frame.persist()
        interactions = frame.count()
        own = json.loads(given)
        is_ours = kind == "ours"
        one = Ours(int(rank), own["settings"]) if is_ours else Mllib(int(rank), **own, log=Path(log))
        one.warm(session)
        with PeakMemory() as memory:
            began = time.perf_counter()
            model = one.fit(frame)
            seconds = time.perf_counter() - began
        lists = within(
            float(lists_limit), session, lambda: one.lists(model).write.format("noop").mode("overwrite").save()
        )
        return {
            "contender": kind,
            "data": data,
            "asked": int(rank),
            "factors": one.rank,
            "interactions": interactions,
            "users": frame.select("user").distinct().count(),
            "fit_s": round(seconds, 3),
            "memory_mb": round(memory.megabytes),
            "lists_s": None if lists is None else round(lists, 3),
            "lists_limit_s": float(lists_limit),
            "load_average": describe_machine()["load_average"],
            **one.sweep(frame, model),
            "ndcg@20": round(one.quality(model, *parts()), 5),
        }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words: every contender, then RG² against MLlib at the same rank, then at equal time."""
    results = [{"asked": one["factors"], "settings": {}, **one} for one in record["results"]]
    lines = [_alone(one) for one in results]
    if any(one.get("load_average", [BUSY])[0] >= BUSY for one in results):
        lines.append("Other work was running on the machine during some of these measurements, which lengthens them.")
    for data in dict.fromkeys(one["data"] for one in results):
        here = [one for one in results if one["data"] == data]
        ours = [one for one in here if one["contender"] == "ours"]
        theirs = [one for one in here if one["contender"] == "mllib" and "fit_s" in one]
        for one in ours:
            for other in theirs:
                if one["asked"] == other["asked"]:
                    lines += _ratios(one, other)
        ranked = [one for one in ours if one["ndcg@20"] is not None]
        if ranked:
            lines += [_equal_time(ranked, other) for other in theirs if other["ndcg@20"] is not None]
    return lines


def of_data(one: dict[str, Any]) -> str:
    """Return the name of the data of a result."""
    return {"gowalla": "Gowalla", "quick": "quick"}.get(one["data"], f"generated, {one['data']} M")


def lists_seconds(one: dict[str, Any]) -> str:
    """Return the seconds of the lists, or that they took more than their limit."""
    return f"{one['lists_s']:.1f} s" if one["lists_s"] is not None else f"more than {one['lists_limit_s']:g} s"


def lists_ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, float]:
    """Return how many times as long MLlib's lists take, in words and as a number: the least, where it was given up.

    >>> lists_ratio({"lists_s": 2.0}, {"lists_s": None, "lists_limit_s": 60.0})
    ('more than 30.0', 30.0)
    >>> lists_ratio({"lists_s": None, "lists_limit_s": 60.0}, {"lists_s": 2.0})
    ('not known', 0.0)
    """
    if ours["lists_s"] is None:
        return "not known", 0.0
    least = theirs["lists_limit_s"] if theirs["lists_s"] is None else theirs["lists_s"]
    ratio = least / ours["lists_s"]
    return f"{'more than ' if theirs['lists_s'] is None else ''}{ratio:.1f}", ratio


def _name(one: dict[str, Any]) -> str:
    return f"{of_data(one)}, K = {one['factors']}"


def _alone(one: dict[str, Any]) -> str:
    who = "RG²" if one["contender"] == "ours" else "MLlib"
    if "given_up_after_s" in one:
        return f"{_name(one)}, {who}: given up after {one['given_up_after_s']:g} s"
    default = ", defaults" if one["contender"] == "ours" and not one["asked"] else ""
    quality = "" if one["ndcg@20"] is None else f", NDCG@20 {one['ndcg@20']:.4f}"
    count = f"{one['passes']} passes" if "passes" in one else f"{one['iterations']} iterations"
    settings = ", ".join(["", *(f"{name} {value:.3g}" for name, value in one["settings"].items())])
    for_whom = f" for {one['users']:,} users" if "users" in one else ""
    return (
        f"{_name(one)}, {who}{default}{settings}: a fit {one['fit_s']:.1f} s ({count}){quality}, lists of 20"
        f"{for_whom} {lists_seconds(one)}, peak memory {one['memory_mb']:,} MB"
    )


def _ratios(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    sweep, (words, lists) = theirs["sweep_s"] / ours["sweep_s"], lists_ratio(ours, theirs)
    return [
        f"{_name(ours)}: a sweep of RG² {ours['sweep_s']:.2f} s, MLlib's iteration {theirs['sweep_s']:.1f} s, "
        f"{sweep:.0f} times ours (target {SWEEP_TARGET:g}: {_kept(sweep >= SWEEP_TARGET)})",
        f"{_name(ours)}: lists {lists_seconds(ours)}, MLlib {lists_seconds(theirs)}, {words} times ours "
        f"(target {LISTS_TARGET:g}: {_kept(lists >= LISTS_TARGET)})",
    ]


def _equal_time(ours: list[dict[str, Any]], theirs: dict[str, Any]) -> str:
    """The best RG² among those whose fit takes no longer than MLlib's."""
    shorter = [one for one in ours if one["fit_s"] <= theirs["fit_s"]]
    words = f"MLlib, K = {theirs['factors']}, {theirs['fit_s']:.1f} s, NDCG@20 {theirs['ndcg@20']:.4f}"
    if not shorter:
        return f"{of_data(theirs)}, equal time: no fit of RG² is as short as {words}: MISSED"
    best = max(shorter, key=lambda one: one["ndcg@20"])
    ours_words = f"RG², K = {best['factors']}, {best['fit_s']:.1f} s, NDCG@20 {best['ndcg@20']:.4f}"
    is_better = best["ndcg@20"] > theirs["ndcg@20"]
    return f"{of_data(theirs)}, equal time: {ours_words}; {words}: better in less time {_kept(is_better)}"


def _kept(is_kept: bool) -> str:
    return "kept" if is_kept else "MISSED"
