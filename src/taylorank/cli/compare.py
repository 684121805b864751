"""`taylorank compare`: which model is best on some data, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from taylorank.cli.options import NO_OPTIONS, FileOptions, command_line
from taylorank.data import datasets
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.output import output_folder
from taylorank.ranking.protocol import PROTOCOLS
from taylorank.ranking.protocol import protocol as protocol_named
from taylorank.report import require_extra, write_report
from taylorank.report.series import series_of
from taylorank.report.tables import summary_table
from taylorank.report.words import further_sentences, lead_sentence
from taylorank.selection import CompareProgress, Comparison
from taylorank.selection import compare as compare_models
from taylorank.selection.contenders import contenders, known_names
from taylorank.selection.per_user import kept_path

NAMES = ", ".join(known_names())
Result = TypeVar("Result")


def compare(
    data: Annotated[str, Parameter(help="A file, or a name from `taylorank datasets list`.")],
    /,
    *,
    models: Annotated[
        str, Parameter(help=f"Models with commas between: {NAMES}; also loss/backbone/sampler.")
    ] = "rg2,ials,ease,popularity",
    protocol: Annotated[str, Parameter(help=f"How to part the data: {', '.join(PROTOCOLS)}.")] = "papers",
    trials: Annotated[int | None, Parameter(help="Fits that tuning may make, per model and seed; 0: none.")] = None,
    seconds: Annotated[float | None, Parameter(help="Seconds that tuning may take, per model and seed.")] = None,
    seeds: Annotated[int, Parameter(help="Repetitions of everything, each with another split.")] = 3,
    metrics: Annotated[str | None, Parameter(help="Metrics with commas between; else the protocol's.")] = None,
    k: Annotated[str, Parameter(help="Cutoffs of metrics named without one.")] = "10,20",
    json: Annotated[Path | None, Parameter(help="File for all results; the same command goes on from it.")] = None,
    per_user: Annotated[
        bool, Parameter(help="Keep each user's values beside --json, to test later models against.", negative=())
    ] = False,
    report: Annotated[Path | None, Parameter(help="File for the report (HTML).")] = None,
    core: Annotated[int | None, Parameter(help="First keep users and items with this many interactions.")] = None,
    cleaning: Annotated[str | None, Parameter(help="For data sets: raw, paper, …")] = None,
    options: FileOptions = NO_OPTIONS,
    seed: Annotated[int, Parameter(help="The first seed.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Tune, fit and test models on the same splits with the same budget; print a table, write JSON and a report.

    Without --trials and --seconds every model has 20 fits to tune, on every seed. Differences are tested over users. A
    model that fails is named in the table, and the others go on. Ctrl-C loses nothing that --json holds.

    Example: taylorank compare ml-1m --cleaning paper --models rg2,ials,ease,popularity --trials 20 --seeds 3
    --json ml-1m.json --report ml-1m.html
    """
    console = console_of(quiet)
    protocol_named(protocol)
    chosen = words(models, "--models")
    contenders(chosen)  # a wrong name is found before the data is read
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} repeats nothing", "give 1 or more")
    if per_user and json is None:
        raise ParameterError("--per-user has no file to stand beside", "give --json too")
    if report is not None:
        require_extra()
    with ExitStack() as folders:
        for path in (json, report):
            if path is not None:
                folders.enter_context(output_folder(path.parent))
        given = _data(data, protocol, core, cleaning, options)
        how: dict[str, Any] = {
            "protocol": protocol,
            "seeds": range(seed, seed + seeds),
            "trials": trials,
            "seconds": seconds,
            "metrics": None if metrics is None else words(metrics, "--metrics"),
            "k": _cutoffs(k),
            "file": json,
            "per_user": per_user,
            "name": Path(data).name,
            "command": command_line(),
        }

        def run(**more: Any) -> Comparison:
            return compare_models(given, chosen, **how, **more)

        found = compared(console, run, total=len(chosen) * seeds)
        if report is not None:
            write_report(found.record, report)
    _tell(found, console)
    for path in (json, kept_path(json) if json is not None and per_user else None, report):
        if path is not None:
            console.print(f"written: {path}")


def _data(name: str, protocol: str, core: int | None, cleaning: str | None, options: FileOptions) -> Any:
    if protocol != "published":
        data = open_data(name, protocol=cleaning, **options.given())
        return data if core is None else data.core(core)
    if core is not None or cleaning is not None or options.given():
        raise ParameterError("a published split is taken as it is", "leave out --core, --cleaning and read options")
    if name not in datasets.names():
        raise ParameterError(f"{name} is no data set", "for files choose another --protocol")
    return datasets.published_split(name)


def console_of(quiet: bool) -> Console:
    """Return where a comparison is shown: wide enough for its table."""
    return Console(quiet=quiet, highlight=False, soft_wrap=True, width=max(80, get_terminal_size().columns))


def compared(console: Console, run: Callable[..., Result], *, total: int) -> Result:
    """Compare with a line of progress: who is at what, how many runs are done, the time."""
    shown = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*shown, console=console, transient=True, disable=not console.is_terminal) as progress:
        line = progress.add_task("comparing", total=total)

        def told(now: CompareProgress) -> None:
            is_over = now.stage in ("done", "failed")
            text = f"{now.model}, seed {now.seed}: {now.stage}"
            progress.update(line, description=text, completed=now.done + is_over)

        return run(callback=told)


def _tell(found: Comparison, console: Console) -> None:
    record = found.record
    fitting = max(1, (console.width - 48) // 11)  # columns of metrics beside name, seconds and memory
    settings = {**record["settings"], "metrics": record["settings"]["metrics"][:fitting]}
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
    console.print("† significantly below the best: p < 0.05 over users, Holm's correction", style="dim")
    for line in errors:
        console.print(line, markup=False)


def words(text: str, option: str) -> list[str]:
    """Return the words between commas."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise ParameterError(f"{option} {text!r} names nothing", "write names with commas between")
    return found


def _cutoffs(text: str) -> list[int]:
    try:
        return [int(word) for word in words(text, "--k")]
    except ValueError:
        raise ParameterError(f"--k {text!r} holds no cutoffs", "write whole numbers, such as 10,20") from None
