"""Initial values, all from one generator."""

from __future__ import annotations

import math

import torch
from torch import nn

from taylorank.checks import check_number


def seeded(generator: torch.Generator | None) -> torch.Generator:
    """Return the generator, or one with seed 0."""
    return torch.Generator().manual_seed(0) if generator is None else generator


def normal(rows: int, width: int, *, std: float, generator: torch.Generator) -> nn.Parameter:
    """Return a table with independent N(0, std²) entries."""
    check_number(std, "std", least=0)
    return nn.Parameter(torch.empty(rows, width).normal_(0, std, generator=generator))


def truncated(rows: int, width: int, *, std: float, generator: torch.Generator) -> nn.Parameter:
    """Return a table with N(0, std²) entries, drawn again beyond 2 std."""
    check_number(std, "std", least=0)
    table = torch.zeros(rows, width)
    if std > 0:
        nn.init.trunc_normal_(table, std=std, a=-2 * std, b=2 * std, generator=generator)
    return nn.Parameter(table)


def linear(inputs: int, outputs: int, *, std: float | None = None, generator: torch.Generator) -> nn.Linear:
    """Return x ↦ W x + b with b = 0 and W truncated normal; std None: √(2 / inputs), which keeps ReLU's variance."""
    layer = nn.Linear(inputs, outputs, device="meta")  # no memory, and no values from torch's global seed
    layer.weight = truncated(outputs, inputs, std=math.sqrt(2 / inputs) if std is None else std, generator=generator)
    layer.bias = nn.Parameter(torch.zeros(outputs))
    return layer
