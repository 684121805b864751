"""What happens around a solver: progress, early stopping on validation data, and a file to resume from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.metrics import choosing_metric
from taylorank.models.checkpoint import BestStep, Checkpoint, State
from taylorank.progress import report
from taylorank.ranking import evaluate

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class FitProgress:
    """The argument of the callback of `fit`, after each step; the callback stops the fit by returning True."""

    step: int  # sweeps, passes over the data, epochs, or columns of EASE
    seconds: float  # in the solver, without evaluation
    metric: float | None = None  # on validation data, where there is some
    residual: float | None = None  # spectral: the largest, over σ₁
    loss_of: Callable[[], float] | None = field(default=None, repr=False)
    snapshot: Callable[[], Any] | None = field(default=None, repr=False)

    @property
    def loss(self) -> float | None:
        """The loss after this step, computed when asked for; the spectral solver has none on the way."""
        return None if self.loss_of is None else self.loss_of()

    def model(self) -> Any:
        """Return the model as it is after this step; None where there is none on the way (spectral)."""
        return None if self.snapshot is None else self.snapshot()


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a fit. Loss, model and arrays are computed when they are asked for.

    `arrays` are all that is needed to restore this step at the end.
    """

    number: int
    loss_of: Callable[[], float] | None = None
    snapshot: Callable[[], Any] | None = None
    arrays: Callable[[], Arrays] | None = None
    facts: Mapping[str, float] = field(default_factory=dict)  # for the history, such as the residual
    with_loss: bool = False


class FitMonitor:
    """Monitors one fit: measures on validation data, remembers the best step, writes checkpoints, calls the callback.

    With validation data the fit stops when the metric has not improved for `patience` steps, and the best step is
    kept. `seconds` leave out its own measurements and the time of the callback.
    """

    def __init__(
        self,
        *,
        valid: Interactions | None,
        metric: str,
        patience: int,
        callback: Callable[[FitProgress], object] | None,
        checkpoint: Checkpoint | None,
        unit: str = "sweeps",
    ) -> None:
        check_whole(patience, "patience", remedy=f"give the {unit} to wait, such as {'5' if unit == 'epochs' else '3'}")
        choosing_metric(metric)
        self.valid, self.metric, self.patience = valid, metric, patience
        self.callback, self.checkpoint = callback, checkpoint
        self.history: list[dict[str, float]] = []
        self.best: BestStep | None = None
        if checkpoint is not None:
            self.history, self.best = list(checkpoint.history), checkpoint.best
        self._spent = self.history[-1]["seconds"] if self.history else 0.0
        self._since = time.perf_counter()

    @property
    def has_waited(self) -> bool:
        """Whether the metric has not improved for as many steps as patience allows."""
        return self.best is not None and self.history[-1]["step"] - self.best.step >= self.patience

    def after(self, step: Step) -> bool:
        """Record a step; return whether to stop."""
        self._spent += time.perf_counter() - self._since
        record: dict[str, float] = {"step": step.number, "seconds": self._spent, **step.facts}
        if step.with_loss and step.loss_of is not None:
            record["loss"] = step.loss_of()
        if self.valid is not None and step.snapshot is not None:
            record["metric"] = self.measure(step.snapshot())
            if step.arrays is not None and (self.best is None or record["metric"] > self.best.metric):
                self.best = BestStep(step.number, record["metric"], step.arrays())
        self.history.append(record)
        report(step_words(record), done=step.number)
        stop = self._call(step, record)
        self._since = time.perf_counter()
        return stop or self.has_waited

    def _call(self, step: Step, record: dict[str, float]) -> bool:
        if self.callback is None:
            return False
        progress = FitProgress(
            step.number,
            record["seconds"],
            record.get("metric"),
            residual=record.get("residual"),
            loss_of=step.loss_of,
            snapshot=step.snapshot,
        )
        return bool(self.callback(progress))

    def keep(self, state_of: Callable[[], State | None]) -> None:
        """Remember a state that another step follows; one whose callback is interrupted is done again."""
        if self.checkpoint is not None and (state := state_of()) is not None:
            self.checkpoint.keep(state, self.history, self.best)

    def measure(self, model: Any) -> float:
        """Return the metric on validation data."""
        assert self.valid is not None
        return evaluate(model, self.valid, metrics=self.metric)[self.metric]


FORMATS = {"loss": "loss {:.6g}", "residual": "residual {:.1e}", "metric": "validation {:.4f}"}


def step_words(record: Mapping[str, float]) -> str:
    """Return loss, residual and metric of a step, those that are known.

    >>> step_words({"step": 7, "seconds": 1.0, "residual": 0.02})
    'residual 2.0e-02'
    """
    return ", ".join(FORMATS[name].format(record[name]) for name in FORMATS if name in record)


@contextmanager
def as_before_on_failure(model: Any) -> Iterator[None]:
    """Restore the model as it was before if the block fails or is interrupted."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
