"""RG² on Spark against MLlib's ALS, on two cores of this machine, each in a process of its own, one after the other.

Both read the same cached DataFrame after a small fit that warms Java up. A sweep of RG² is one pass of SᵀS over K
columns, the whole work of two half-sweeps; MLlib's iteration is timed by Spark's event log, without what it prepares.
Parameters are those that `spark_choice` found on validation data; `rank` 0 is RG² with its defaults. On the generated
set MLlib fits one iteration, within a limit of seconds. `recommendForAllUsers(20)` writes its result nowhere; both rank
all items, ours also without those in the user's history, for which MLlib has no option. Memory is the largest sum of
driver, Java and Python workers during the fit.

    python -m research.bench spark --json research/records/bench/spark.json
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from research.bench.speed.process import in_own_process
from research.bench.speed.spark_choice import chosen
from research.bench.speed.spark_contenders import Mllib, Ours, Parts, timed
from research.bench.speed.spark_data import generated
from research.bench.speed.spark_session import PeakMemory, local_session
from research.output import provenance, write_json
from research.places import HERE
from taylorank.data import datasets, planted
from taylorank.errors import DataError
from taylorank.machine import describe_machine

ITERATIONS = 10
SWEEP_TARGET, LISTS_TARGET = 10.0, 5.0
BUSY = 4.0  # load of two cores beyond which other work was there
SUBSET = 10_000  # users of the generated set for whom lists are made
KEPT = Path(tempfile.gettempdir()) / "taylorank-bench-spark"
CHOICE = HERE.records / "spark" / "choice.json"


def run(
    *,
    data: str = "gowalla",
    factors: str = "64,128",
    ours: str = "64,128,256,0",
    contenders: str = "ours,mllib",
    limit: float = 600,
    again: bool = False,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Fit and recommend with both; `data` is gowalla, or so many million generated interactions such as 20.

    MLlib has the ranks in `factors`, RG² those in `ours`, 0 for its default. What the record has already is kept,
    unless it is to be measured `again`; one that takes more than `limit` seconds is given up, and that is noted.
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
        try:
            own = in_own_process(__name__, kind, name, rank, json.dumps(settings(kind, name, int(rank))), limit=limit)
        except TimeoutError:
            own = {**key, "factors": int(rank), "given_up_after_s": limit}
        kept = [one for one in record["results"] if not key.items() <= one.items() and "asked" in one]
        machine = describe_machine()
        results = [*kept, own]
        record = {**provenance(command), "benchmark": "spark", "machine": machine, "results": results}
        if file is not None:
            write_json(file, record)
    return record


def settings(kind: str, data: str, rank: int, choice: Path = CHOICE) -> dict[str, Any]:
    """Return what was chosen for Gowalla; none for RG² with its defaults, at rank 0 and on generated data."""
    if data == "quick":
        return {"alpha": 80.0, "regParam": 1.0} if kind == "mllib" else {}
    if kind == "ours" and (not rank or data != "gowalla"):
        return {}
    if not choice.exists():
        raise DataError(
            f"{choice} is not there, which holds the parameters of both models",
            f"write it by `python -m research.bench spark-choice --json {choice}`",
        )
    return chosen(json.loads(choice.read_text(encoding="utf-8")), kind, rank)


def measure(kind: str, data: str, rank: str, given: str) -> dict[str, Any]:
    """Measure one contender with the given settings in this process."""
    with tempfile.TemporaryDirectory() as log:
        session = local_session(log=Path(log))
        frame, parts = _data(session, data)
        frame = frame.persist()
        interactions = frame.count()
        own: dict[str, Any] = {"iterations": ITERATIONS if data in ("gowalla", "quick") else 1, "log": Path(log)}
        one = Ours(int(rank), json.loads(given)) if kind == "ours" else Mllib(int(rank), json.loads(given), **own)
        one.warm(session)
        with PeakMemory() as memory:
            began = time.perf_counter()
            model = one.fit(frame)
            seconds = time.perf_counter() - began
        users = _some_users(frame) if parts is None else None
        lists = timed(lambda: one.lists(model, users).write.format("noop").mode("overwrite").save())
        return {
            "contender": kind,
            "data": data,
            "asked": int(rank),
            "factors": one.rank,
            "interactions": interactions,
            "fit_s": round(seconds, 3),
            "memory_mb": round(memory.megabytes),
            "lists_s": round(lists, 3),
            "ndcg@20": None if parts is None else round(one.quality(model, *parts), 5),
            "load_average": describe_machine()["load_average"],
            **one.sweep(frame, model),
        }


def _some_users(frame: Any) -> Any:
    """Return the users for whom lists are made; finding them among millions of rows is no part of making lists."""
    users = frame.select("user").distinct().limit(SUBSET).persist()
    users.count()
    return users


def _data(session: Any, data: str) -> tuple[Any, Parts | None]:
    if data not in ("gowalla", "quick"):
        KEPT.mkdir(exist_ok=True)
        return generated(session, float(data), KEPT), None
    if data == "gowalla":
        train, test = datasets.published_split("gowalla")[:2]
    else:
        train, test = planted(300, 200, interactions=6000).split((0.8, 0.2))
    return session.createDataFrame(train.to_frame("pyarrow").select(["user", "item"])), (train, test)


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
        if data == "gowalla" and ours and theirs:
            lines += [_equal_time(ours, other) for other in theirs]
    return lines


def _name(one: dict[str, Any]) -> str:
    sets = {"gowalla": "Gowalla", "quick": "quick"}
    return f"{sets.get(one['data'], 'generated, ' + one['data'] + ' M')}, K = {one['factors']}"


def _alone(one: dict[str, Any]) -> str:
    who = "RG²" if one["contender"] == "ours" else "MLlib"
    if "given_up_after_s" in one:
        return f"{_name(one)}, {who}: given up after {one['given_up_after_s']:g} s"
    default = ", defaults" if one["contender"] == "ours" and not one["asked"] else ""
    quality = "" if one["ndcg@20"] is None else f", NDCG@20 {one['ndcg@20']:.4f}"
    count = f"{one['passes']} passes" if "passes" in one else f"{one['iterations']} iterations"
    settings = ", ".join(["", *(f"{name} {value:.3g}" for name, value in one["settings"].items())])
    who_for = f"{SUBSET:,} users" if one["ndcg@20"] is None else "all users"
    return (
        f"{_name(one)}, {who}{default}{settings}: a fit {one['fit_s']:.1f} s ({count}){quality}, lists of 20 for "
        f"{who_for} {one['lists_s']:.1f} s, peak memory {one['memory_mb']:,} MB"
    )


def _ratios(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    sweep, lists = theirs["sweep_s"] / ours["sweep_s"], theirs["lists_s"] / ours["lists_s"]
    return [
        f"{_name(ours)}: a sweep of RG² {ours['sweep_s']:.2f} s, MLlib's iteration {theirs['sweep_s']:.1f} s, "
        f"{sweep:.0f} times ours (target {SWEEP_TARGET:g}: {_kept(sweep >= SWEEP_TARGET)})",
        f"{_name(ours)}: lists {ours['lists_s']:.1f} s, MLlib {theirs['lists_s']:.1f} s, {lists:.1f} times ours "
        f"(target {LISTS_TARGET:g}: {_kept(lists >= LISTS_TARGET)})",
    ]


def _equal_time(ours: list[dict[str, Any]], theirs: dict[str, Any]) -> str:
    """The best RG² among those whose fit takes no longer than MLlib's."""
    within = [one for one in ours if one["fit_s"] <= theirs["fit_s"]]
    words = f"MLlib, K = {theirs['factors']}, {theirs['fit_s']:.1f} s, NDCG@20 {theirs['ndcg@20']:.4f}"
    if not within:
        return f"Gowalla, equal time: no fit of RG² is as short as {words}: MISSED"
    best = max(within, key=lambda one: one["ndcg@20"])
    is_better = best["ndcg@20"] > theirs["ndcg@20"]
    return (
        f"Gowalla, equal time: RG², K = {best['factors']}, {best['fit_s']:.1f} s, NDCG@20 {best['ndcg@20']:.4f}; "
        f"{words}: better in less time {_kept(is_better)}"
    )


def _kept(is_kept: bool) -> str:
    return "kept" if is_kept else "MISSED"
