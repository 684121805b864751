"""Training by first-order steps: encode, draw, loss, backward, step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from taylorank.errors import TrainingError
from taylorank.losses.pairwise import mean_kept
from taylorank.training.build import Parts
from taylorank.training.feeds import Batch, Feed
from taylorank.training.schedules import make_optimizer, rate_at

CHECK_EVERY = 64  # steps between checks of the loss: a check waits for the device


@dataclass(frozen=True)
class Recipe:
    """How to train; what is trained is given apart."""

    epochs: int
    learning_rate: float
    optimizer: str = "adam"
    schedule: str = "cosine"
    weight_decay: float = 0.0
    regularization: float = 0.0
    negatives: int = 64
    precision: str = "float32"
    compile: bool = False


class FirstOrder:
    """Minimises the mean over the positives, weighted by w, of ℓ + ½ λ (‖u‖² + ‖v‖² + (1/n) Σ_j ‖v_j‖²).

    u, v and v_j are the embeddings of the user, of the positive and of its n draws (the last sum is 0 without draws).

    One object is one run: `epoch()` makes a pass over the feed. The state between passes (`state`, `restore`) is all
    that the rest of the run depends on.
    """

    def __init__(self, parts: Parts, feed: Feed, recipe: Recipe, *, generator: torch.Generator) -> None:
        self.parts, self.feed, self.recipe, self.generator = parts, feed, recipe, generator
        self.device = generator.device.type
        self.optimizer = make_optimizer(
            recipe.optimizer,
            parts.parameters(),
            learning_rate=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
        )
        self.epochs_done = 0
        self._loss: Callable[[Batch], Tensor] = self.loss
        if recipe.compile:
            self._loss = torch.compile(self.loss)

    @property
    def finished(self) -> str:
        """Why there is no more to do: nothing stops this before its epochs are over."""
        return ""

    @property
    def details(self) -> dict[str, float]:
        """What else is recorded of the last epoch: nothing."""
        return {}

    def epoch(self) -> float:
        """Make one pass over the data; return the mean loss before each step."""
        self.parts.backbone.train()
        losses: list[Tensor] = []
        steps, total = self.feed.steps, self.feed.steps * self.recipe.epochs
        for number, batch in enumerate(self.feed.batches(self.generator)):
            self._set_rate(rate_at(self.recipe.schedule, self.epochs_done * steps + number, total))
            losses.append(self._step(batch))
            if len(losses) % CHECK_EVERY == 0:
                self._refuse_nan(losses)
        self._refuse_nan(losses)
        self.epochs_done += 1
        return float(torch.stack(losses).mean())

    def _step(self, batch: Batch) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        with self._precision():
            loss = self._loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.parts.criterion.after_step()
        if self.parts.criterion.constrain == "unit-ball":
            self.parts.backbone.project_to_unit_ball()
        return loss.detach()

    def loss(self, batch: Batch) -> Tensor:
        """Σ w ℓ / scale of a batch, with the penalty."""
        backbone, criterion = self.parts.backbone, self.parts.criterion
        encoded = backbone.encode()
        queries = encoded.queries(batch.contexts)
        if batch.places is not None:
            queries = queries[batch.places]  # (B, L, K) → (P, K)
        over_all = criterion.kind in ("exact", "product")
        negatives = self._draw(batch, queries, encoded)
        items = encoded.items() if over_all else encoded.items
        hidden = backbone.hidden_items if criterion.kind == "exact" else None
        more = {} if hidden is None else {"mask": hidden.expand(len(queries), -1)}
        total = criterion(queries, items, batch.positives, negatives, users=batch.users, **more)
        value: Tensor = total / batch.scale
        if self.recipe.regularization:
            value = value + 0.5 * self.recipe.regularization * self._penalty(batch, negatives)
        return value

    def _draw(self, batch: Batch, queries: Tensor, encoded: Any) -> Any:
        if self.parts.sampler is None:
            return None
        with torch.no_grad():
            of_queries, of_items = self.parts.criterion.scored(queries.detach(), encoded.items)
            return self.parts.sampler.draw(
                batch.positives,
                self.recipe.negatives,
                queries=of_queries,
                items=of_items,
                users=batch.users,
                generator=self.generator,
            )

    def _penalty(self, batch: Batch, negatives: Any) -> Tensor:
        """Σ_p w_p (‖u‖² + ‖v‖² + the mean of ‖v_j‖² over the draws of p that are not masked) / scale."""
        positives = batch.positives
        owners = batch.users if batch.places is not None else batch.users[positives.rows]
        of_pairs = self.parts.backbone.squared_norms(owners, positives.columns)  # (P,)
        if negatives is not None:
            of_draws = self.parts.backbone.squared_norms(None, negatives.columns)  # (P, n), or (n,) for all
            of_pairs = of_pairs + mean_kept(of_draws.expand(len(of_pairs), -1), negatives.mask)
        value: Tensor = (positives.weights * of_pairs).sum() / batch.scale
        return value

    def _set_rate(self, share: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate * share

    def _precision(self) -> Any:
        if self.recipe.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device, dtype=torch.bfloat16)

    def _refuse_nan(self, losses: list[Tensor]) -> None:
        recent = torch.stack(losses[-CHECK_EVERY:])
        bad = torch.nonzero(~torch.isfinite(recent)).flatten()
        if len(bad):
            batch = len(losses) - len(recent) + int(bad[0])
            before = float(recent[bad[0] - 1]) if bad[0] else float("nan")
            raise TrainingError(
                f"the loss is {float(recent[bad[0]])} at batch {batch + 1} of epoch {self.epochs_done + 1} "
                f"({before:.4g} before it)",
                f"lower learning_rate (now {self.recipe.learning_rate:g})",
            )

    def state(self) -> dict[str, Tensor]:
        """Copy all that the next pass depends on."""
        kept = {f"parameter.{i}": p.detach().clone() for i, p in enumerate(self.parts.parameters())}
        for i, values in self.optimizer.state_dict()["state"].items():
            kept |= {f"optimizer.{i}.{name}": torch.as_tensor(v).clone() for name, v in values.items()}
        kept |= {f"buffer.{name}": value.clone() for name, value in self.parts.criterion.named_buffers()}
        kept["generator"] = self.generator.get_state()
        kept["dropout"] = _global_state(self.device)
        kept["epochs"] = torch.tensor(self.epochs_done)
        return kept

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go back to what `state` returned."""
        self.set_parameters([state[f"parameter.{i}"] for i in range(len(self.parts.parameters()))])
        for name, buffer in self.parts.criterion.named_buffers():
            buffer.copy_(state[f"buffer.{name}"])
        kept = self.optimizer.state_dict()
        kept["state"] = {}
        for key, value in _optimizer_entries(state):
            number, name = key
            kept["state"].setdefault(number, {})[name] = value.to(self.device) if name != "step" else _count(value)
        self.optimizer.load_state_dict(kept)
        self.generator.set_state(state["generator"].cpu())
        _set_global_state(self.device, state["dropout"].cpu())
        self.epochs_done = int(state["epochs"])

    def set_parameters(self, values: list[Tensor]) -> None:
        """Overwrite all that is learned."""
        with torch.no_grad():
            for parameter, value in zip(self.parts.parameters(), values, strict=True):
                parameter.copy_(value)


def _count(step: Tensor) -> Any:
    """Return the number of steps as the optimiser had it: powers of a whole number are not those of a tensor."""
    return step if step.is_floating_point() else int(step)


def _optimizer_entries(state: dict[str, Tensor]) -> Iterator[tuple[tuple[int, str], Tensor]]:
    for name, value in state.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".", 2)
            yield (int(number), key), value


def _global_state(device: str) -> Tensor:
    return torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()


def _set_global_state(device: str, state: Tensor) -> None:
    if device == "cuda":
        torch.cuda.set_rng_state(state)
    else:
        torch.set_rng_state(state)
