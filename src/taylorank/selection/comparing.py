"""Models compared fairly: the same splits, the same budget of tuning, one test each, and tests of significance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.data.tail import knows_order
from taylorank.deprecation import renamed
from taylorank.errors import ParameterError, shown
from taylorank.output import path_of
from taylorank.progress import Show, narrated, report
from taylorank.ranking import Rankable
from taylorank.ranking.protocols import EvaluationProtocol, Prepared
from taylorank.ranking.protocols import protocol as protocol_named
from taylorank.report.record import Record, as_it_was_written, plain, save_record
from taylorank.selection.comparison import Comparison
from taylorank.selection.comparison_record import Data, add_run, has_run, new_record, resumed, training_part
from taylorank.selection.contenders import Contender, Models, contenders
from taylorank.selection.one_run import Plan, Run, make_plan, run_one, tested
from taylorank.selection.per_user import PerUser, Place, kept_path, running_path, save_per_user
from taylorank.selection.spaces import cut_lines
from taylorank.selection.summary import summarise
from taylorank.torch_extra import on_device

# By a protocol's name: what is said where the data has times or an order.
HELD_OUT = {
    "papers": "Held out: random interactions of each user, as in the papers, although their times are known; the "
    'protocol "latest" holds out what came last.',
    "published": "Held out for validation: the last interactions of each user's training part, as their order is "
    "known.",
}


@dataclass(frozen=True)
class CompareProgress:
    """The argument of the callback: which model on which seed is at which stage, and how many runs are done."""

    model: str
    seed: int
    stage: str
    done: int
    total: int


@typed
def compare(
    data: Data,
    models: Models,
    *,
    protocol: str | EvaluationProtocol = "papers",
    seeds: int | Sequence[int] = (0, 1, 2),
    trials: int | None = None,
    seconds: float | None = None,
    metrics: str | Sequence[str] | None = None,
    k: int | Sequence[int] = (10, 20),
    spaces: Mapping[str, Mapping[str, Any]] | None = None,
    file: Place | None = None,
    per_user: bool = False,
    name: str | None = None,
    command: str | None = None,
    callback: Callable[[CompareProgress], object] | None = None,
    device: str | None = None,
    progress: Show = None,
) -> Comparison:
    """Tune, fit and test every model on every seed; return means, intervals, tests against the best, and costs.

    Every seed is a repetition of everything: its own split, tuning, fit, and one test. A model that fails is
    reported with its error, and the others go on.

    Parameters
    ----------
    data
        The interactions; for the protocol "published" the pair (train, test).
    protocol
        How data are held out, by name or as an object: "papers" (random tenths, also where times are known, which the
        record says then), "latest" (what came last), "leave-one-out", "held-out-users", "published".
    models
        Names of `taylorank.registry`, compositions among them, or of peers ("implicit-als", "irspack-ials"), estimators
        (anything with `fit` that is a `ranking.Rankable`), or a mapping from names of your choice to either.
    trials, seconds
        The budget of tuning, which each model has on each seed: fits, seconds, or both; 20 fits if neither is given,
        no tuning with `trials=0`. Models without a space, such as Popularity, need none.
    metrics, k
        What is reported, as in `evaluate`; by default what the protocol reports. Tuning maximises the protocol's
        metric if it is among them, else the first.
    spaces
        Name → space of tuning, in place of the default.
    file
        JSON that is written after every run. If it exists the comparison goes on from there; runs that failed are
        tried again.
    per_user
        Keep each user's values beside `file` (NAME.users.npz), so that models compared later can be tested against
        these.
    name, command
        The name of the data in the report, and the command line that made it.
    device
        "auto", "cpu" or "cuda" in place of each model's own `device`; models without one compute where they always do.
    progress
        Where to show how far it is (`taylorank.progress`): by default on a terminal.

    >>> from taylorank.data import planted
    >>> found = compare(planted(150, 50, interactions=2000), ["ease", "popularity"], seeds=(0,), trials=0)
    >>> found.best, sorted(found.models)
    ('ease', ['ease', 'popularity'])
    """
    evaluation = protocol_named(protocol) if isinstance(protocol, str) else protocol
    if not hasattr(evaluation, "prepare"):
        raise ParameterError(f"protocol={shown(protocol)} is no protocol", "give the name of one, such as papers")
    entries = [replace(one, estimator=on_device(one.estimator, device)) for one in contenders(models, spaces)]
    n_items = training_part(data).n_items
    plan = make_plan(evaluation, metrics=metrics, k=k, trials=trials, seconds=seconds, n_items=n_items)
    record = new_record(data, entries, evaluation, plan, _checked_seeds(seeds), name=name, command=command)
    if notes := _on_what_is_held_out(evaluation, training_part(data)):
        record["notes"] = notes
    values = resumed(record, file)
    with narrated("comparing", progress):
        for seed in record["settings"]["seeds"]:
            missing = [one for one in entries if not has_run(record, one.name, seed)]
            if missing:
                parts = evaluation.prepare(data, seed)
            for one in missing:
                stage = _stages(callback, record, one.label, seed)
                _run_and_save(one, parts, plan, seed, record=record, values=values, file=file, stage=stage)
    with nullcontext() if file is None else as_it_was_written(file):  # of before, if the run was resumed
        record["summary"] = summarise(record, values, known=[record["summary"]])
    result = Comparison(record, values)
    if file is not None:
        result.save(file, per_user=per_user or kept_path(file).exists())
        for place in (running_path(file), *(_journal(file, run["model"], run["seed"]) for run in record["runs"])):
            place.unlink(missing_ok=True)  # a kill may have left any of them
    return result


def _on_what_is_held_out(evaluation: EvaluationProtocol, data: Interactions) -> list[str]:
    """Return a sentence on what was held out of data whose order is known."""
    if evaluation.name not in HELD_OUT or not knows_order(data):
        return []
    return [HELD_OUT[evaluation.name]]


def _run_and_save(
    contender: Contender,
    parts: Prepared,
    plan: Plan,
    seed: int,
    *,
    record: Record,
    values: PerUser,
    file: Place | None,
    stage: Callable[[str], None],
) -> None:
    """Run one model on one seed; add the run to `record` and `values`, and write both to the file."""
    journal = None if file is None else _journal(file, contender.name, seed)
    is_first = seed == record["settings"]["seeds"][0]
    run, found = run_one(
        contender, parts, plan, random_state=seed, journal=journal, with_convergence=is_first, stage=stage
    )
    if found is not None:
        values[contender.name, seed] = found
    _note_cut_rank(record, contender, parts)
    add_run(record, run)
    if file is not None and journal is not None:
        save_per_user(values, running_path(file), record)  # before the record, which marks the run as done
        save_record(record, file)
        journal.unlink(missing_ok=True)
    stage("failed" if run["error"] else "done")


def _journal(file: Place, model: str, seed: int) -> Path:
    """Return where the trials of a run are kept while it is tuned."""
    return path_of(f"{os.fspath(file)}.{model.replace('/', '+')}.{seed}.tuning")


def _note_cut_rank(record: Record, contender: Contender, parts: Prepared) -> None:
    """Note, once for each model, if its rank was fixed and more than the data has."""
    tuned = "factors" in contender.space and record["budget"]["trials"] != 0
    lines = [] if tuned else cut_lines({}, contender.estimator, parts.full_train)
    notes = [f"{contender.label}: {line}." for line in lines]
    if notes:
        record["notes"] = list(dict.fromkeys([*record.get("notes", []), *notes]))


@renamed(seed="random_state")
def compare_fitted(
    data: Interactions,
    fitted: Mapping[str, Rankable],
    *,
    metrics: Sequence[str],
    seconds: Mapping[str, float] | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    bounds: Sequence[str] = (),
    random_state: int = 0,
    name: str | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare models that are fitted already, on one split by the papers' protocol.

    `seconds` and `params` hold, where known, how long fitting and tuning took and which parameters were chosen.
    `bounds` names those that only show how good a ranking can be. The budget of tuning is not known here. `notes` are
    sentences for the reader of the report.
    """
    evaluation = protocol_named("papers")
    entries = [Contender(one, one, model, {}) for one, model in fitted.items()]
    plan = make_plan(evaluation, metrics=metrics, k=10, trials=0, seconds=None, n_items=data.n_items)
    record = new_record(data, entries, evaluation, plan, _checked_seeds([random_state]), name=name, command=command)
    record["budget"] |= {"says": "the models came fitted", "fit_means": "seconds of fitting and choosing"}
    record["notes"] = list(notes)
    parts, values = evaluation.prepare(data, random_state), {}
    for one, model in fitted.items():
        record["models"][one]["is_bound"] = one in bounds
        run: Run = {"model": one, "seed": random_state, "error": None, "tuning": None, "peak_memory_bytes": None}
        run |= {"params": dict((params or {}).get(one, {})), "fit_seconds": (seconds or {}).get(one)}
        measured, values[one, random_state] = tested(model, parts, plan)
        add_run(record, plain(run | measured))
    return Comparison({**record, "summary": summarise(record, values)}, values)


def _checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds as different whole numbers."""
    given = [seeds] if isinstance(seeds, int | np.integer) else list(seeds)
    if not given or len(set(given)) != len(given) or any(int(seed) != seed or seed < 0 for seed in given):
        raise ParameterError(f"seeds={seeds!r}", "give different whole numbers ≥ 0, such as (0, 1, 2)")
    return [int(seed) for seed in given]


def _stages(
    callback: Callable[[CompareProgress], object] | None, record: Record, label: str, seed: int
) -> Callable[[str], None]:
    """Return a function that reports the stage of a run to the callback."""
    done, total = len(record["runs"]), len(record["models"]) * len(record["settings"]["seeds"])

    def stage(text: str) -> None:
        report(f"{label}, seed {seed}: {text}", done=done, total=total)
        if callback is not None:
            callback(CompareProgress(label, seed, text, done, total))

    return stage
