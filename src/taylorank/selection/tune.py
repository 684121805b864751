"""The best parameters of a model on validation data, within a stated budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from taylorank.data import Interactions, merge
from taylorank.errors import DataError, ParameterError
from taylorank.models.parameters import settled_params
from taylorank.models.recommender import Recommender
from taylorank.models.training_record import TrainingRecord
from taylorank.registry import MODELS, model_named
from taylorank.selection.advice import advise
from taylorank.selection.journal import Journal
from taylorank.selection.judge import Judge, Metric
from taylorank.selection.neural_space import neural_space
from taylorank.selection.path_search import has_path, path_search
from taylorank.selection.space import SPACES, Choice, Range, Space, described
from taylorank.selection.study import Budget, Study
from taylorank.selection.trial import Trial, Tuning
from taylorank.selection.trial_search import trial_search
from taylorank.training import Neural

DEFAULT_TRIALS = 20


def tune(
    model: Recommender | type[Recommender] | str,
    train: Interactions,
    valid: Interactions,
    *,
    metric: str = "ndcg@10",
    space: Space | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
    seen: Interactions | Sequence[Interactions] | None = None,
    fold_in: Interactions | None = None,
    callback: Callable[[Trial], object] | None = None,
    refit: bool = False,
) -> Tuning:
    """Return the parameters in `space` with the highest `metric` on `valid`, fitted to `train`.

    Parameters
    ----------
    model
        A model (its other parameters stay as they are), its class, or its name in the registry.
    space
        {parameter: Range or Choice}; `SPACES` has a default for each model.
    trials, seconds
        The budget: at most so many fits, at most so long (the last fit may end a little later; `refit` counts in).
        Without either, 20 fits. A model with a path (RG² and RG×, spectral) judges many points on each fit.
    seed
        Draws settings and samples of users. With a budget in trials, the same seed and data give the same trials.
    file
        Where trials are kept. A run that finds its own file there goes on from it.
    seen
        What to leave out of the rankings; the training data by default.
    fold_in
        What models are shown of validation users who are not in `train`, before they rank for them.
    callback
        Told every trial; returns True to stop.
    refit
        Fit the best once more, to train and validation data together.

    Ctrl-C ends the search early; the result then has the status "interrupted".

    >>> from taylorank.data import planted
    >>> from taylorank.selection import Choice
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> found = tune("rg2", train, valid, space={"factors": Choice((2, 4, 8))})
    >>> len(found.trials), found.best["factors"] in (2, 4, 8)
    (3, True)
    """
    name, base = resolve(model)
    chosen = _checked_space(name, base, space)
    judge = Judge(Metric.named(metric), valid, seen, fold_in)
    if not judge.users:
        raise DataError("the validation data has no interactions", "split with a larger share for validation")
    budget = Budget(DEFAULT_TRIALS if trials is None and seconds is None else trials, seconds)
    header = _header(name, base, train, judge, chosen, seed)
    study = Study(base, train, judge, chosen, budget, Journal(file, header), seed, callback, refit=refit)
    status: Literal["complete", "interrupted"] = "complete"
    search = path_search if has_path(base) else trial_search
    method = "interrupted"
    try:
        method = search(study)
    except KeyboardInterrupt:
        status = "interrupted"
    return _result(study, name=name, method=method, status=status)


def _result(study: Study, *, name: str, method: str, status: Literal["complete", "interrupted"]) -> Tuning:
    """Fit what is still to be fitted and say what was found."""
    searched = time.perf_counter()
    best = study.best
    if best is None or best.value is None:
        raise _nothing(study, interrupted=status == "interrupted")
    refitted = False
    if status == "complete":
        try:
            refitted = _last_fit(study, best)
        except KeyboardInterrupt:
            status = "interrupted"
    ended = time.perf_counter()
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
        advice=advise(study.space, best.params, study.trials, study.model, seed=study.seed),
        parts={"search": round(searched - study.budget.began, 3), "last fit": round(ended - searched, 3)},
    )


def _last_fit(study: Study, best: Trial) -> bool:
    """Fit the best to all data if that is wanted, or to train if the trial came from the file; say which."""
    if study.refit:
        study.model = None  # makes room
        study.model = study.new_model(best.params).fit(merge(study.train, study.judge.valid))
    elif study.model is None:
        study.model = study.new_model(best.params).fit(study.train)
    return study.refit


def resolve(model: Recommender | type[Recommender] | str) -> tuple[str, Recommender]:
    """Return the registry name of a model (of another, its class's name) and an instance."""
    base = model_named(model) if isinstance(model, str) else model() if isinstance(model, type) else model
    if not (hasattr(base, "fit") and hasattr(base, "get_params") and hasattr(base, "set_params")):
        raise ParameterError(f"{model!r} is not a model", f"give a model, or one of {', '.join(MODELS)}")
    names = [name for name, kind in MODELS.items() if type(base) is kind]
    return (names[0] if names else type(base).__name__), base


def _checked_space(name: str, base: Recommender, space: Space | None) -> Space:
    own = base.get_params()
    if space is None and isinstance(base, Neural):
        return neural_space(base)
    if space is None:
        if name not in SPACES:
            raise ParameterError(f"nobody has said where to search for {name}", "give space={parameter: Range(…), …}")
        return {parameter: part for parameter, part in SPACES[name].items() if parameter in own}
    unknown = [parameter for parameter in space if parameter not in own]
    if unknown:
        raise ParameterError(f"{name} has no parameter {unknown[0]!r}", f"its parameters: {', '.join(own) or 'none'}")
    for parameter, part in space.items():
        if not isinstance(part, Range | Choice):
            raise ParameterError(f"space has {part!r} for {parameter}", "write Choice((…)) or Range(low, high)")
    return dict(space)


def _header(name: str, base: Recommender, train: Interactions, judge: Judge, space: Space, seed: int) -> dict[str, Any]:
    """What must be the same for the trials of a file to be those of this run."""
    masks = judge.seen if isinstance(judge.seen, Sequence) else [judge.seen]
    return {
        "model": name,
        "fixed": {k: value for k, value in settled_params(base).items() if k not in space and k != "num_threads"},
        "metric": str(judge.metric),
        "space": described(space),
        "seed": seed,
        "train": TrainingRecord(train).fingerprint,
        "valid": TrainingRecord(judge.valid).fingerprint,
        "seen": [TrainingRecord(train if mask is None else mask).fingerprint for mask in masks],
        "fold_in": None if judge.fold_in is None else TrainingRecord(judge.fold_in).fingerprint,
    }


def _nothing(study: Study, *, interrupted: bool) -> BaseException:
    if interrupted:
        return KeyboardInterrupt()  # before there was anything to return
    notes = [trial.note for trial in study.trials if trial.note]
    return DataError(
        f"none of {len(study.trials)} trials gave a value ({notes[0] if notes else 'no reason given'})",
        "mend that, or search elsewhere",
    )
