"""`taylorank run`: the whole way from data to a table of results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

import taylorank
from taylorank.cli.run_report import write_run_report
from taylorank.data import Interactions, planted
from taylorank.models import RG2, Popularity
from taylorank.output import atomic_path, output_folder
from taylorank.ranking import Oracle, Scorer, evaluate

SHOWN = ("ndcg@10", "recall@10", "mrr@10", "ndcg@20", "recall@20")


def run(
    *,
    out: Annotated[Path, Parameter(help="Folder for results.json and report.html.")] = Path("taylorank-run"),
    users: Annotated[int, Parameter(help="Users to plant.")] = 2000,
    items: Annotated[int, Parameter(help="Items to plant.")] = 1000,
    interactions: Annotated[int, Parameter(help="Interactions to plant.")] = 60_000,
    core: Annotated[int, Parameter(help="Keep users and items with at least this many interactions.")] = 5,
    seed: Annotated[int, Parameter(help="Seed of the data and of the split.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Plant data, clean it, split it, fit the models, print a table, write OUT/results.json and OUT/report.html.

    The data is drawn from a known softmax model, so the table ends with the best ranking there can be.

    Example: taylorank run --users 5000 --items 2000 --interactions 200000 --out results
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True, width=max(80, get_terminal_size().columns))
    with output_folder(out) as folder:
        with console.status("planting data"):
            data = planted(users, items, interactions=interactions, seed=seed).core(core)
        train, valid, test = data.split(seed=seed)
        results = _fit_all(train, valid, test, console)
        target = folder / "results.json"
        with atomic_path(target) as temporary:
            temporary.write_text(json.dumps(_document(data, results, seed), indent=2) + "\n")
        with console.status("drawing the report"):
            drawn = write_run_report(data, results, folder / "report.html", metrics=SHOWN, seed=seed)
    console.print(repr(data), markup=False)
    console.print(f"train {train.nnz:,}, validation {valid.nnz:,}, test {test.nnz:,} interactions\n")
    console.print(_table(results))
    console.print(f"\nwritten: {target}\n{drawn}")


def _fit_all(train: Interactions, valid: Interactions, test: Interactions, console: Console) -> list[dict[str, Any]]:
    models: dict[str, Callable[[], Scorer]] = {
        "Popularity": lambda: Popularity().fit(train),
        "RG2 (tuned)": lambda: best_of_path(train, valid),
        "best possible": lambda: Oracle(train),
    }
    results = []
    for name, fit in models.items():
        with console.status(f"fitting {name}"):
            results.append(_measure(name, fit, test, [train, valid]))
    return results


def best_of_path(train: Interactions, valid: Interactions) -> RG2:
    """Return the best RG² by NDCG@10 on validation data, over ranks and thresholds: all from one fit."""
    most = min(64, train.n_users, train.n_items)
    ranks = [k for k in (4, 8, 16, 32, 64) if k <= most] or [most]
    candidates = RG2(factors=ranks[-1]).fit(train).path(ranks, (0.0, 0.1, 0.2, 0.3, 0.5))
    return max(candidates, key=lambda model: evaluate(model, valid, k=10)["ndcg@10"])


def _measure(name: str, fit: Callable[[], Scorer], test: Interactions, seen: list[Interactions]) -> dict[str, Any]:
    start = time.perf_counter()
    model = fit()
    fitted = time.perf_counter()
    metrics = evaluate(model, test, seen=seen)
    return {
        "model": name,
        "metrics": metrics,
        "fitted": model,
        "fit_seconds": fitted - start,
        "evaluate_seconds": time.perf_counter() - fitted,
    }


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table("model", box=None, pad_edge=False)
    for name in (*SHOWN, "seconds"):
        table.add_column(name, justify="right")
    for result in results:
        values = [f"{result['metrics'][name]:.4f}" for name in SHOWN]
        table.add_row(result["model"], *values, f"{result['fit_seconds']:.3f}")
    return table


def _document(data: Interactions, results: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    from taylorank.bench.machine import describe_machine

    return {
        "taylorank": taylorank.__version__,
        "seed": seed,
        "data": {
            "users": data.n_users,
            "items": data.n_items,
            "interactions": data.nnz,
            "steps": [asdict(step) for step in data.steps],
        },
        "protocol": "80/10/10 per user, full ranking, train and validation masked",
        "results": [{key: value for key, value in result.items() if key != "fitted"} for result in results],
        "machine": describe_machine(),
    }
