"""`python -m research.reproduce`: a table of the papers, run on your files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table as Shown

from research.reproduce import TABLES, left_out, table_named
from research.reproduce.cells import counts_text, head, row_cells
from research.reproduce.gather import Gathered
from research.reproduce.run import NO_TORCH, chosen_models, data_of, joined, models_of
from research.reproduce.run import reproduce as run_table
from research.reproduce.tables import Table
from taylorank.cli.compare import compared
from taylorank.cli.options import comma_separated, command_line
from taylorank.cli.results import table_console
from taylorank.errors import ParameterError
from taylorank.output import check_place
from taylorank.report.record import Record
from taylorank.report.words import lead_sentence
from taylorank.selection import Comparison

WIDEST = 250


def reproduce(
    dataset: Annotated[str, Parameter(help=f"Whose table: {', '.join(TABLES)}.")],
    /,
    *,
    path: Annotated[
        Path | None, Parameter(help="The official file, or the folder that holds the files; else they are fetched.")
    ] = None,
    models: Annotated[str | None, Parameter(help="Rows to run, with commas between; else all that can.")] = None,
    trials: Annotated[int | None, Parameter(help="Fits of tuning, per model and seed (20); 0: none.")] = None,
    seeds: Annotated[int, Parameter(help="Repetitions of everything, each with another split.")] = 3,
    epochs: Annotated[int | None, Parameter(help="Epochs of what is trained by gradients (50).")] = None,
    cleaning: Annotated[str | None, Parameter(help="Another reading of the papers' cleaning, if there is one.")] = None,
    records: Annotated[
        list[Path] | None,
        Parameter(name="--with", negative=(), help="A record made elsewhere; may be repeated."),
    ] = None,
    json: Annotated[Path | None, Parameter(help="File for what is run here; the same command goes on from it.")] = None,
    per_user: Annotated[
        bool, Parameter(help="Keep each user's values beside --json and --joint, for later tests.", negative=())
    ] = False,
    joint: Annotated[Path | None, Parameter(help="File for this and the records of --with as one.")] = None,
    seed: Annotated[int, Parameter(help="The first seed.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Run a table of the papers by their protocol, every method tuned with the same budget; print ours beside theirs.

    Without torch the closed forms run alone. Rows that --with brings are not run again.

    Example: python -m research.reproduce ml-10m --path ml-10m.zip --models rg2-paper,softmax --json ml-10m.json
    """
    console = table_console(quiet)
    table = table_named(dataset)
    asked = None if models is None else comma_separated(models, "--models")
    others = [Comparison.load(file) for file in records or []]
    chosen = chosen_models(table, asked, [one.record for one in others])
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} repeats nothing", "give 1 or more")
    if joint is not None and not others:
        raise ParameterError(f"--joint {joint} has nothing to join", "name records by --with")
    for file in (json, joint):
        if file is not None:
            check_place(file)
    found = list(others)
    if chosen:
        data = data_of(table, path=path, cleaning=cleaning, progress=not quiet)
        how = {"trials": trials, "epochs": epochs, "file": json, "per_user": per_user, "command": command_line()}
        seeded = range(seed, seed + seeds)

        def run() -> Comparison:
            return run_table(table, data, chosen, seeds=seeded, **how)  # type: ignore[arg-type]

        found.insert(0, compared(console, run))
    whole = joined(table, found) if len(found) > 1 else found[0]
    if joint is not None:
        whole.save(joint, per_user=per_user)
    _print_table(console, table, whole.record)
    if asked is None:
        _print_left_out(console, left_out(models_of(table)), [one.record for one in others])
    for file in (json if chosen else None, joint):
        if file is not None:
            console.print(f"written: {file}")


def _print_table(console: Console, table: Table, record: Record) -> None:
    """Ours beside the printed numbers: rows of the papers first, then what else took part."""
    found = Gathered()
    found.take("this run", record)
    console.print(f"{table.title} ({table.source})", markup=False)
    console.print(counts_text(table, found), markup=False)
    console.print(lead_sentence(record), markup=False)
    console.print()
    heads = head(table)
    shown = Shown(box=None, pad_edge=False)
    for place, text in enumerate(heads):
        shown.add_column(text, justify="left" if place < 2 else "right", no_wrap=True)
    extra = [table.row(name) for name in record["models"] if name not in models_of(table)]
    for row in (*table.rows, *extra):
        if row.model in record["models"]:
            shown.add_row(*row_cells(table, row, found))
    wide = Console(
        quiet=console.quiet, highlight=False, width=WIDEST
    )  # a narrow terminal wraps lines, and loses nothing
    wide.print(shown)
    for model, error in found.errors.items():
        console.print(f"{model} failed: {error}", markup=False)


def _print_left_out(console: Console, models: Sequence[str], others: Sequence[Record]) -> None:
    missing = [name for name in models if not any(name in record["models"] for record in others)]
    if missing:
        console.print(f"left out: {', '.join(missing)}; {NO_TORCH[0]}, {NO_TORCH[1]}", markup=False)
