"""Tables of what a fitted model is asked for: lists, single requests, servers, stores, Spark, first steps."""

from __future__ import annotations

from typing import Any

from research.bench.speed.first_steps import MOST_SECONDS
from research.bench.speed.spark import LISTS_TARGET, SWEEP_TARGET, lists_ratio, lists_seconds, of_data
from research.pages.records import commit_of
from research.pages.tables import Record, Table, kept

PARTS = ("warm", "cold", "test")


def top_k(record: Record) -> list[Table]:
    """Seconds of all lists and ratios to peers."""
    peers = [name for name in record["cases"][0]["results"] if name != "ours"]
    rows = []
    for case in record["cases"]:
        found = case["results"]
        ratios = [f"{found[peer]['min_times_ours']:.2f}" for peer in peers]
        rows.append([str(case["factors"]), f"{found['ours']['min_s']:.2f} s", *ratios])
    return [Table(["K", "ours", *(f"{peer}, times ours" for peer in peers)], rows)]


def single_requests(record: Record) -> list[Table]:
    """Milliseconds of each request by each contender."""
    names = list(next(iter(record["requests"].values())))
    rows = [
        [kind, *(f"{found[name]['median_ms']:.1f}" if name in found else "–" for name in names)]
        for kind, found in record["requests"].items()
    ]
    return [Table(["median ms", *names], rows)]


def serving(record: Record) -> list[Table]:
    """Requests a second and latency, then reloads and memory."""
    rows = [
        [
            f"{kind}, {name}",
            f"{loads['flat out']['per_second']:,.0f}",
            *(f"{loads['at a rate'][part]:.1f}" for part in ("p50_ms", "p99_ms")),
        ]
        for kind, found in record["results"].items()
        for name, loads in found.items()
    ]
    again, memory = record["reload"], record["memory"]
    after = [
        ["models replaced under load", f"{again['reloads']}"],
        ["requests lost, refused, of", f"{again['lost']}, {again['refused']}, {again['requests']:,}"],
        ["slowest of these", f"{again['max_ms']:.0f} ms"],
        [
            f"memory at the start, after {memory['seconds'] / 60:.0f} minutes",
            f"{memory['mb'][0]:.0f}, {memory['mb'][-1]:.0f} MB",
        ],
    ]
    head = ["", "requests a second", f"median ms at {record['rate']}/s", "99 % within, ms"]
    return [Table(head, rows), Table(["under load", "measured"], after)]


def stores(record: Record) -> list[Table]:
    """Recall, time and bytes of every store."""
    rows = []
    for name, model in record["models"].items():
        for row in model["stores"]:
            if "missing" in row:
                continue
            found = row["measured"]
            sizes = [f"{found['milliseconds']:.3g}", f"{row['bytes'] / 1e6:.1f}", f"{row['seconds']:.1f}"]
            rows.append([name, f"{row['kind']}, {row['index']}", f"{found['recall']:.4f}", *sizes])
    return [Table(["model", "store", "recall@20 of the exact list", "ms a query", "MB", "export, s"], rows)]


def first_steps(record: Record) -> list[Table]:
    """Seconds of every Python."""
    rows = [
        [
            one["python"],
            f"{one['seconds']:.0f} s: {kept(one['seconds'] <= MOST_SECONDS)}",
            f"{one['install_seconds']:.0f} s",
            f"{one['recommended_seconds']:.1f} s",
            one["kernels"],
        ]
        for one in record["tried"]
    ]
    return [Table(["Python", f"in all (target {MOST_SECONDS:g} s)", "installing", "csv to recommendations", ""], rows)]


def spark(record: Record) -> list[Table]:
    """Ratios to MLlib at the same rank, then every contender."""
    found = [{"asked": one["factors"], "settings": {}, **one} for one in record["results"]]
    pairs = [
        _spark_ratio(ours, theirs)
        for ours in found
        for theirs in found
        if (ours["contender"], theirs["contender"]) == ("ours", "mllib")
        and (ours["data"], ours["asked"]) == (theirs["data"], theirs["asked"])
        and "fit_s" in theirs
    ]
    alone = [[of_data(one), str(one["factors"]), *_spark(one)] for one in found]
    ratio = ["", "K", "RG²: a sweep", "MLlib: an iteration", "times ours", "RG²: lists", "MLlib: lists", "times ours"]
    head = ["", "K", "", "a fit", "NDCG@20", "lists of 20", "peak memory", "commit"]
    return [Table(ratio, pairs), Table(head, alone, title="Whole fits")]


def _spark_ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    sweep, (words, lists) = theirs["sweep_s"] / ours["sweep_s"], lists_ratio(ours, theirs)
    return [
        of_data(ours),
        str(ours["factors"]),
        *(f"{one['sweep_s']:.2f} s" for one in (ours, theirs)),
        f"{sweep:.0f} (target {SWEEP_TARGET:g}: {kept(sweep >= SWEEP_TARGET)})",
        *(lists_seconds(one) for one in (ours, theirs)),
        f"{words} (target {LISTS_TARGET:g}: {kept(lists >= LISTS_TARGET)})",
    ]


def _spark(one: dict[str, Any]) -> list[str]:
    who = "RG²" if one["contender"] == "ours" else "MLlib"
    if "given_up_after_s" in one:
        return [who, f"given up after {one['given_up_after_s']:g} s", "–", "–", "–", commit_of(one, None)]
    default = ["defaults"] if one["contender"] == "ours" and not one["asked"] else []
    settings = [f"{name} {value:.3g}" for name, value in one["settings"].items()]
    count = f"{one['passes']} passes" if "passes" in one else f"{one['iterations']} iterations"
    quality = "–" if one["ndcg@20"] is None else f"{one['ndcg@20']:.4f}"
    words = ", ".join([who, *default, *settings])
    lists, memory = lists_seconds(one), f"{one['memory_mb']:,} MB"
    return [words, f"{one['fit_s']:.1f} s, {count}", quality, lists, memory, commit_of(one, None)]


def encoder_students(record: Record) -> list[Table]:
    """NDCG@10 of each contender on warm, cold or test items."""
    rows = []
    for name, found in [*record["cold"].items(), *record["graph"].items()]:
        for contender, values in found.items():
            if isinstance(values, dict) and any(part in values for part in PARTS):
                rows.append([name, contender, *(f"{values[p]:.4f}" if p in values else "–" for p in PARTS)])
    return [Table(["data", "", "warm items", "cold items", "test"], rows)]


TABLES = {
    "top-k": top_k,
    "evaluate": top_k,
    "single-requests": single_requests,
    "serving": serving,
    "stores": stores,
    "first-steps": first_steps,
    "spark": spark,
    "encoder-students": encoder_students,
}
