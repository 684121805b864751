"""The blocks of the Gauss-Newton matrix that belong to one row each, inverted.

For vectors that are parameters the block of user x is w_x (Ḡ + μ δ I) + λ_x I with Ḡ = Qᵀ diag(b) Q / Σ b (RG×: less
m mᵀ), the same K × K matrix for all users up to two numbers, so one eigendecomposition serves all of them:
O((M + N) K²) to apply. For RG this is c_x (G + (λ + μ δ) I). Observed pairs with weights of their own enter by their
total, w_x = Σ_y (a_x b_y + e_xy). Items likewise. Other encoders have no such blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from taylorank.training.pair_objective import PairPoint


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of one side: w_x V diag(eigenvalues) Vᵀ + λ_x I."""

    weights: Tensor  # w, (M,)
    penalty: Tensor  # λ, (M,)
    vectors: Tensor  # V, (K, K)
    values: Tensor  # (K,), ≥ 0

    @property
    def scale(self) -> float:
        """δ, the mean eigenvalue, which damping is measured in."""
        return float(self.values.mean())

    def solve(self, rows: Tensor, damping: float) -> Tensor:
        """Return each row times the inverse of its damped block, (M, K)."""
        least = damping + torch.finfo(rows.dtype).eps  # a Gram matrix may be singular
        system = self.weights[:, None] * (self.values + least * self.scale) + self.penalty[:, None]  # (M, K)
        turned = rows @ self.vectors
        return torch.where(system > 0, turned / system, 0) @ self.vectors.T  # a row without weight stays


class RowBlocks:
    """Damping and preconditioning for `Tables`: both sides, at one point."""

    def __init__(self, tables: Any, point: PairPoint, *, decay: float) -> None:
        f, self.tables = point.objective, tables
        of_items = point.G / f.item_weight.sum()
        if f.interaction:
            of_items = of_items - f.interaction * torch.outer(point.m, point.m)
        of_users = point.A / f.user_weight.sum()
        users, items = f.row_weights
        self.users = _blocks(users, f.user_penalty + decay, of_items)
        self.items = _blocks(items, f.item_penalty + decay, of_users)

    def damped(self, direction: Tensor, damping: float) -> Tensor:
        """Return μ D d, D = diag of w_x δ and w_y δ."""
        W, H = self.tables.vectors(direction)
        users, items = (side.weights * (damping * side.scale) for side in (self.users, self.items))
        return self.tables.pull(direction, (users[:, None] * W, items[:, None] * H))

    def solve(self, residual: Tensor, damping: float) -> Tensor:
        """Return M⁻¹ r."""
        W, H = self.tables.vectors(residual)
        return self.tables.pull(residual, (self.users.solve(W, damping), self.items.solve(H, damping)))


class Plain:
    """Damping by a multiple of the curvature along the gradient, and no preconditioner."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def damped(self, direction: Tensor, damping: float) -> Tensor:
        """Return μ δ d."""
        return (damping * self.scale) * direction

    def solve(self, residual: Tensor, damping: float) -> Tensor:
        """Return r."""
        return residual


def _blocks(weights: Tensor, penalty: Tensor, gram: Tensor) -> Blocks:
    values, vectors = torch.linalg.eigh(gram.double())
    return Blocks(weights, penalty, vectors.to(gram.dtype), values.clamp_min(0).to(gram.dtype))
