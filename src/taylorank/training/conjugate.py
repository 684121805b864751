"""Truncated conjugate gradients for a system that may be indefinite."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Direction:
    """d with H d ≈ −g, and what the quadratic model predicts for it."""

    step: Tensor
    residual: Tensor  # −g − H d
    steps: int
    is_convex: bool  # False: negative curvature was found

    def curvature(self, gradient: Tensor) -> float:
        """dᵀH d, without another product."""
        return -float(self.step @ gradient) - float(self.step @ self.residual)


def truncated_cg(
    product: Product, gradient: Tensor, *, precondition: Product, tolerance: float, most: int
) -> Direction:
    """Solve H d = −g until √(rᵀM⁻¹r) ≤ `tolerance` · its first value, or for `most` steps.

    Where a search direction p has pᵀH p ≤ 0 the model has no minimum along it: one step is taken as long as if the
    curvature were |pᵀH p|, which descends, but no longer than the longest step before it, and the result is returned.
    """
    d, r = torch.zeros_like(gradient), -gradient
    z = precondition(r)
    p, rz = z, float(r @ z)
    longest = 1.0  # where the preconditioner is exact, steps have this length
    target = tolerance * math.sqrt(max(rz, 0.0))
    for done in range(1, most + 1):
        Hp = product(p)
        bend = float(p @ Hp)
        if not bend > 0:
            length = min(rz / -bend if bend else math.inf, longest)
            return Direction(d + length * p, r - length * Hp, done, is_convex=False)
        length = rz / bend
        longest = max(longest, length)
        d = d + length * p
        r = r - length * Hp
        z = precondition(r)
        rz, before = float(r @ z), rz
        if math.sqrt(max(rz, 0.0)) <= target:
            break
        p = z + (rz / before) * p
    return Direction(d, r, done, is_convex=True)
