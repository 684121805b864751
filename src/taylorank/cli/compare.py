"""`taylorank compare`: which model is best on some data, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from taylorank.cli.options import (
    JSON_FILE,
    NO_OPTIONS,
    Cleaning,
    Core,
    Cutoffs,
    Data,
    Device,
    FileOptions,
    Quiet,
    Seed,
    comma_separated,
    command_line,
    cutoffs,
)
from taylorank.cli.results import check_writable, table_console
from taylorank.cli.space_option import SpacesOption, spaces_of
from taylorank.data import datasets
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.progress import narrated
from taylorank.ranking.protocols import PROTOCOLS
from taylorank.ranking.protocols import protocol as protocol_named
from taylorank.report import require_extra, write_report
from taylorank.report.series import series_of
from taylorank.report.tables import summary_table
from taylorank.report.words import further_sentences, lead_sentence, mark_words
from taylorank.selection import Comparison
from taylorank.selection import compare as compare_models
from taylorank.selection.contenders import contenders, known_names
from taylorank.selection.per_user import kept_path
from taylorank.torch_extra import on_device

NAMES = ", ".join(known_names())
Result = TypeVar("Result")

MOST_SEEDS = 10_000


def compare(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    protocol: Annotated[str, Parameter(help=f"How the data are split: {', '.join(PROTOCOLS)}.")] = "papers",
    models: Annotated[
        str, Parameter(help=f"Models, separated by commas: {NAMES}; or loss/backbone/sampler.")
    ] = "rg2,ials,ease,popularity",
    space: SpacesOption = None,
    trials: Annotated[
        int | None,
        Parameter(
            help="Maximum number of fits to tune each model on each seed; 0 for none. "
            "[default: 20 if --seconds is not given]",
        ),
    ] = None,
    seconds: Annotated[float | None, Parameter(help="Maximum seconds to tune each model on each seed.")] = None,
    seeds: Annotated[int, Parameter(help="Number of repetitions, each with another split: SEED, SEED + 1, …")] = 3,
    metrics: Annotated[
        str | None, Parameter(help="Metrics, separated by commas. [default: those of the protocol]")
    ] = None,
    k: Cutoffs = "10,20",
    device: Device = None,
    json: Annotated[Path | None, Parameter(help=f"{JSON_FILE}; the same command continues from it.")] = None,
    per_user: Annotated[
        bool,
        Parameter(
            help="Keep each user's values beside --json, to test later models against.",
            negative=(),
            show_default=False,
        ),
    ] = False,
    report: Annotated[Path | None, Parameter(help="Write a report to this HTML file.")] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Tune, fit and test several models on the same splits.

    All models have the same budget for tuning. Differences are tested for
    significance over users. A model that fails is named in the table; the
    others continue. Ctrl-C loses nothing that the file of --json holds.

    Example: taylorank compare ml-1m --models rg2,ials --report ml-1m.html

    Example: taylorank compare ml-1m --cleaning paper --seeds 5 --json ml-1m.json

    Example: taylorank compare ml-1m --models ease,ials --space ials.factors=32,64
    """
    console = table_console(quiet)
    protocol_named(protocol)
    chosen = comma_separated(models, "--models")
    entries = contenders(chosen)
    for one in entries:  # a wrong name or device is found before the data is read
        on_device(one.estimator, device)
    spaces = spaces_of(space or (), entries)
    if not 1 <= seeds <= MOST_SEEDS:
        raise ParameterError(f"--seeds {seeds} is no number of repetitions", f"give 1 to {MOST_SEEDS:,}")
    if per_user and json is None:
        raise ParameterError("--per-user needs a file to write beside", "give --json too")
    if report is not None:
        require_extra()
    check_writable(json, report)
    given = _data(data, protocol, core, cleaning, options, quiet)
    how: dict[str, Any] = {
        "protocol": protocol,
        "seeds": range(seed, seed + seeds),
        "trials": trials,
        "seconds": seconds,
        "spaces": spaces,
        "metrics": None if metrics is None else comma_separated(metrics, "--metrics"),
        "k": cutoffs(k),
        "device": device,
        "file": json,
        "per_user": per_user,
        "name": Path(data).name,
        "command": command_line(),
    }

    def run() -> Comparison:
        return compare_models(given, chosen, **how)

    found = compared(console, run)
    if report is not None:
        write_report(found.record, report)
    _print_summary(found, console)
    for path in (json, kept_path(json) if json is not None and per_user else None, report):
        if path is not None:
            console.print(f"written: {path}")


def _data(name: str, protocol: str, core: int | None, cleaning: str | None, options: FileOptions, quiet: bool) -> Any:
    if protocol != "published":
        data = open_data(name, cleaning=cleaning, progress=not quiet, **options.given())
        return data if core is None else data.core(core)
    if core is not None or cleaning is not None or options.given():
        raise ParameterError("a published split is taken as it is", "leave out --core, --cleaning and the file options")
    if name not in datasets.names():
        raise ParameterError(f"{name} is no data set, and only they have published splits", "choose another --protocol")
    return datasets.published_split(name, progress=not quiet)


def compared(console: Console, run: Callable[[], Result]) -> Result:
    """Compare, showing in one line of progress the model, its stage, the runs done and the time."""
    with narrated("comparing", not console.quiet):
        return run()


def _print_summary(found: Comparison, console: Console) -> None:
    record = found.record
    shown = max(1, (console.width - 48) // 11)  # columns of metrics beside name, seconds and memory
    settings = {**record["settings"], "metrics": record["settings"]["metrics"][:shown]}
    content = summary_table({**record, "settings": settings}, series_of(record))
    table = Table(content.head[0], box=None, pad_edge=False)
    for head in content.head[1:]:
        table.add_column(head, justify="right")
    errors = []
    for first, *cells in content.rows:
        if cells[0].is_word:
            errors.append(f"{first.text}: {cells[0].text}")
            continue
        table.add_row(first.text, *(f"{cell.text}{cell.mark or ' '}" for cell in cells))
    console.print(lead_sentence(record), markup=False)
    for sentence in further_sentences(record):
        console.print(sentence, markup=False)
    console.print()
    console.print(table)
    console.print(mark_words(record), style="dim")
    for line in errors:
        console.print(line, markup=False)
