"""`taylorank evaluate`: metrics of a saved model on test data."""

from __future__ import annotations

import json as json_format
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table

import taylorank
from taylorank.cli.options import NO_OPTIONS, FileOptions
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.metrics import DEFAULT, NAMES, Gain, wanted_metrics
from taylorank.models import load
from taylorank.output import atomic_path, output_folder
from taylorank.ranking import Evaluation
from taylorank.ranking import evaluate as evaluate_model


def evaluate(
    model: Annotated[Path, Parameter(help="A file that `taylorank train` wrote.")],
    test: Annotated[str, Parameter(help="The test data: a file, or a name from `taylorank datasets list`.")],
    /,
    *,
    k: Annotated[str, Parameter(help="Cutoffs, with commas between.")] = "10,20",
    metrics: Annotated[
        str, Parameter(help=f"With commas between, such as ndcg,recall_min@50. Known: {', '.join(NAMES)}.")
    ] = ",".join(DEFAULT),
    seen: Annotated[
        list[str] | None,
        Parameter(help="More data to leave out, such as validation; give it again for more.", negative=()),
    ] = None,
    gain: Annotated[Gain, Parameter(help="Of a relevant item in DCG and NDCG; see docs/metrics.md.")] = "binary",
    confidence: Annotated[float, Parameter(help="Of the intervals; 0 leaves them out.")] = 0.95,
    resamples: Annotated[int, Parameter(help="Draws of users behind the intervals.")] = 1000,
    json: Annotated[Path | None, Parameter(help="File for the results.")] = None,
    per_user: Annotated[Path | None, Parameter(help="Parquet file for the values of every user.")] = None,
    protocol: Annotated[str | None, Parameter(help="For data sets: raw, paper, …")] = None,
    options: FileOptions = NO_OPTIONS,
    seed: Annotated[int, Parameter(help="Seed of the draws.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Rank all items for every test user and report metrics with intervals.

    What a user met in training is left out of the ranking.

    Example: taylorank evaluate model.tr test.csv --k 10,50 --seen valid.csv --json metrics.json
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    asked, cutoffs = metrics.split(","), _whole_numbers(k)
    wanted_metrics(asked, cutoffs)  # a typing error shows before the work
    with ExitStack() as places:
        for file in (json, per_user):
            if file is not None:
                places.enter_context(output_folder(file.parent))
        fitted = load(model)
        data = open_data(test, protocol=protocol, **options.given())
        masks = [fitted.seen, *(open_data(more, protocol=protocol, **options.given()) for more in seen or [])]
        with console.status("evaluating") as status:
            found = evaluate_model(
                fitted,
                data,
                k=cutoffs,
                seen=masks,
                metrics=asked,
                gain=gain,
                per_user=per_user is not None,
                confidence=confidence or None,
                resamples=resamples,
                seed=seed,
                progress=lambda done, total: status.update(f"evaluating: {done:,} of {total:,} users"),
            )
        _show(found, confidence, console)
        if json is not None:
            settings = {"model": str(model), "test": test, "seen": seen or [], "gain": gain, "seed": seed}
            _write_json(found, json, settings | {"confidence": confidence, "resamples": resamples})
            console.print(f"written: {json}")
        if per_user is not None:
            with atomic_path(per_user) as temporary:
                found.to_frame().write_parquet(temporary)
            console.print(f"written: {per_user}")


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"--k {text!r} is not a list of cutoffs", "write --k 10,20") from None


def _show(found: Evaluation, confidence: float, console: Console) -> None:
    table = Table("metric", box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("value", justify="right")
    if found.intervals:
        table.add_column(f"{100 * confidence:g} % interval", justify="right")
    for name, value in found.items():
        low, high = found.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.4f} – {high:.4f}"
        table.add_row(name, f"{value:.4f}", *([interval] if found.intervals else []))
    console.print(table)
    users = found.users
    console.print(f"\n{users.evaluated:,} users evaluated", end="")
    left_out = [f"{count:,} {reason}" for reason, count in users.skipped.items() if count]
    console.print(f"; left out: {', '.join(left_out)}" if left_out else "")
    if users.unknown_items:
        console.print(f"{users.unknown_items:,} test interactions are with unknown items and count as misses")


def _write_json(found: Evaluation, path: Path, settings: dict[str, Any]) -> None:
    document = {
        "taylorank": taylorank.__version__,
        **settings,
        "users": asdict(found.users),
        "metrics": {name: value if value == value else None for name, value in found.items()},  # JSON has no NaN
        "intervals": found.intervals,
    }
    with atomic_path(path) as temporary:
        temporary.write_text(json_format.dumps(document, indent=2) + "\n")
