"""`taylorank datasets`: list, get and describe public data sets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taylorank.cli.options import NO_OPTIONS, OPTIONS, Cleaning, Core, Data, FileOptions, Quiet
from taylorank.cli.results import STANDARD_OUTPUT, Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.data import datasets
from taylorank.data.datasets.places import locate, present
from taylorank.data.describe import Description, Spread, describe
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.progress import counted

NARROW = 80  # columns of a terminal
app = App(name="datasets", help="List, download and describe public data sets.", group_parameters=OPTIONS)


@app.command(name="list")
def list_(*, json: Json = None, quiet: Quiet = False) -> None:
    """List the public data sets and how each can be cleaned.

    Example: taylorank datasets list
    """
    check_writable(json)
    rows = [_summary(datasets.info(name)) for name in datasets.names()]
    if json != STANDARD_OUTPUT:
        cells = [
            [row["name"], row["title"], row["found"], ", ".join(cleaning["name"] for cleaning in row["cleanings"])]
            for row in rows
        ]
        _print_table(["name", "title", "here", "cleanings"], cells)
    if json is not None:
        write_json({"datasets": rows}, json, text_console(quiet))


@app.command
def get(
    name: Annotated[str, Parameter(help="A name from `taylorank datasets list`.")],
    /,
    *,
    cleaning: Cleaning = None,
    out: Annotated[Path | None, Parameter(help="Write the interactions to this .npz file.")] = None,
    quiet: Quiet = False,
) -> None:
    """Find or download a data set; with --cleaning or --out, also read it.

    Prints where the files are, the terms of use and, if the data are read,
    their size beside the known one.

    Example: taylorank datasets get ml-1m --cleaning paper --out ml-1m.npz
    """
    dataset = datasets.info(name)
    if out is not None and out.suffix != ".npz":
        raise ParameterError(f"cannot write {out}", "give a name that ends in .npz")
    check_writable(out)
    recipe = None if cleaning is None and out is None else dataset.cleaning(cleaning or "raw")
    with counted(f"data set {name}", "bytes", not quiet) as tell:
        located = locate(dataset, progress=tell)
    for path in located.paths:
        _print_line(str(path))
    _print_line(f"terms: {dataset.terms}")
    if recipe is None:
        return
    data = datasets.read(dataset, located, recipe)
    if out is not None:
        data.save_npz(out)
    _print_counts(recipe, datasets.Counts(data.n_users, data.n_items, data.nnz))


@app.command
def stats(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    json: Json = None,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Describe a file or a data set: sizes, popularity, time span.

    Also shows what was done to the data, step by step.

    Example: taylorank datasets stats ml-100k --cleaning paper

    Example: taylorank datasets stats log.csv --user who --item what --core 5
    """
    check_writable(json)
    interactions = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
    facts = describe(interactions if core is None else interactions.core(core))
    if json != STANDARD_OUTPUT:
        _print_table(["fact", "value"], _facts_rows(facts))
        for step in facts.steps:
            _print_line(str(step))
    if json is not None:
        write_json(asdict(facts), json, text_console(quiet))


def _summary(dataset: datasets.Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": dataset.title,
        "found": _where(dataset),
        "homepage": dataset.homepage,
        "citation": dataset.citation,
        "terms": dataset.terms,
        "files": [asdict(file) for file in dataset.files],
        "cleanings": [
            {
                "name": cleaning.name,
                "summary": cleaning.summary,
                "counts": None if cleaning.counts is None else cleaning.counts._asdict(),
                "counts_from": cleaning.counts_from,
            }
            for cleaning in dataset.cleanings
        ],
        "notes": dataset.notes,
    }


def _where(dataset: datasets.Dataset) -> str:
    if present(dataset) is not None:
        return "yes"
    return "download" if dataset.files else "no"


def _print_counts(recipe: datasets.Cleaning, counts: datasets.Counts) -> None:
    _print_line(f"{recipe.name} ({recipe.summary}): {counts}")
    if recipe.counts is not None:
        agreement = "as expected" if recipe.counts == counts else f"expected were {recipe.counts}"
        _print_line(f"{agreement} ({recipe.counts_from})")


def _facts_rows(facts: Description) -> list[list[str]]:
    rows = [
        ["users", f"{facts.users:,}"],
        ["items", f"{facts.items:,}"],
        ["interactions", f"{facts.interactions:,}"],
        ["density", f"{100 * facts.density:.4g} %"],
        ["per user: min / median / mean / max", _spread_text(facts.per_user)],
        ["per item: min / median / mean / max", _spread_text(facts.per_item)],
        ["Gini of item popularity", f"{facts.gini:.3f}"],
        ["share of the top 1 % items", f"{100 * facts.top_share:.1f} %"],
    ]
    return rows if facts.first is None else [*rows, ["time span", f"{facts.first} to {facts.last}"]]


def _spread_text(spread: Spread) -> str:
    return f"{spread.min:,} / {spread.median:,g} / {spread.mean:,.1f} / {spread.max:,}"


def _print_table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table without frame, whose cells are folded; on a narrow terminal, `name value` pairs if it is wider."""
    console = _console()
    if console.width < NARROW:
        print_table(head, rows, console)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(name, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=160)


def _print_line(text: str) -> None:
    _console().print(text, markup=False, highlight=False, soft_wrap=True)
