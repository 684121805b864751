"""`taylorank evaluate`: metrics of a saved model on test data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

import taylorank
from taylorank.cli.options import (
    A_FILE_OR_A_NAME,
    NO_OPTIONS,
    Cleaning,
    Cutoffs,
    Device,
    FileOptions,
    ModelFile,
    Quiet,
    Seed,
    comma_separated,
    cutoffs,
)
from taylorank.cli.results import Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.data.source import open_data
from taylorank.metrics import DEFAULT, NAMES, Gain, wanted_metrics
from taylorank.models import load
from taylorank.output import atomic_path
from taylorank.ranking import Evaluation
from taylorank.ranking import evaluate as evaluate_model


def evaluate(
    model: ModelFile,
    test: Annotated[str, Parameter(help=f"Test data: {A_FILE_OR_A_NAME}")],
    /,
    *,
    cleaning: Cleaning = None,
    seen: Annotated[
        list[str] | None,
        Parameter(
            help="More interactions to leave out of the ranking, such as validation data; can be repeated.", negative=()
        ),
    ] = None,
    metrics: Annotated[
        str,
        Parameter(help=f"Metrics, separated by commas, such as ndcg,recall_min@50. Known: {', '.join(NAMES)}."),
    ] = ",".join(DEFAULT),
    k: Cutoffs = "10,20",
    gain: Annotated[
        Gain,
        Parameter(help="Gain of a relevant item in DCG and NDCG: 1, its strength, or 2^strength - 1."),
    ] = "binary",
    confidence: Annotated[float, Parameter(help="Level of the confidence intervals; 0 for none.")] = 0.95,
    resamples: Annotated[int, Parameter(help="Number of bootstrap resamples of the users for the intervals.")] = 1000,
    device: Device = None,
    per_user: Annotated[Path | None, Parameter(help="Write the metrics of every user to this Parquet file.")] = None,
    json: Json = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Evaluate a saved model on test data, with confidence intervals.

    All items are ranked for every test user, except those the user interacted
    with in training.

    Example: taylorank evaluate model.tr test.csv --k 10,50 --json metrics.json
    """
    console = text_console(quiet, json)
    asked, at = comma_separated(metrics, "--metrics"), cutoffs(k)
    wanted_metrics(asked, at)  # a misspelled name is found before the work
    check_writable(json, per_user)
    fitted = load(model)
    reading = {"cleaning": cleaning, "progress": not quiet, **options.given()}
    data = open_data(test, **reading)
    masks = [
        fitted.seen,
        *(open_data(more, cleaning=cleaning, progress=not quiet, **options.given()) for more in seen or []),
    ]
    found = evaluate_model(
        fitted,
        data,
        k=at,
        seen=masks,
        metrics=asked,
        gain=gain,
        per_user=per_user is not None,
        confidence=confidence or None,
        resamples=resamples,
        random_state=seed,
        device=device,
        progress=not console.quiet,
    )
    _show(found, confidence, console)
    if json is not None:
        settings = {"model": str(model), "test": test, "seen": seen or [], "gain": gain, "seed": seed}
        write_json(_document(found, settings | {"confidence": confidence, "resamples": resamples}), json, console)
    if per_user is not None:
        with atomic_path(per_user) as temporary:
            found.to_frame("polars").write_parquet(temporary)
        console.print(f"written: {per_user}")


def _show(found: Evaluation, confidence: float, console: Console) -> None:
    rows = []
    for name, value in found.items():
        low, high = found.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.4f} – {high:.4f}"
        rows.append([name, f"{value:.4f}", *([interval] if found.intervals else [])])
    head = ["metric", "value", *([f"{100 * confidence:g} % interval"] if found.intervals else [])]
    print_table(head, rows, console, right=True)
    users = found.users
    console.print(f"\n{users.evaluated:,} users evaluated", end="")
    left_out = [f"{count:,} {reason}" for reason, count in users.skipped.items() if count]
    console.print(f"; left out: {', '.join(left_out)}" if left_out else "")
    if users.hidden_items:
        console.print(
            f"{users.hidden_items:,} test interactions are in the training data or --seen: misses, whatever the model"
        )
    if users.unknown_items:
        console.print(f"{users.unknown_items:,} test interactions are with unknown items and count as misses")


def _document(found: Evaluation, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "taylorank": taylorank.__version__,
        **settings,
        "users": asdict(found.users),
        "metrics": {name: value if value == value else None for name, value in found.items()},  # JSON has no NaN
        "intervals": found.intervals,
    }
