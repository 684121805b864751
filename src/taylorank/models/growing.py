"""Fitting, and what comes after it: users who were not there, and data that keeps coming."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np

from taylorank.checks import check_whole
from taylorank.data import Interactions, merge, read_interactions
from taylorank.errors import DataError, ParameterError
from taylorank.kernels.threads import on_own_threads
from taylorank.models.checkpoint import Checkpoint, open_checkpoint
from taylorank.models.factor import FactorModel, Floats
from taylorank.models.fitting import FitProgress, Watch, check_metric
from taylorank.models.histories import over_items, training_data
from taylorank.models.parameters import check_parameters


class GrowingModel(FactorModel):
    """A factor model that solves for one side given the other.

    Subclasses give `_solve` (all of a fit), `_fold` (P given Q) and `_sweep` (some sweeps from a given Q).
    """

    factors: int
    iterations: int
    tolerance: float
    random_state: int
    num_threads: int | None

    def _check(self, data: Interactions) -> None:
        """Refuse parameters that this data does not allow."""

    def _solve(self, data: Interactions, watch: Watch, start: Any) -> tuple[Floats, Floats]:
        raise AttributeError(f"{type(self).__name__} has no solver")

    def _fold(self, data: Interactions) -> Floats:
        raise AttributeError(f"{type(self).__name__} has no fold-in")

    def _sweep(self, data: Interactions, item_factors: Floats, sweeps: int) -> tuple[Floats, Floats]:
        raise AttributeError(f"{type(self).__name__} has no sweeps")

    @on_own_threads
    def fit(
        self,
        train: Any,
        valid: Interactions | None = None,
        callback: Callable[[FitProgress], object] | None = None,
        *,
        metric: str = "ndcg@10",
        patience: int = 3,
        start: FactorModel | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` hears of every sweep or pass (`FitProgress`) and stops the fit by returning True. With `valid` the
        `metric` is measured after each sweep; ALS then stops when it has not improved for `patience` sweeps and keeps
        the best. `start`, a fitted model, is where ALS begins: its item factors, where it knows the item. If the fit is
        interrupted (Ctrl-C), `checkpoint` is the file that it leaves; the same call then goes on from there and ends
        with the same bits as a fit that was never interrupted. A fit that does not end leaves the model as it was.
        """
        data = training_data(train)
        held_out = None if valid is None else read_interactions(valid)
        check_parameters(self)
        self._check(data)
        check_metric(metric)
        kept = self._checkpoint(checkpoint, data, held_out, metric)
        watch = Watch(valid=held_out, metric=metric, patience=patience, callback=callback, checkpoint=kept)
        with as_before_on_failure(self):
            self.train_ = data
            with kept or nullcontext():
                begin = kept.state if kept is not None and kept.state is not None else self._factors_from(start, data)
                self.user_factors_, self.item_factors_ = self._solve(data, watch, begin)
            if "factors" in watch.best:
                self.user_factors_, self.item_factors_ = watch.best["factors"]
            elif held_out is not None:
                watch.history.append({**watch.history[-1], "metric": watch.measure(self)})
            self.history_ = watch.history
        return self

    def _checkpoint(
        self, path: str | Path | None, data: Interactions, valid: Interactions | None, metric: str
    ) -> Checkpoint | None:
        if path is None:
            return None
        return open_checkpoint(path, self, data, valid=valid, metric=metric)

    def _factors_from(self, start: FactorModel | None, data: Interactions) -> Any:
        """Q to begin from, over the items of `data`; items that `start` does not know begin at 0."""
        if start is None:
            return None
        if not isinstance(start, FactorModel):
            raise ParameterError(f"start={start!r} has no item factors", "give a fitted factor model, such as IALS")
        if start.item_factors.shape[1] != self.factors:
            raise ParameterError(
                f"start has {start.item_factors.shape[1]} factors, this model {self.factors}", "make them equal"
            )
        position = start.items.positions(data.item_ids)
        if not (position >= 0).any():  # ALS would stay at 0 for ever
            raise DataError("start knows none of these items", "check that both use the same ids, or begin without it")
        known = np.where(position >= 0, position, 0)
        return np.where((position >= 0)[:, None], start.item_factors[known], start.item_factors.dtype.type(0))

    @on_own_threads
    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, given what they met: exact given the item factors, nothing refitted.

        `histories` is `Interactions`, or anything that `read_interactions` reads; unknown items are ignored.
        """
        data = over_items(read_interactions(histories), self.items)
        model = self._for_others(data)
        model.user_factors_ = self._fold(data)
        return model

    @on_own_threads
    def partial_fit(self, data: Any, *, sweeps: int = 1) -> Self:
        """Take in more data: new users, new items, more of known ones; a fit from scratch is not needed.

        The data is merged with what was there (of repeated pairs the new one counts), everything that the objective
        derives from it (proposal q, context weights, popularity) is computed anew over all of it, λ stays; then
        `sweeps` exact sweeps begin from the item factors (new items from 0), and the users are folded in once more.
        """
        check_whole(sweeps, "sweeps")
        if not self._trained_on.is_of(self.seen):
            raise DataError(
                "this model no longer has the data that it was fitted to",
                "grow the fitted one, saved with its seen items",
            )
        new = read_interactions(data)
        merged = merge(self.seen, new)
        start = self._factors_from(self, merged)
        self._check(merged)
        with as_before_on_failure(self):
            _, self.item_factors_ = self._sweep(merged, start, sweeps)
            self.train_ = merged
            self.user_factors_ = self._fold(merged)
        return self

    def _snapshot(self, user_factors: Floats, item_factors: Floats) -> Self:
        """Return this model with other factors."""
        model = copy.copy(self)
        model.user_factors_, model.item_factors_ = user_factors, item_factors
        return model


@contextmanager
def as_before_on_failure(model: FactorModel) -> Iterator[None]:
    """Give back what was learned before if the block fails or is interrupted, and not half of each fit."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
