"""`taylorank datasets`: list, get and describe public data sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taylorank.cli.options import NO_OPTIONS, FileOptions
from taylorank.data import datasets
from taylorank.data.datasets.places import locate, present
from taylorank.data.describe import Description, Spread, describe
from taylorank.data.source import open_data
from taylorank.errors import ParameterError

if TYPE_CHECKING:
    from taylorank.data.datasets.fetch import Progress

app = App(name="datasets", help="List, get and describe public data sets.")

Quiet = Annotated[bool, Parameter(name="--quiet", negative="", help="Show results only, no progress.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Write JSON to standard output.")]


@app.command(name="list")
def list_(*, json_: Json = False, quiet: Quiet = False) -> None:
    """List the data sets, where they are on this machine, and their protocols.

    Example: taylorank datasets list
    """
    rows = [_summary(datasets.info(name)) for name in datasets.names()]
    if json_:
        _print_json({"datasets": rows})
        return
    table = _table("name", "what", "here", "protocols")
    for row in rows:
        protocols = ", ".join(protocol["name"] for protocol in row["protocols"])
        table.add_row(row["name"], escape(row["title"]), row["found"], protocols)
    _console().print(table)


@app.command
def get(name: str, /, *, protocol: str | None = None, out: Path | None = None, quiet: Quiet = False) -> None:
    """Find or download a data set; with a protocol, also read and clean it.

    Example: taylorank datasets get ml-1m --protocol paper

    Parameters
    ----------
    name
        A name from `taylorank datasets list`.
    protocol
        "raw", "paper" or another that the list shows.
    out
        Write the interactions to this .npz file.
    """
    dataset = datasets.info(name)
    if out is not None and out.suffix != ".npz":
        raise ParameterError(f"cannot write {out}", "give a name that ends in .npz")
    recipe = None if protocol is None and out is None else dataset.protocol(protocol or "raw")
    with download_bar(name, quiet) as progress:
        located = locate(dataset, progress=progress)
    for path in located.paths:
        _print_line(str(path))
    _print_line(f"terms: {dataset.terms}")
    if recipe is None:
        return
    data = datasets.read(dataset, located, recipe)
    if out is not None:
        data.save_npz(out)
    _report_counts(recipe, datasets.Counts(data.n_users, data.n_items, data.nnz))


@app.command
def stats(
    data: str,
    /,
    *,
    protocol: str | None = None,
    core: int | None = None,
    options: FileOptions = NO_OPTIONS,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe a data set or a file: sizes, activity, popularity, time span, and what was done to it.

    Example: taylorank datasets stats ml-100k --protocol paper

    Example: taylorank datasets stats ratings.csv --user who --item what --min-rating 3 --core 5

    Parameters
    ----------
    data
        A file, or a name from `taylorank datasets list`.
    protocol
        For data sets: "raw" (the default), "paper" or another that the list shows.
    core
        Keep users and items with at least this many interactions first.
    options
        For files.
    """
    with download_bar(data, quiet) as progress:
        interactions = open_data(data, protocol=protocol, progress=progress, **options.given())
    facts = describe(interactions if core is None else interactions.core(core))
    if json_:
        _print_json(asdict(facts))
        return
    _console().print(_facts_table(facts))
    for step in facts.steps:
        _print_line(str(step))


def _summary(dataset: datasets.Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": dataset.title,
        "found": _where(dataset),
        "homepage": dataset.homepage,
        "citation": dataset.citation,
        "terms": dataset.terms,
        "files": [asdict(file) for file in dataset.files],
        "protocols": [
            {
                "name": protocol.name,
                "summary": protocol.summary,
                "counts": None if protocol.counts is None else protocol.counts._asdict(),
                "counts_from": protocol.counts_from,
            }
            for protocol in dataset.protocols
        ],
        "notes": dataset.notes,
    }


def _where(dataset: datasets.Dataset) -> str:
    if present(dataset) is not None:
        return "yes"
    return "download" if dataset.files else "no"


def _report_counts(recipe: datasets.Protocol, counts: datasets.Counts) -> None:
    _print_line(f"{recipe.name} ({recipe.summary}): {counts}")
    if recipe.counts is not None:
        relation = "the same as known" if recipe.counts == counts else f"known are {recipe.counts}"
        _print_line(f"{relation} ({recipe.counts_from})")


def _facts_table(facts: Description) -> Table:
    table = _table("fact", "value")
    table.add_row("users", f"{facts.users:,}")
    table.add_row("items", f"{facts.items:,}")
    table.add_row("interactions", f"{facts.interactions:,}")
    table.add_row("density", f"{100 * facts.density:.4g} %")
    table.add_row("per user: min / median / mean / max", _spread_text(facts.per_user))
    table.add_row("per item: min / median / mean / max", _spread_text(facts.per_item))
    table.add_row("Gini of item popularity", f"{facts.gini:.3f}")
    table.add_row("share of the top 1 % items", f"{100 * facts.top_share:.1f} %")
    if facts.first is not None:
        table.add_row("time span", f"{facts.first} to {facts.last}")
    return table


def _spread_text(spread: Spread) -> str:
    return f"{spread.min:,} / {spread.median:,g} / {spread.mean:,.1f} / {spread.max:,}"


def _table(*headers: str) -> Table:
    """Return a table without frame, which reads as well in a pipe as on a terminal."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _console() -> Console:
    console = Console()
    return console if console.is_terminal and console.width >= 80 else Console(width=160)


def _print_line(text: str) -> None:
    _console().print(text, markup=False, highlight=False, soft_wrap=True)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def download_bar(name: str, quiet: bool) -> Iterator[Progress | None]:
    """Show downloads on the terminal's error stream; nothing appears where nothing is downloaded."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn(escape(name)),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task: Any = None

        def progress(done: int, total: int | None) -> None:
            nonlocal task
            if task is None:
                task = bars.add_task(name, total=total)
            bars.update(task, completed=done, total=total)

        yield progress
