"""`taylorank fold-in`: lists for users whom a saved model does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from taylorank.cli.lists import check_ending, write_lists
from taylorank.cli.options import A_FILE_OR_A_NAME, NO_OPTIONS, Device, FileOptions, ModelFile, Quiet, Threads
from taylorank.cli.results import STANDARD_OUTPUT, Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.kernels import threads
from taylorank.models import load
from taylorank.ranking.list_table import list_columns
from taylorank.torch_extra import on_device

MOST = 20  # users whose lists are printed


def fold_in(
    model: ModelFile,
    histories: Annotated[str, Parameter(help=f"What the new users have: {A_FILE_OR_A_NAME}")],
    /,
    *,
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Number of items in each list.")] = 10,
    out: Annotated[Path | None, Parameter(help="Write the lists to this file, .parquet or .csv.")] = None,
    save: Annotated[Path | None, Parameter(help="Write the model for these users to this file.")] = None,
    num_threads: Threads = None,
    device: Device = None,
    json: Json = None,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Recommend to new users, given what they have so far.

    Nothing is fitted again: each user's vector is computed from the history.
    Items that the model does not know are ignored.

    Example: taylorank fold-in model.tr new-users.csv --out recs.parquet
    """
    if out is not None:
        check_ending(out)
    console = text_console(quiet, json)
    check_writable(out, save, json)
    with threads(num_threads):
        fitted = on_device(load(model), device).fold_in(open_data(histories, progress=not quiet, **options.given()))
        users = fitted.users.values
        if save is not None:
            fitted.save(save)
            console.print(f"written: {save}")
        if out is not None:
            rows = write_lists(fitted, users, n, out=out, console=console)
            console.print(f"written: {out} ({len(users):,} users, {rows:,} rows)")
        if out is None and save is None and json is None and len(users) > MOST:
            raise ParameterError(f"{len(users):,} lists are too long for a screen", "add --out recs.parquet")
        if json is not None or (out is None and save is None):
            columns = {
                name: column.tolist() for name, column in list_columns(users, fitted.recommend(users, n)).items()
            }
            if json != STANDARD_OUTPUT:
                cells = [[str(v) if name != "score" else f"{v:.4g}" for v in part] for name, part in columns.items()]
                print_table(list(columns), list(zip(*cells, strict=True)), text_console(False))
            if json is not None:
                write_json(columns, json, console)
