"""What is known of the curvature without solving: blocks that belong to one row each, or a diagonal.

For vectors that are parameters the block of user x is w_x (Ḡ + μ δ I) + λ_x I with Ḡ = Qᵀ diag(b) Q / Σ b (RG×: less
m mᵀ), the same K × K matrix for all users up to two numbers, so one eigendecomposition serves all of them:
O((M + N) K²) to apply. For RG this is c_x (G + (λ + μ δ) I). Observed pairs with weights of their own enter by their
total, w_x = Σ_y (a_x b_y + e_xy). Items likewise. Other encoders get a diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from taylorank.training.encoders import Tables
from taylorank.training.pair_objective import PairPoint

PROBES = 4
LEAST = 1e-3  # of the mean length: a parameter without curvature must not take an unbounded step


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
        rotated = rows @ self.vectors
        return torch.where(system > 0, rotated / system, 0) @ self.vectors.T  # a row without weight stays


class RowBlocks:
    """Damping and preconditioning for `Tables`: both sides, at one point."""

    def __init__(self, tables: Tables, point: PairPoint, *, decay: float) -> None:
        f, self.tables = point.objective, tables
        of_items = point.G / f.item_weight.sum()
        if f.interaction:
            of_items = of_items - f.interaction * torch.outer(point.m, point.m)
        of_users = point.A / f.user_weight.sum()
        users, items = point.row_weights
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


class RowNorms:
    """Damping and preconditioning for any encoders: the lengths n_i of the rows of the Gauss-Newton matrix B.

    With signs v drawn at random E[(B v)_i²] = n_i², so a few products estimate all of them. Parameters differ by
    orders of magnitude in curvature (the embedding of a rare item, a weight that all rows share), and n says by how
    much.
    """

    def __init__(self, product: Callable[[Tensor], Tensor], like: Tensor, *, random_state: int, floor: float) -> None:
        draw = torch.Generator().manual_seed(random_state)  # the same signs on every device
        squares = torch.zeros_like(like)
        for _ in range(PROBES):
            signs = torch.randint(2, like.shape, generator=draw).to(like).mul_(2).sub_(1)
            squares += product(signs).square()
        lengths = squares.div_(PROBES).sqrt_()
        self.lengths = lengths + (LEAST * lengths.mean() + floor + torch.finfo(like.dtype).tiny)

    def damped(self, direction: Tensor, damping: float) -> Tensor:
        """Return μ D d, D = diag(n)."""
        return damping * self.lengths * direction

    def solve(self, residual: Tensor, damping: float) -> Tensor:
        """Return r / ((1 + μ) n)."""
        return residual / ((1 + damping) * self.lengths)


def _blocks(weights: Tensor, penalty: Tensor, gram: Tensor) -> Blocks:
    values, vectors = torch.linalg.eigh(gram.double())
    return Blocks(weights, penalty, vectors.to(gram.dtype), values.clamp_min(0).to(gram.dtype))
