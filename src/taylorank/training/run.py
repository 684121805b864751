"""One fit from the first epoch to the last: progress, early stopping, and a file to go on from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import losses
from taylorank.backbones import sequences
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.models.checkpoint import Checkpoint
from taylorank.models.factor import FactorModel
from taylorank.models.fitting import FitProgress
from taylorank.ranking.evaluate import evaluate
from taylorank.solvers.sweeps import SweepState
from taylorank.training.build import Parts, build
from taylorank.training.composition import SECOND_ORDER, option_of_loss
from taylorank.training.feeds import Feed, PairFeed, SequenceFeed, UserFeed, pair_weights
from taylorank.training.first_order import FirstOrder, Recipe
from taylorank.training.newton import NewtonRecipe
from taylorank.training.restore import flat_weights, histories_of, vectors_of
from taylorank.training.second_order import SecondOrder
from taylorank.training.warm import scale_start, warm_start

if TYPE_CHECKING:
    from taylorank.training.neural import Neural

BATCH_SIZES = {"users": 512, "pairs": 4096, "sequences": 128}


class Loop(Protocol):
    """What makes the epochs of a fit."""

    parts: Parts

    @property
    def epochs_done(self) -> int:
        """Epochs so far."""
        ...

    @property
    def finished(self) -> str:
        """Why there is no more to do; empty while there is."""
        ...

    @property
    def details(self) -> dict[str, float]:
        """What else is recorded of the last epoch."""
        ...

    def epoch(self) -> float:
        """Make an epoch and return its loss."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Copy all that the next epoch depends on."""
        ...

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Go back to what `state` returned."""
        ...

    def set_parameters(self, values: list[torch.Tensor]) -> None:
        """Overwrite all that is learned."""
        ...


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves: vectors that rank, all weights in one array, and how it went."""

    vectors: tuple[NDArray[np.float32], NDArray[np.float32]]
    weights: NDArray[np.float32]
    history: list[dict[str, float]]


def run_training(
    model: Neural,
    data: Interactions,
    *,
    valid: Interactions | None,
    metric: str,
    patience: int,
    callback: Callable[[FitProgress], object] | None,
    start: FactorModel | None,
    kept: Checkpoint | None,
) -> Fitted:
    """Train `model` on `data` for its epochs, or until the metric on `valid` has not improved for `patience` epochs."""
    device = chosen_device(model.device)
    with _own_randomness(model, device), _own_threads(model.num_threads):
        parts = build(model, data, device=device)
        if start is not None:
            warm_start(parts, start, data)
        loop = make_loop(model, parts, data, device)
        if start is not None and isinstance(loop, FirstOrder):
            scale_start(loop, start, data)
        follow = _Follow(model, data, loop, valid=valid, metric=metric, callback=callback, kept=kept)
        while loop.epochs_done < model.epochs and follow.since_best < patience and not loop.finished:
            if follow.epoch():
                break
        follow.go_to_best()
        return Fitted(follow.vectors(), flat_weights(parts), follow.history)


class _Follow:
    """Records each epoch, keeps the best weights and what to go on from."""

    def __init__(
        self,
        model: Neural,
        data: Interactions,
        loop: Loop,
        *,
        valid: Interactions | None,
        metric: str,
        callback: Callable[[FitProgress], object] | None,
        kept: Checkpoint | None,
    ) -> None:
        self.model, self.data, self.loop = model, data, loop
        self.valid, self.metric, self.callback, self.kept = valid, metric, callback, kept
        self.history: list[dict[str, float]] = []
        self.best: list[torch.Tensor] | None = None
        self.spent = 0.0
        self.histories = histories_of(loop.parts, data)
        if kept is not None and kept.state is not None:
            self._go_on(kept)

    @property
    def since_best(self) -> int:
        """Epochs since the metric was highest."""
        values = [record["metric"] for record in self.history if "metric" in record]
        return len(values) - 1 - int(np.argmax(values)) if values else 0

    def epoch(self) -> bool:
        """Make one epoch; return whether the callback asks to stop."""
        began = time.perf_counter()
        loss = self.loop.epoch()
        self.spent += time.perf_counter() - began
        record = {"step": self.loop.epochs_done, "seconds": self.spent, "loss": loss, **self.loop.details}
        if self.valid is not None:
            record["metric"] = evaluate(self._now(), self.valid, metrics=self.metric)[self.metric]
        self.history.append(record)
        if self.valid is not None and self.since_best == 0:
            self.best = [p.detach().clone() for p in self.loop.parts.parameters()]
        told = FitProgress(
            int(record["step"]), self.spent, record.get("metric"), loss_of=lambda: loss, snapshot=self._now
        )
        stop = self.callback is not None and bool(self.callback(told))
        if self.kept is not None:  # after the callback: an epoch whose callback is interrupted is done again
            self.kept.keep(self._state(), self.history, {})
        return stop

    def go_to_best(self) -> None:
        """Leave the weights that did best on validation data."""
        if self.best is not None:
            self.loop.set_parameters(self.best)

    def vectors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vectors that rank, as of now."""
        return vectors_of(self.loop.parts, self.data, self.histories)

    def _now(self) -> Neural:
        return self.model._snapshot(self.vectors(), flat_weights(self.loop.parts))

    def _state(self) -> SweepState:
        arrays = {name: value.cpu().numpy() for name, value in self.loop.state().items()}
        arrays |= {f"best.{i}": value.cpu().numpy() for i, value in enumerate(self.best or [])}
        return SweepState(self.loop.epochs_done, arrays, self.history[-1]["loss"])

    def _go_on(self, kept: Checkpoint) -> None:
        assert isinstance(kept.state, SweepState)
        arrays = {name: torch.as_tensor(value) for name, value in kept.state.arrays.items()}
        best = [arrays[f"best.{i}"] for i in range(sum(name.startswith("best.") for name in arrays))]
        self.loop.restore({name: value for name, value in arrays.items() if not name.startswith("best.")})
        self.history, self.best = list(kept.history), best or None
        self.spent = self.history[-1]["seconds"] if self.history else 0.0


def make_loop(model: Neural, parts: Parts, data: Interactions, device: str) -> Loop:
    """Return what trains: steps of first or of second order."""
    if model.optimizer != SECOND_ORDER:
        generator = torch.Generator(device).manual_seed(model.random_state)
        return FirstOrder(parts, make_feed(model, parts, data, device), recipe_of(model), generator=generator)
    return SecondOrder(
        parts,
        data,
        NewtonRecipe(weight_decay=model.weight_decay),
        loss=model.loss,
        regularization=model.settled_params()["regularization"],
        proposal_exponent=option_of_loss(model, "proposal_exponent"),
        context_exponent=model.context_exponent,
        precision=model.precision,
        row_batch=model.batch_size,
    )


def recipe_of(model: Neural) -> Recipe:
    """Return how a model wants to be trained."""
    return Recipe(
        epochs=model.epochs,
        learning_rate=model.learning_rate,
        optimizer=model.optimizer,
        schedule=model.schedule,
        weight_decay=model.weight_decay,
        regularization=model.settled_params()["regularization"],
        negatives=model.negatives,
        precision=model.precision,
        compile=model.compile,
    )


def make_feed(model: Neural, parts: Parts, data: Interactions, device: str) -> Feed:
    """Return the batches that the loss and the backbone want."""
    if parts.backbone.takes == "sequences":
        histories = sequences(data, parts.backbone.length + 1)
        size = model.batch_size or BATCH_SIZES["sequences"]
        return SequenceFeed(histories, padding=data.n_items, batch_size=size, device=device)
    weights = pair_weights(data, model.context_exponent)
    unit = losses.get(model.loss).batch_of
    feed = UserFeed if unit == "users" else PairFeed
    return feed(data, weights=weights, batch_size=model.batch_size or BATCH_SIZES[unit], device=device)


def chosen_device(device: str) -> str:
    """Return "cpu" or "cuda"; refuse what is not here."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ParameterError("there is no CUDA device", "choose device='cpu'")
    return device


@contextmanager
def _own_randomness(model: Neural, device: str) -> Iterator[None]:
    """Dropout draws from torch's global state; leave the caller's as it was."""
    devices: list[Any] = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(model.random_state)
        yield


@contextmanager
def _own_threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
