"""From 20 M rows of csv or Parquet to a clean CSR matrix: seconds and peak memory, against pandas.

Both sides do the same: read user, item and rating, keep ratings ≥ 3, drop repeated pairs, take the 5-core, number
the ids in ascending order and build a CSR matrix. Each runs alone in a process of its own, so that its peak memory
is its own; the results must agree.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.speed.process import in_own_process, peak_mb

ROWS = 20_000_000
QUICK_ROWS = 200_000
REPEATS = 5


def run(*, quick: bool = False) -> dict[str, Any]:
    """Generate the rows, time every contender on both files, and return a JSON-ready record."""
    from taylorank.machine import describe_machine

    rows = QUICK_ROWS if quick else ROWS
    with tempfile.TemporaryDirectory(prefix="taylorank-bench-") as folder:
        paths = write_rows(Path(folder), rows)
        results = [_compare(kind, path, 1 if quick else REPEATS) for kind, path in paths.items()]
    return {"benchmark": "read", "rows": rows, "results": results, "machine": describe_machine()}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    return [
        f"{r['format']}: {r['contenders']['taylorank']['seconds']:.2f} s against pandas "
        f"{r['contenders']['pandas']['seconds']:.2f} s ({r['times_faster']:.1f} times faster), peak memory "
        f"{r['contenders']['taylorank']['peak_mb']:.0f} against {r['contenders']['pandas']['peak_mb']:.0f} MB "
        f"({r['memory_ratio']:.2f})"
        for r in record["results"]
    ]


def write_rows(folder: Path, rows: int) -> dict[str, Path]:
    """Write rows of user, item, rating, timestamp with long-tailed users and items."""
    import polars as pl

    rng = np.random.default_rng(0)
    n_users, n_items = rows // 60 + 10, rows // 400 + 10
    frame = pl.DataFrame(
        {
            "user_id": (n_users * rng.random(rows) ** 2).astype(np.int64) + 1,
            "item_id": (n_items * rng.random(rows) ** 3).astype(np.int64) + 1,
            "rating": rng.integers(1, 6, rows),
            "timestamp": rng.integers(1_000_000_000, 1_600_000_000, rows),
        }
    )
    paths = {"csv": folder / "rows.csv", "parquet": folder / "rows.parquet"}
    frame.write_csv(paths["csv"])
    frame.write_parquet(paths["parquet"])
    return paths


def _compare(kind: str, path: Path, repeats: int) -> dict[str, Any]:
    """Take turns, so that a slow moment of the machine does not fall on one contender alone."""
    runs: dict[str, list[dict[str, Any]]] = {"taylorank": [], "pandas": []}
    for _ in range(repeats):
        for contender, records in runs.items():
            records.append(in_own_process(__name__, contender, str(path)))
    best = {name: _summary(records) for name, records in runs.items()}
    if len({tuple(b["shape"]) for b in best.values()}) != 1:
        raise AssertionError(f"the contenders disagree: {best}")
    ours, peer = best["taylorank"], best["pandas"]
    return {
        "format": kind,
        "contenders": best,
        "times_faster": peer["seconds"] / ours["seconds"],
        "memory_ratio": ours["peak_mb"] / peer["peak_mb"],
    }


def _summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "seconds": float(np.median([r["seconds"] for r in records])),
        "all_seconds": [round(r["seconds"], 3) for r in records],
        "peak_mb": float(np.median([r["peak_mb"] for r in records])),
        "peak_above_import_mb": float(np.median([r["peak_above_import_mb"] for r in records])),
        "shape": records[0]["shape"],
    }


def with_taylorank(path: Path) -> Any:
    """Read and clean with this library."""
    from taylorank.data import read_interactions

    return read_interactions(path, min_rating=3, timestamp="").core(5).matrix


def with_pandas(path: Path) -> Any:
    """Read and clean as a careful pandas user would: only the columns needed, vectorised steps."""
    import pandas as pd
    from scipy import sparse

    columns = ["user_id", "item_id", "rating"]
    table = pd.read_csv(path, usecols=columns) if path.suffix == ".csv" else pd.read_parquet(path, columns=columns)
    table = table.loc[table["rating"] >= 3, columns[:2]].drop_duplicates(keep="last")
    while True:
        before = len(table)
        table = table[table.groupby("user_id")["item_id"].transform("size") >= 5]
        table = table[table.groupby("item_id")["user_id"].transform("size") >= 5]
        if len(table) == before:
            break
    users, user_ids = pd.factorize(table["user_id"], sort=True)
    items, item_ids = pd.factorize(table["item_id"], sort=True)
    ones = np.ones(len(table), dtype=np.float32)
    return sparse.csr_array((ones, (users, items)), shape=(len(user_ids), len(item_ids)))


def measure(contender: str, path: str) -> dict[str, Any]:
    """Import first, so that both are timed on their work alone."""
    if contender == "pandas":
        import pandas
        import scipy.sparse  # noqa: F401

        assert pandas
    else:
        import taylorank.data.gather
        import taylorank.data.text

        assert taylorank.data.text
    imported = peak_mb()
    start = time.perf_counter()
    matrix = {"taylorank": with_taylorank, "pandas": with_pandas}[contender](Path(path))
    seconds = time.perf_counter() - start
    peak = peak_mb()
    shape = [*matrix.shape, matrix.nnz]
    return {"seconds": seconds, "peak_mb": peak, "peak_above_import_mb": peak - imported, "shape": shape}
