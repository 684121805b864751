"""`taylorank tune`: the best parameters of a model, and the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

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
)
from taylorank.cli.results import Json, check_writable, text_console, write_json
from taylorank.cli.saving import KeepTeacher, save_model
from taylorank.cli.space_option import SpaceOption, space_of
from taylorank.cli.tables import print_table
from taylorank.data import Interactions
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.registry import MODELS, model_named
from taylorank.selection import Tuning, hold_back
from taylorank.selection import tune as search
from taylorank.selection.shown import effort_words, params_words, ranked, short, telling
from taylorank.torch_extra import on_device

SHOWN = 10


def tune(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    model: Annotated[str, Parameter(help=f"Model to tune: {', '.join(MODELS)}; or loss/backbone/sampler.")] = "rg2",
    metric: Annotated[str, Parameter(help="Metric to maximise: ndcg@10, recall@20, …")] = "ndcg@10",
    space: SpaceOption = None,
    trials: Annotated[
        int | None, Parameter(help="Maximum number of fits. [default: 20 if --seconds is not given]")
    ] = None,
    seconds: Annotated[float | None, Parameter(help="Maximum time in seconds, the last fit included.")] = None,
    valid: Annotated[float, Parameter(help="Share of each user's interactions held out for validation.")] = 0.1,
    hold_out: HoldOutOption = None,
    device: Device = None,
    file: Annotated[
        Path | None, Parameter(help="File that keeps the trials; the same command continues from it.")
    ] = None,
    out: Annotated[Path | None, Parameter(help="Fit the best model to all of DATA and write it to this file.")] = None,
    keep_teacher: KeepTeacher = False,
    json: Json = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Search for a model's best parameters on validation data.

    Part of each user's interactions is held out for validation. Candidates
    are fitted to the rest and evaluated on that part. Ctrl-C ends the search
    and shows what was found so far.

    Example: taylorank tune ml-1m --cleaning paper --seconds 60 --out model.tr

    Example: taylorank tune log.csv --model ials --file trials.jsonl --out ials.tr

    Example: taylorank tune log.csv --space factors=64,128
    """
    unfitted = on_device(model_named(model), device)  # a wrong name or device is found before the data is read
    wanted = None if space is None else space_of(space, unfitted)
    if not 0 < valid < 1:
        raise ParameterError(f"--valid {valid} is not a share", "give a number between 0 and 1, such as 0.1")
    console = text_console(quiet, json)
    check_writable(file, out, json)
    interactions = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
    interactions = interactions if core is None else interactions.core(core)
    console.print(repr(interactions), markup=False)
    held = hold_back(interactions, valid, hold_out=hold_out, random_state=seed)
    console.print(held.line, markup=False)
    limits: dict[str, Any] = {"trials": trials, "seconds": seconds, "random_state": seed, "file": file}
    how = {"metric": metric, "refit": out is not None, "device": device, "space": wanted}
    found = _searched(model, held.train, held.valid, console, **how, **limits)
    _print_found(found, console)
    _write(found, out, json, console, keep_teacher=keep_teacher)


def _searched(name: str, train: Interactions, valid: Interactions, console: Console, **how: Any) -> Tuning:
    """Tune with a line of progress: how many trials, the best so far, the time."""
    return search(name, train, valid, progress=not console.quiet, **how)


def _print_found(found: Tuning, console: Console) -> None:
    """Print what was chosen, the best trials, how they were found, and the advice."""
    console.print(f"chosen: {params_words(found.best) or 'its own parameters'}", markup=False)
    best = ranked(found)[:SHOWN]
    columns = {found.metric: ["" if trial.value is None else f"{trial.value:.4f}" for trial in best]}
    columns |= {name: [short(trial.params.get(name)) for trial in best] for name in telling(best)}
    facts: dict[str, list[str]] = {
        "users": [f"{trial.users:,}" for trial in best],
        "seconds": [f"{trial.seconds:.2f}" for trial in best],
        "status": [trial.status for trial in best],
    }
    columns |= {name: cells for name, cells in facts.items() if len(set(cells)) > 1}  # else they tell nothing
    print_table(list(columns), list(zip(*columns.values(), strict=True)), console)
    ending = "interrupted; " if found.status == "interrupted" else ""
    console.print(f"{ending}{effort_words(found)}")
    for line in found.advice:
        console.print(f"- {line}", markup=False)


def _write(found: Tuning, out: Path | None, json: Path | None, console: Console, *, keep_teacher: bool) -> None:
    if json is not None:
        write_json(found.to_dict(), json, console)
    if out is not None and found.status == "interrupted":
        console.print("no model was written, because the search was interrupted")
    elif out is not None:
        assert found.model is not None
        save_model(found.model, out, console, keep_teacher=keep_teacher)
        console.print(f"written: {out}")
