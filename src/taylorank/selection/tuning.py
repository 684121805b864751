"""The best parameters of a model on validation data, within a stated budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from taylorank.checks import typed
from taylorank.data import Interactions, merge, read_interactions
from taylorank.data.frames import Library, frame_of
from taylorank.deprecation import renamed
from taylorank.errors import DataError, ParameterError
from taylorank.metrics import choosing_metric
from taylorank.models.parameters import settled_params
from taylorank.models.recommender import Recommender
from taylorank.models.training_record import TrainingRecord
from taylorank.output import path_of
from taylorank.progress import Show, narrated
from taylorank.registry import MODELS, model_named
from taylorank.selection.advice import advise, budget_lines
from taylorank.selection.attempt import fit_steps
from taylorank.selection.judge import Judge
from taylorank.selection.path_search import path_search
from taylorank.selection.ranges import read_space
from taylorank.selection.shown import trial_columns, tuning_chart, tuning_html, tuning_text
from taylorank.selection.spaces import check_space, cut_lines, cut_model, default_space, described, largest_rank
from taylorank.selection.study import Budget, Study
from taylorank.selection.trial_search import trial_search
from taylorank.selection.trials import Trial, open_trials
from taylorank.torch_extra import on_device

DEFAULT_TRIALS = 20
FIT_OF_BEST = "fit of the best"  # a part of the seconds, of models whose fit has a path
Status = Literal["complete", "interrupted"]


@dataclass(repr=False)
class Tuning:
    """The result of `tune`: the best parameters, the model fitted with them, and how they were found.

    `status` is "complete" if the search ended by itself or with its budget, "interrupted" after Ctrl-C. `budget` is
    what was allowed, `seconds` what it took, `overrun` the seconds beyond it, `unfinished` what it did not allow.
    `refitted` is whether `model` was fitted to train and validation data. `steps` is None, or after how many steps the
    best trial was cut off; the model is that state, or was fitted for as many.
    """

    name: str
    metric: str
    best: dict[str, Any]
    value: float
    trials: list[Trial]
    model: Recommender | None
    seconds: float
    budget: dict[str, float | int | None]
    method: str
    status: Status = "complete"
    refitted: bool = False
    advice: list[str] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)
    steps: int | None = None
    overrun: float = 0.0
    unfinished: list[str] = field(default_factory=list)

    @property
    def fits(self) -> int:
        """How many fits the trials needed: the points of one path share a fit."""
        return len({trial.fit for trial in self.trials})

    def __str__(self) -> str:
        """Return the result on one screen: what was chosen, what it is worth, the best trials, the advice."""
        return tuning_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tuning_html(self)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the trials as a table, in their order: a column for each parameter, then value, users, seconds, …"""
        return frame_of(trial_columns(self), library)

    def plot(self) -> Any:
        """Return a chart (altair) of the trials and the best value so far; needs the extra [report]."""
        return tuning_chart(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the model, as JSON holds it."""
        plain = {name: value for name, value in vars(self).items() if name not in ("model", "trials")}
        return {**plain, "trials": [trial.to_dict() for trial in self.trials]}


@renamed(seed="random_state")
@typed
def tune(
    model: Recommender | type[Recommender] | str,
    train: Interactions,
    valid: Interactions,
    *,
    metric: str = "ndcg@10",
    space: Mapping[str, Any] | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    random_state: int = 0,
    file: str | os.PathLike[str] | None = None,
    seen: Interactions | Sequence[Interactions] | None = None,
    fold_in: Interactions | None = None,
    callback: Callable[[Trial], object] | None = None,
    refit: bool = False,
    device: str | None = None,
    progress: Show = None,
) -> Tuning:
    """Return the parameters in `space` with the highest `metric` on `valid`, fitted to `train`.

    Parameters
    ----------
    model
        A model (its other parameters stay as they are), its class, or its name in the registry.
    space
        {parameter: `tr.Choice((8, 16))` (or a plain list), `tr.Range(0.1, 10, log=True)` or `tr.Int(8, 512)`};
        `selection.SPACES` has a default for each model.
    trials, seconds
        The budget: at most so many fits, at most so long (`refit` counts in). A fit that the seconds cut off
        counts with the best state that it reached; one that has none on the way is ended, but for the first.
        Without either, 20 fits. A model with a path (RG² and RG×, spectral) judges many points on each fit.
    random_state
        Seed of the settings and samples of users. With a budget in trials, the same seed and data give the same trials.
    file
        Where trials are kept. A run that finds its own file there goes on from it.
    seen
        What to leave out of the rankings; the training data by default.
    fold_in
        Histories of validation users who are not in `train`; they are folded in before ranking.
    callback
        Called with every trial; returns True to stop.
    refit
        Fit the best once more, to train and validation data together.
    device
        "auto", "cpu" or "cuda" in place of the model's own `device`; a model without one computes where it always does.

    progress
        Where to show how far it is (`taylorank.progress`): by default on a terminal.

    Ctrl-C ends the search early; the result then has the status "interrupted".

    >>> from taylorank.data import planted
    >>> from taylorank.selection import Choice
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> found = tune("rg2", train, valid, space={"factors": Choice((2, 4, 8))})
    >>> len(found.trials), found.best["factors"] in (2, 4, 8)
    (3, True)
    """
    name, base = _named(model)
    base = on_device(base, device)
    train, valid = read_interactions(train), read_interactions(valid)
    judge = Judge(choosing_metric(metric), valid, seen, fold_in)
    if not judge.users:
        raise DataError("the validation data has no interactions", "split with a larger share for validation")
    chosen = default_space(name, base) if space is None else read_space(space)
    check_space(chosen, base)
    budget = Budget(DEFAULT_TRIALS if trials is None and seconds is None else trials, seconds)
    cut = cut_lines(chosen, base, train)
    base = base if "factors" in chosen else cut_model(base, train)
    study = Study(base, train, judge, chosen, budget, random_state, refit=refit, callback=callback)
    if file is not None:
        study.file = path_of(file)
        study.from_file = open_trials(study.file, _header(name, study))
    with narrated(f"tuning {name}", progress):
        return _searched(study, name, cut)


def _named(model: Recommender | type[Recommender] | str) -> tuple[str, Recommender]:
    """Return the registry name of a model (of another, its class's name) and an instance."""
    base = model_named(model) if isinstance(model, str) else model() if isinstance(model, type) else model
    if not (hasattr(base, "fit") and hasattr(base, "get_params") and hasattr(base, "set_params")):
        raise ParameterError(f"{model!r} is not a model", f"give a model, or one of {', '.join(MODELS)}")
    names = [name for name, kind in MODELS.items() if type(base) is kind]
    return (names[0] if names else type(base).__name__), base


def _header(name: str, study: Study) -> dict[str, Any]:
    """What must be the same for the trials of a file to be those of this run."""
    judge, fixed = study.judge, settled_params(study.base)
    masks = judge.seen if isinstance(judge.seen, Sequence) else [judge.seen]
    return {
        "model": name,
        "fixed": {key: fixed[key] for key in fixed if key not in study.space and key != "num_threads"},
        "metric": str(judge.metric),
        "space": described(study.space),
        "seed": study.random_state,
        "train": TrainingRecord(study.train).fingerprint,
        "valid": TrainingRecord(judge.valid).fingerprint,
        "seen": [TrainingRecord(study.train if mask is None else mask).fingerprint for mask in masks],
        "fold_in": None if judge.fold_in is None else TrainingRecord(judge.fold_in).fingerprint,
    }


def _searched(study: Study, name: str, cut: list[str]) -> Tuning:
    """Search, then fit what is still to be fitted; on Ctrl-C return what was found until then.

    `cut` is the advice on ranks that the data does not have.
    """
    search = path_search if getattr(study.base, "has_path", False) else trial_search
    method, searched, refitted = "interrupted", None, False
    status: Status = "interrupted"
    try:
        method = search(study)
        searched = time.perf_counter()
        refitted = _fit_best(study)
        status = "complete"
    except KeyboardInterrupt:
        if study.best is None:
            raise
    best, ended = study.best, time.perf_counter()
    assert best is not None
    assert best.value is not None
    searched, overrun = searched or ended, study.budget.overrun
    return Tuning(
        name=name,
        metric=str(study.judge.metric),
        best=best.params,
        value=best.value,
        trials=study.trials,
        model=study.model,
        seconds=ended - study.budget.began,
        budget={"trials": study.budget.trials, "seconds": study.budget.seconds},
        method=method,
        status=status,
        refitted=refitted,
        advice=[
            *advise(
                study.space,
                best.params,
                study.trials,
                study.model,
                random_state=study.random_state,
                largest=largest_rank(study.train),
            ),
            *cut,
            *budget_lines(study.unfinished, overrun=overrun, seconds=study.budget.seconds),
        ],
        parts={
            "search": round(searched - study.budget.began, 3),
            "last fit": round(ended - searched, 3),
            **(
                {FIT_OF_BEST: round(study.fitting[best.fit], 3)}
                if best.fit in study.fitting and best.key not in study.from_file
                else {}
            ),
        },
        steps=best.steps,
        overrun=round(overrun, 3),
        unfinished=study.unfinished,
    )


def _fit_best(study: Study) -> bool:
    """Fit the best to all data if that is wanted, or to train if the trial came from the file; return which."""
    if study.best is None:
        notes = [trial.note for trial in study.trials if trial.note]
        raise DataError(
            f"none of {len(study.trials)} trials gave a value ({notes[0] if notes else 'no reason given'})",
            "fix that, or search another space",
        )
    best = study.best
    if study.refit:
        study.model = None  # makes room
        study.model = fit_steps(study.new_model(best.params), merge(study.train, study.judge.valid), best.steps)
    elif study.model is None:
        study.model = fit_steps(study.new_model(best.params), study.train, best.steps)
    return study.refit
