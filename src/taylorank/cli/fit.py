"""`taylorank fit`: a good model of any data, within some seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from taylorank.cli.options import (
    NO_OPTIONS,
    Cleaning,
    Core,
    Data,
    Device,
    FileOptions,
    HoldOutOption,
    Quiet,
    Seed,
    Threads,
)
from taylorank.cli.results import Json, check_writable, text_console, write_json
from taylorank.cli.saving import KeepTeacher, save_model
from taylorank.data.source import open_data
from taylorank.kernels import threads
from taylorank.metrics import choosing_metric
from taylorank.progress import narrated
from taylorank.selection import fit_best


def fit(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    seconds: Annotated[float, Parameter(help="Time for search and last fit, in seconds, after reading.")] = 60.0,
    metric: Annotated[str, Parameter(help="Metric to choose by: ndcg@10, recall@20, …")] = "ndcg@10",
    hold_out: HoldOutOption = None,
    out: Annotated[Path, Parameter(help="Write the model to this file.")],
    keep_teacher: KeepTeacher = False,
    json: Json = None,
    device: Device = None,
    num_threads: Threads = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Find a good model within some seconds and save it.

    Part of the data is held out: the last items of each user where times are
    known. RG2, EASE, iALS and a small student of RG2 are tuned on the rest as
    far as the time allows, and the best is fitted to all data. It prints what
    was chosen, why, and what to expect. Ctrl-C saves the best model so far.

    Example: taylorank fit ratings.csv --min-rating 3 --core 5 --out model.tr

    Example: taylorank fit ml-1m --seconds 300 --metric recall@20 --out model.tr
    """
    choosing_metric(metric)
    console = text_console(quiet, json)
    check_writable(out, json)
    with threads(num_threads):
        interactions = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
        interactions = interactions if core is None else interactions.core(core)
        with narrated("choosing", not console.quiet):
            model = fit_best(
                interactions,
                seconds=seconds,
                metric=metric,
                hold_out=hold_out,
                random_state=seed,
                device=device or "auto",
                quiet=console.quiet,
            )
        save_model(model, out, console, keep_teacher=keep_teacher)
        if json is not None:
            write_json(vars(model)["selection_"].to_dict(), json, console)
        console.print(f"written: {out}")
