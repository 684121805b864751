"""One fit from the first epoch to the last: progress, early stopping, and a file to go on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import losses
from taylorank.backbones import sequences
from taylorank.data import CSR, Interactions
from taylorank.errors import DataError, TrainingError
from taylorank.models.fitting import FitMonitor, Step
from taylorank.models.recommender import Recommender
from taylorank.solvers.sweeps import SweepState
from taylorank.torch_extra import has_driver, no_cuda
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

BATCH_SIZES = {"users": 512, "pairs": 4096, "sequences": 128}  # where data are large
STEPS = 16  # that an epoch should have, if batches of a sixteenth of these sizes allow


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


Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]


def run_training(
    model: Neural, data: Interactions, *, monitor: FitMonitor, start: Recommender | None, lists: CSR | None = None
) -> tuple[Vectors, NDArray[np.float32]]:
    """Train `model` on `data` for its epochs, or until the monitor stops it.

    `lists` are what a teacher says of each user, (M, N), to be learned in the place of the data.

    Returns the vectors that rank, and all weights in one array.
    """
    device = chosen_device(model.device)
    with _own_randomness(model, device), _own_threads(model.num_threads):
        parts = build(model, data, device=device)
        if start is not None:
            warm_start(parts, start, data)
        loop = make_loop(model, parts, data, device, lists)
        if start is not None and isinstance(loop, FirstOrder):
            scale_start(loop, start, data)
        histories = histories_of(parts, data)
        kept = None if monitor.checkpoint is None else monitor.checkpoint.state
        if isinstance(kept, SweepState):
            loop.restore(_tensors(kept.arrays))

        def now() -> Neural:
            return model._snapshot(vectors_of(parts, data, histories), flat_weights(parts))

        while loop.epochs_done < model.epochs and not monitor.has_waited and not loop.finished:
            if _epoch(loop, monitor, now):
                break
        if monitor.best is not None:
            loop.set_parameters(list(_tensors(monitor.best.arrays).values()))
        vectors = vectors_of(parts, data, histories)
        if not _largest_score(vectors) < np.finfo(np.float32).max:  # the loss is that before the last step
            raise TrainingError(
                "the last step made vectors whose products are no numbers",
                f"lower learning_rate (now {model.learning_rate:g})",
            )
        return vectors, flat_weights(parts)


def _largest_score(vectors: Vectors) -> float:
    """A bound of |u · v|; NaN if there is one in the vectors."""
    users, items = (float(np.abs(side).max(initial=0)) for side in vectors)
    return users * items * float(vectors[0].shape[1])


def _epoch(loop: Loop, monitor: FitMonitor, now: Callable[[], Neural]) -> bool:
    """Make one epoch; return whether to stop."""
    loss = loop.epoch()
    stop = monitor.after(
        Step(
            loop.epochs_done,
            loss_of=lambda: loss,
            snapshot=now,
            arrays=lambda: {str(i): p.detach().cpu().numpy().copy() for i, p in enumerate(loop.parts.parameters())},
            facts=loop.details,
            with_loss=True,
        )
    )
    # after the callback: an epoch whose callback is interrupted is done again
    monitor.keep(lambda: SweepState(loop.epochs_done, {n: v.cpu().numpy() for n, v in loop.state().items()}, loss))
    return stop


def _tensors(arrays: dict[str, NDArray[Any]]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(value) for name, value in arrays.items()}  # a copy: training writes into it


def make_loop(model: Neural, parts: Parts, data: Interactions, device: str, lists: CSR | None = None) -> Loop:
    """Return what trains: steps of first or of second order."""
    if model.optimizer != SECOND_ORDER:
        generator = torch.Generator(device).manual_seed(int(model.random_state))
        feed = make_feed(model, parts, data, device) if lists is None else list_feed(model, data, lists, device)
        return FirstOrder(parts, feed, recipe_of(model), generator=generator)
    return SecondOrder(
        parts,
        data,
        NewtonRecipe(weight_decay=model.weight_decay),
        loss=model.loss,
        regularization=model.settled_params()["regularization"],
        options={name: option_of_loss(model, name) for name in losses.get(model.loss).options},
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
        size = model.batch_size or default_batch_size("sequences", data.n_users)
        return SequenceFeed(histories, padding=data.n_items, batch_size=size, device=device)
    weights = pair_weights(data, model.context_exponent)
    unit = losses.get(model.loss).batch_of
    count = data.n_users if unit == "users" else data.nnz
    size = model.batch_size or default_batch_size(unit, count)
    if unit == "users":
        return UserFeed(data, weights=weights, batch_size=size, device=device)
    return PairFeed(data, weights=weights, batch_size=size, device=device)


def list_feed(model: Neural, data: Interactions, lists: CSR, device: str) -> Feed:
    """Return batches of users with their lists, each pair with the weight n_x^ρ π_xy."""
    if not lists.nnz:
        raise DataError("the teacher lists nothing for anybody", "give data in which users differ, or another teacher")
    of_user = np.maximum(data.by_user.row_lengths, 1).astype(np.float64) ** model.context_exponent
    assert lists.weights is not None
    weights = (lists.weights * np.repeat(of_user, lists.row_lengths)).astype(np.float32)
    size = model.batch_size or default_batch_size("users", data.n_users)
    taught = Interactions(lists, data.users, data.items)
    return UserFeed(taught, weights=weights, batch_size=size, device=device)


def default_batch_size(unit: str, count: int) -> int:
    """Return the size of a step over `count` users, pairs or histories: a 16th of them, within bounds.

    >>> [default_batch_size("users", count) for count in (100, 943, 50_000)]
    [32, 59, 512]
    """
    largest = BATCH_SIZES[unit]
    return min(largest, max(largest // STEPS, -(-count // STEPS)))


def chosen_device(device: str) -> str:
    """Return "cpu" or "cuda"; refuse what is not here."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise no_cuda(driver=has_driver())
    return device


@contextmanager
def _own_randomness(model: Neural, device: str) -> Iterator[None]:
    """Dropout draws from torch's global state; leave the caller's as it was."""
    devices: list[Any] = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(int(model.random_state))
        yield


@contextmanager
def _own_threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
