"""A fit that begins at the vectors of another model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.losses.registry import loss_of
from taylorank.models.factor import FactorModel
from taylorank.training.build import Parts
from taylorank.training.first_order import FirstOrder

SMALLEST = 2.0**-24  # of scales tried: scores of about 0
ENOUGH = 0.99  # of what the best scale gains on scores of 0


def warm_start(parts: Parts, start: Any, data: Interactions, *, scale: float = 1.0) -> None:
    """Begin from the vectors of a fitted model, scores times `scale`.

    Users and items that it does not know keep their random vectors. So do factors that are 0 for all users and items,
    as RG² leaves them below its threshold: where both sides are 0, so are both gradients, for ever.
    """
    if not isinstance(start, FactorModel):
        raise ParameterError(f"start={start!r} has no factors", "give a fitted factor model, such as RG2")
    scorings = (parts.criterion.scoring, _scoring(start))
    if "tree" in scorings:
        raise ParameterError("a tree has no vectors of items to begin from", "leave start out, or take another loss")
    if "distance" in scorings:
        raise ParameterError(
            "a model of distances and one of inner products cannot start from each other", "leave start out"
        )
    alive = start.user_factors.any(0) | start.item_factors.any(0)
    sides = []
    for own, known, vectors in (
        (data.users, start.users, start.user_factors),
        (data.items, start.items, start.item_factors),
    ):
        if vectors.shape[1] != parts.backbone.factors:
            raise ParameterError(
                f"start has vectors of {vectors.shape[1]} numbers and this model of {parts.backbone.factors}",
                "give a model whose vectors are its factors, as many as here: RG2, or Neural('softmax')",
            )
        position = known.positions(own.values)
        if not (position >= 0).any():
            raise ParameterError("start knows none of these users or items", "check that both use the same ids")
        rows = np.full((len(own), vectors.shape[1]), np.nan, dtype=np.float32)
        rows[position >= 0] = np.where(alive, vectors[position[position >= 0]] * math.sqrt(scale), np.nan)
        sides.append(torch.as_tensor(rows))
    parts.backbone.warm_start(*sides)


def _scoring(model: FactorModel) -> str:
    """What ranks the items of a model: inner products, unless a loss of its own says otherwise."""
    loss = loss_of(model)
    return "product" if loss is None else loss.scoring


def scale_start(loop: FirstOrder, start: Any, data: Interactions) -> float:
    """Begin at α o, o the scores of `start`, α a power of √2 at which the loss of a batch is low; return α.

    Losses disagree on scales: a score of RG² is about N/|I_x| at a positive, where one of softmax is about its
    logarithm. From the former, softmax begins far above the loss of scores that are all 0. Cosines have no scale.
    """
    if loop.parts.backbone.similarity.kind == "cosine":
        return 1.0
    before = loop.state()
    batch = next(iter(loop.feed.batches(loop.generator)))
    drawn = loop.generator.get_state()

    @torch.no_grad()
    def loss_at(scale: float) -> float:
        loop.restore(before)  # moments that a loss keeps between steps belong to another scale
        warm_start(loop.parts, start, data, scale=scale)
        loop.generator.set_state(drawn)
        return float(loop.loss(batch))

    loop.parts.backbone.eval()
    best = best_power(loss_at)
    loop.restore(before)
    warm_start(loop.parts, start, data, scale=best)
    return best


def best_power(loss_at: Callable[[float], float]) -> float:
    """Return the smallest power of √2 tried that has 99 % of what the best gains on scores of 0.

    The best is looked for in steps of 4 from 1, then of 2, then of √2. It is not taken itself, because where the
    scores separate the data some losses fall for ever, to where nothing is left of their gradients.

    >>> best_power(lambda scale: abs(scale - 0.02))  # 2 ** -5.5 is 0.022
    0.02209708691207961
    >>> best_power(lambda scale: float("nan") if scale > 0.1 else scale * scale - scale / 64)
    0.0078125
    >>> best_power(lambda scale: math.exp(-scale))
    8.0
    """
    known: dict[float, float] = {}

    def value(scale: float) -> float:
        if scale not in known:
            found = loss_at(scale)
            known[scale] = found if math.isfinite(found) else math.inf
        return known[scale]

    def enough(best: float) -> list[float]:
        bound = value(SMALLEST) - ENOUGH * (value(SMALLEST) - value(best))
        return [scale for scale, loss in known.items() if loss <= bound]

    here, step = 1.0, 4.0
    while step >= math.sqrt(2):
        while value(here) == math.inf and here > SMALLEST:
            here /= step
        around = [scale for scale in (here / step, here * step) if scale >= SMALLEST]
        best = min([here, *around], key=value)  # at a tie the scale as it is
        if best == here or here in enough(best):
            step = math.sqrt(step)
        else:
            here = best
    return min(enough(here), default=here)
