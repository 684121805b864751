"""Fitting factors P (M, K) and Q (N, K) by a solver, and continuing a fit with new users, new items and more data.

Functions that factor models have as their methods. A model gives `_solve` (all of a fit), `_sweep` (some sweeps from a
given Q) and `_check` (refuse parameters that the data does not allow).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from taylorank.address_space import check_memory
from taylorank.checks import check_whole, typed
from taylorank.data import Interactions, merge, read_interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels.arrays import to_numpy
from taylorank.kernels.thread_limit import on_own_threads
from taylorank.models.checkpoint import open_checkpoint
from taylorank.models.factor import FactorModel, Floats
from taylorank.models.fitting import FitMonitor, FitProgress, Step, as_before_on_failure
from taylorank.models.histories import training_data
from taylorank.models.parameters import check_parameters
from taylorank.models.recommender import Recommender
from taylorank.progress import Show, narrated_fit, narrated_update, report
from taylorank.solvers import AlsSweep

Model = TypeVar("Model", bound=Recommender)


@on_own_threads
@narrated_fit
@typed
def fit_factors(
    self: Model,
    train: Any,
    valid: Interactions | None = None,
    callback: Callable[[FitProgress], object] | None = None,
    *,
    metric: str = "ndcg@10",
    patience: int = 3,
    start: Recommender | None = None,
    checkpoint: str | Path | None = None,
    progress: Show = None,
) -> Model:
    """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

    `callback` is called with `FitProgress` after every sweep or pass and stops the fit by returning True. With `valid`
    the `metric` is measured after each sweep; ALS then stops when it has not improved for `patience` sweeps and keeps
    the best. `start`, a fitted model, is where ALS begins: its item factors, where it knows the item. If the fit is
    interrupted (Ctrl-C), `checkpoint` is the file that it leaves; the same call then goes on from there and ends with
    the same bits as a fit that was never interrupted. A fit that does not end leaves the model as it was.
    `progress` is where to show how far it is (`taylorank.progress`): by default on a terminal.
    """
    model: Any = self
    data = training_data(train)
    held_out = None if valid is None else read_interactions(valid)
    check_parameters(self)
    model._check(data)
    check_factors(rank_for(model, data), data)
    kept = None if checkpoint is None else open_checkpoint(checkpoint, self, data, valid=held_out, metric=metric)
    monitor = FitMonitor(valid=held_out, metric=metric, patience=patience, callback=callback, checkpoint=kept)
    with as_before_on_failure(self):
        self.train_ = data
        with kept or nullcontext():
            begin = kept.state if kept is not None and kept.state is not None else factors_from(start, self, data)
            model.user_factors_, model.item_factors_ = model._solve(data, monitor, begin)
        if monitor.best is not None:
            model.user_factors_, model.item_factors_ = monitor.best.arrays["users"], monitor.best.arrays["items"]
        elif held_out is not None:
            monitor.history.append({**monitor.history[-1], "metric": monitor.measure(self)})
        model.history_ = monitor.history
    return self


@on_own_threads
@typed
@narrated_update
def partial_fit_factors(self: Model, data: Any, y: None = None, *, sweeps: int = 1, progress: Show = None) -> Model:
    """Update the model with more data: new users, new items, more of known ones; a fit from scratch is not needed.

    The data is merged with what was there (of repeated pairs the new one counts), everything that the objective
    derives from it (proposal q, context weights, popularity) is computed anew over all of it, λ stays; then `sweeps`
    exact sweeps begin from the item factors (new items from 0), and the users are folded in once more. `y` is there for
    scikit-learn, and not used. `progress` is as in `fit`.
    """
    model: Any = self
    check_whole(sweeps, "sweeps")
    if not self._trained_on.is_of(self.seen):
        raise DataError(
            "this model no longer has the data that it was fitted to",
            "call partial_fit on the fitted one, saved with its seen items",
        )
    report("merging the data")
    merged = merge(self.seen, read_interactions(data))
    start = factors_from(self, self, merged)
    model._check(merged)
    with as_before_on_failure(self):
        report("sweeping")
        _, model.item_factors_ = model._sweep(
            merged, start, sweeps, callback=lambda done: report("sweeping", done=done.sweep, total=sweeps)
        )
        report("folding the users in")
        self.train_ = merged
        model.user_factors_ = np.zeros((merged.n_users, model.item_factors_.shape[1]), model.item_factors_.dtype)
        model.user_factors_ = self.ranker.for_histories(merged).vectors.users  # type: ignore[union-attr]
    return self


def factors_from(start: Any, model: Any, data: Interactions) -> Floats | None:
    """Return Q to begin from, over the items of `data`; items that `start` does not know begin at 0."""
    if start is None:
        return None
    factors = item_factors_of(start)
    wanted = factors.shape[1] if start is model else rank_for(model, data)
    if factors.shape[1] != wanted:
        raise ParameterError(f"start has {factors.shape[1]} factors, this model {wanted}", "make them equal")
    position = start.items.positions(data.item_ids)
    if not (position >= 0).any():  # ALS would stay at 0
        raise DataError("start knows none of these items", "check that both use the same ids, or begin without it")
    known = np.where(position >= 0, position, 0)
    return np.where((position >= 0)[:, None], factors[known], factors.dtype.type(0))


def rank_for(model: Any, data: Interactions) -> int:
    """Return the rank of a fit of a factor model to `data`, which may be left to the size of the data."""
    return int(model.rank_for(data) if hasattr(model, "rank_for") else model.factors)


def check_factors(rank: int, data: Interactions) -> None:
    """Refuse factors, or the systems of their rank, that memory does not hold."""
    size = 4 * rank * (data.n_users + data.n_items) + 8 * rank**2
    check_memory(size, f"a model of factors={rank}", "give fewer factors")


def settled_for(model: Any, data: Interactions) -> dict[str, Any]:
    """Return the parameters of a model; of one that leaves some to the data, as they will be for `data`."""
    params: dict[str, Any] = model.settled_for(data) if hasattr(model, "settled_for") else model.get_params()
    return params


def item_factors_of(start: Any) -> Floats:
    """Return Q of a fitted factor model; anything else is refused."""
    if not isinstance(start, FactorModel):
        raise ParameterError(f"start={start!r} has no item factors", "give a fitted factor model, such as IALS")
    return start.item_factors


def with_factors(model: Model, factors: tuple[Floats, Floats]) -> Model:
    """Return this model with other factors."""
    other: Any = copy.copy(model)
    other.user_factors_, other.item_factors_ = factors
    return other  # type: ignore[no-any-return]


def sweep_step(model: Recommender, sweep: AlsSweep, *, with_loss: bool) -> Step:
    """Return a sweep of ALS as a step for the monitor."""
    return Step(
        sweep.sweep,
        loss_of=lambda: sweep.loss,
        snapshot=lambda: with_factors(model, sweep.factors),
        arrays=lambda: dict(zip(("users", "items"), map(to_numpy, sweep.factors), strict=True)),
        with_loss=with_loss,
    )
