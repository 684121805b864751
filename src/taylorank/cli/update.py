"""`taylorank update`: more data for a saved model, without a fit from scratch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from taylorank.cli.options import NO_OPTIONS, Cleaning, Data, FileOptions, ModelFile, Quiet, Threads
from taylorank.cli.results import text_console
from taylorank.data.source import open_data
from taylorank.kernels import threads
from taylorank.models import load
from taylorank.output import check_place


def update(
    model: ModelFile,
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    sweeps: Annotated[int, Parameter(help="Number of sweeps over all data.")] = 1,
    out: Annotated[Path, Parameter(help="Write the updated model to this file; it may be the same.")],
    num_threads: Threads = None,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Update a saved model with more interactions.

    New users and new items are taken in; of repeated pairs the new one
    counts. The model must have been saved with its seen items. Models that
    cannot be updated say so.

    Example: taylorank update model.tr today.csv --out model.tr
    """
    console = text_console(quiet)
    check_place(out)
    with threads(num_threads):
        fitted: Any = load(model)
        update_with = fitted.partial_fit  # a model without it says so before the data are read
        more = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
        before, start = (len(fitted.users), len(fitted.items), fitted.seen.nnz), time.perf_counter()
        update_with(more, sweeps=sweeps, progress=not quiet)
        fitted.save(out)
    after = (len(fitted.users), len(fitted.items), fitted.seen.nnz)
    users, items, pairs = (new - old for old, new in zip(before, after, strict=True))
    took = f"{time.perf_counter() - start:.1f} s"
    console.print(f"{users:,} new users, {items:,} new items, {pairs:,} more interactions in {took}, written: {out}")
