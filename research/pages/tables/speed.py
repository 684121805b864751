"""Tables of the benchmarks of fits: products, sweeps, whole fits, epochs, reading."""

from __future__ import annotations

from typing import Any

from research.bench import module_of
from research.bench.speed.als import METHODS, TARGETS
from research.bench.speed.growth import KINDS, MOST
from research.bench.speed.memory import ALS_TARGET, SPECTRAL_TARGET
from research.pages.tables import Record, Table, kept


def gather_sum(record: Record) -> list[Table]:
    """Milliseconds and ratios to peers, by size."""
    peers = ("torch (MKL)", "scipy", "plain C loop")
    rows = [
        [
            f"{case['interactions'] / 1e6:.1f} M, {case['direction']}, K = {case['factors']}",
            f"{1000 * case['results']['ours']['median_s']:.1f} ms",
            f"{case['results']['ours']['gathered_gb_per_s']:.0f}",
            *(f"{case['results'][peer]['times_ours']:.2f}" if peer in case["results"] else "–" for peer in peers),
        ]
        for case in record["cases"]
    ]
    return [Table(["", "ours", "GB/s", *(f"{peer}, times ours" for peer in peers)], rows)]


def als(record: Record) -> list[Table]:
    """Seconds of a sweep and ratios to both peers."""
    rg2, ials = [], []
    for case in record["cases"]:
        width, results = case["factors"], case["results"]
        ratios = [_ratio(case["rg2"].get(f"{peer}, cg")) for peer in ("irspack", "implicit")]
        rg2.append([str(width), f"{results['ours, rg2']['min_s']:.3f} s", *ratios, f"{TARGETS[width]:g}"])
        for method, words in METHODS.items():
            ours = results[f"ours, {method}"]
            peers = [results.get(f"{peer}, {method}") for peer in ("irspack", "implicit")]
            cells = [f"{_ratio(peer)}, {_loss(peer, ours)}" if peer else "–" for peer in peers]
            ials.append([f"K = {width}, {words}", f"{ours['min_s']:.2f} s", f"{ours['loss']:,.0f}", *cells])
    return [
        Table(["RG², K", "a sweep", "irspack's cg, times ours", "implicit's cg, times ours", "target"], rg2),
        Table(["iALS", "a sweep", "loss", "irspack, times ours", "implicit, times ours"], ials),
    ]


def _ratio(result: dict[str, float] | None) -> str:
    return "–" if result is None else f"{result['min_times_ours']:.2f} ({result['times_ours']:.2f})"


def _loss(result: dict[str, float], ours: dict[str, float]) -> str:
    share = result["loss"] / ours["loss"] - 1
    return "equal loss" if abs(share) < 1e-5 else f"loss {100 * share:+.3f} %".replace("-", "−")


def growth(record: Record) -> list[Table]:
    """Cost per interaction by size, then the verdict."""
    sizes = [f"{point['interactions'] / 1e6:g} M" for point in record["points"]]
    rows, verdicts = [], []
    for kind, words in KINDS.items():
        found = record["growth"][kind]
        rows.append([words, *(f"{1000 * cost:.1f}" for cost in found["seconds_per_million"])])
        tenfold = ", ".join(f"{ratio:.1f}" for ratio in found["tenfold"].values())
        verdicts.append([words, tenfold, f"{MOST:g}: {kept(found['linear'])}", f"{found['slope']:.2f}"])
    return [
        Table(["ms a sweep per million interactions", *sizes], rows),
        Table(["", "ten times the data take, times as long", "target, at most", "slope"], verdicts),
    ]


def fit_cost(record: Record) -> list[Table]:
    """Seconds of whole fits, a table for what grows."""
    tables = []
    for name, points in record["cases"].items():
        head = [name, *(f"{row['size']:,}" for row in points), "grows as the power"]
        tables.append(
            Table(head, [["seconds", *(f"{row['seconds']:.2f}" for row in points), f"{record['exponents'][name]:.2f}"]])
        )
    return tables


def svd(record: Record) -> list[Table]:
    """Seconds of each method by rank, then all that was measured."""
    cases = {case["factors"]: case["results"] for case in record["cases"]}
    methods = list(next(iter(cases.values())))
    brief = [[name, *(_svd(case[name], 1.0, record)[0] for case in cases.values())] for name in methods]
    rows = [
        [str(width), name, *_svd(row, case["lanczos"]["seconds"], record)]
        for width, case in cases.items()
        for name, row in case.items()
    ]
    head = ["K", "method", "seconds", "times ours", "passes", "residual", "memory over factors"]
    return [
        Table(["seconds", *(f"K = {width}" for width in cases)], brief),
        Table(head, rows, "Passes, residuals and memory", folded=True),
    ]


def _svd(row: dict[str, Any], ours: float, record: Record) -> list[str]:
    if not row["finished"]:
        return [f"over {record['limit_s']:.0f}", "–", f"{row['passes']:.0f}", "–", "–"]
    wrong = " (inaccurate)" if row["residual"] > 1.5 * record["tolerance"] else ""
    ratio, memory = f"{row['seconds'] / ours:.2f}", f"{row['times_factors']:.1f}"
    return [f"{row['seconds']:.2f}", ratio, f"{row['passes']:.1f}", f"{row['residual']:.1e}{wrong}", memory]


def memory(record: Record) -> list[Table]:
    """Megabytes of each fit and the ratio that the target is about."""
    rows = []
    for row in record["results"]:
        if row["fit"] == "rg2-spectral":
            ratio, target, of = row["times_factors_beside_input"], SPECTRAL_TARGET, "factors, beside the input"
        else:
            ratio, target, of = row["times_input_and_factors"], ALS_TARGET, "input and factors"
        size = f"{row['fit']}, {row['interactions'] / 1e6:.1f} M ({row['data']}), K = {row['factors']}"
        parts = [f"{row[part]:.0f} MB" for part in ("total_mb", "input_mb", "factors_mb")]
        rows.append([size, *parts, f"{ratio:.2f} × {of}", f"{target:g}: {kept(ratio <= target)}"])
    return [Table(["", "peak", "input", "factors", "ratio", "target, at most"], rows)]


def epochs(record: Record) -> list[Table]:
    """Seconds of an epoch and ratios to what else has the loss."""
    rows = [
        [loss, name, f"{row['min_s']:.2f} s", _ratio(row) if name != "taylorank" else ""]
        for loss, found in record["results"].items()
        for name, row in found.items()
    ]
    step = record["step"]
    what = f"a softmax step, {step['queries']} × {step['items']:,}, peak memory"
    rows += [[what, name, f"{step[name]} MB", ""] for name in ("taylorank", "plain PyTorch")]
    return [Table(["loss", "by", "an epoch", "times ours"], rows)]


def read(record: Record) -> list[Table]:
    """Seconds and memory of both readers."""
    rows = []
    for row in record["results"]:
        ours, theirs = row["contenders"]["taylorank"], row["contenders"]["pandas"]
        seconds = [f"{one['seconds']:.2f} s" for one in (ours, theirs)]
        memory = [f"{one['peak_mb']:.0f} MB" for one in (ours, theirs)]
        rows.append([row["format"], *seconds, f"{row['times_faster']:.1f}", *memory, f"{row['memory_ratio']:.2f}"])
    return [Table(["", "ours", "pandas", "times faster", "our peak", "pandas' peak", "ratio"], rows)]


def cuda_kernels(record: Record) -> list[Table]:
    """Milliseconds of every kernel."""
    rows = []
    for row in record["rows"]:
        if "part" in row or "median_s" not in row:
            continue
        size = [
            f"{row['entries']:,} entries" if "entries" in row else "",
            row.get("direction", ""),
            f"{row['users']:,} users, {row['items']:,} items" if "users" in row else "",
            f"{row['rows']:,} rows" if "rows" in row else "",
            row.get("method") or row.get("dtype") or "",
            "without seen items" if row.get("masked") else "",
        ]
        rate = f"{row['gb_per_s']:,.0f}" if "gb_per_s" in row else "–"
        share = f"{row['of_copy']:.2f}" if "of_copy" in row else "–"
        width = str(row.get("factors", "–"))
        rows.append([row["stage"], ", ".join(filter(None, size)), width, f"{1000 * row['median_s']:.2f}", rate, share])
    return [Table(["kernel", "of", "K", "ms", "GB/s", "times a copy's rate"], rows)]


def gpu(record: Record) -> list[Table]:
    """What was done on each data set, and how long it took."""
    lines = [line.partition(": ") for line in module_of("gpu").describe(record)]
    rows = []
    for name, _, told in lines:
        what, _, found = told.partition(": ")
        rows.append([name, what if found else "", found or what])
    return [Table(["data", "what", "measured"], rows)]


TABLES = {
    "gather-sum": gather_sum,
    "als": als,
    "growth": growth,
    "fit-cost": fit_cost,
    "svd": svd,
    "memory": memory,
    "epochs": epochs,
    "read": read,
    "cuda-kernels": cuda_kernels,
    "gpu": gpu,
}
