"""What happens around a solver: progress, early stopping on validation data, and a file to go on from."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.metrics import choosing_metric
from taylorank.models.checkpoint import Checkpoint
from taylorank.ranking.evaluate import evaluate
from taylorank.ranking.scorer import Scorer
from taylorank.solvers import AlsSweep, Progress

Snapshot = Callable[[Any, Any], Scorer]  # (P, Q) → the model with these factors


@dataclass(frozen=True, eq=False)
class FitProgress:
    """What the callback of `fit` is told after each step; it stops the fit by returning True."""

    step: int  # sweeps, passes over the data, epochs, or columns of EASE
    seconds: float  # in the solver, without evaluation
    metric: float | None = None  # on validation data, where there is some
    residual: float | None = None  # spectral: the largest, over σ₁
    loss_of: Callable[[], float] | None = None
    snapshot: Callable[[], Scorer] | None = None

    @property
    def loss(self) -> float | None:
        """The loss after this step, computed when asked for; the spectral solver has none on the way."""
        return None if self.loss_of is None else self.loss_of()

    def model(self) -> Scorer | None:
        """Return the model as it is after this sweep; the spectral solver has none on the way."""
        return None if self.snapshot is None else self.snapshot()


def check_metric(metric: str) -> None:
    """Refuse what is no metric with a cutoff, and one whose highest value is not the best."""
    choosing_metric(metric)


class Watch:
    """Follows one fit: measures on validation data, keeps the best factors, writes checkpoints, tells the callback.

    With validation data the fit stops when the metric has not improved for `patience` sweeps, and the best sweep is
    what is kept.
    """

    def __init__(
        self,
        *,
        valid: Interactions | None,
        metric: str,
        patience: int,
        callback: Callable[[FitProgress], object] | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        check_whole(patience, "patience", remedy="give the sweeps to wait, such as 3")
        self.valid, self.metric, self.patience = valid, metric, patience
        self.callback, self.checkpoint = callback, checkpoint
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {}
        self.began, self.measuring = time.perf_counter(), 0.0
        if checkpoint is not None:
            self.history, self.best = list(checkpoint.history), checkpoint.best

    def after_sweep(self, sweep: AlsSweep, snapshot: Snapshot, *, with_loss: bool) -> bool:
        """Record a sweep; return whether to stop."""
        record: dict[str, float] = {"step": sweep.sweep, "seconds": self._seconds()}
        if with_loss:
            record["loss"] = sweep.loss
        metric = None
        if self.valid is not None:
            metric = record["metric"] = self.measure(snapshot(*sweep.factors))
            if metric > self.best.get("metric", -1.0):
                self.best = {"metric": metric, "step": sweep.sweep, "factors": sweep.factors}
        self.history.append(record)
        told = FitProgress(
            sweep.sweep,
            record["seconds"],
            metric,
            loss_of=lambda: sweep.loss,
            snapshot=lambda: snapshot(*sweep.factors),
        )
        return self._tell(told) or (metric is not None and sweep.sweep - self.best.get("step", 0) >= self.patience)

    def keep(self, sweep: AlsSweep, *, with_loss: bool) -> None:
        """Remember a sweep that another follows; one whose callback is interrupted is done again."""
        if self.checkpoint is not None:
            self.checkpoint.keep(sweep.state(with_loss=with_loss), self.history, self.best)

    def after_pass(self, progress: Progress) -> bool:
        """Record a Rayleigh-Ritz step; return whether to stop."""
        seconds = self._seconds()
        if self.checkpoint is not None:  # first: the state is that before the step
            self.checkpoint.keep(progress.state, self.history, self.best)
        self.history.append({"step": progress.passes, "seconds": seconds, "residual": progress.residual})
        return self._tell(FitProgress(progress.passes, seconds, residual=progress.residual))

    def measure(self, model: Scorer) -> float:
        """Return the metric on validation data; its time does not count as the solver's."""
        assert self.valid is not None
        began = time.perf_counter()
        value = evaluate(model, self.valid, metrics=self.metric)[self.metric]
        self.measuring += time.perf_counter() - began
        return value

    def _seconds(self) -> float:
        return time.perf_counter() - self.began - self.measuring

    def _tell(self, progress: FitProgress) -> bool:
        return self.callback is not None and bool(self.callback(progress))
