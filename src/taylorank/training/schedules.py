"""Optimisers by name, and how the learning rate falls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from taylorank.errors import ParameterError


def make_optimizer(
    name: str, parameters: Iterable[torch.nn.Parameter], *, learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Return an optimiser.

    "adam" adds weight_decay · θ to the gradient; "adamw" shrinks θ by learning_rate · weight_decay; "sparse-adam" moves
    only the rows that a batch touches, without weight decay.
    """
    given = list(parameters)
    more: dict[str, Any] = {"lr": learning_rate}
    if name == "sparse-adam":
        if weight_decay:
            raise ParameterError(f"sparse-adam has no weight decay (now {weight_decay})", "use regularization, or adam")
        return torch.optim.SparseAdam(given, **more)
    if name == "sgd":
        return torch.optim.SGD(given, momentum=0.9, weight_decay=weight_decay, **more)
    kind = torch.optim.AdamW if name == "adamw" else torch.optim.Adam
    return kind(given, weight_decay=weight_decay, fused=True, **more)


def rate_at(schedule: str, step: int, steps: int) -> float:
    """Return the share of the learning rate that step (from 0) of `steps` uses.

    constant: 1. cosine: ½(1 + cos(π step/steps)), from 1 to almost 0.

    >>> rate_at("cosine", 0, 10), round(rate_at("cosine", 5, 10), 3), rate_at("constant", 5, 10)
    (1.0, 0.5, 1.0)
    """
    return 0.5 * (1 + math.cos(math.pi * step / steps)) if schedule == "cosine" else 1.0
