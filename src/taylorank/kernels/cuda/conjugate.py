"""Conjugate-gradient steps for all rows at once, without their matrices: the same iteration as `row_reference`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from taylorank.kernels.cuda.gather import entry_products, gather_sum
from taylorank.kernels.cuda.precision import products_in
from taylorank.kernels.row_system import RowSystem, Tilt


def by_gradients(
    system: RowSystem, factors: torch.Tensor, start: torch.Tensor | None, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows after `steps` steps from `start` (None: 0), and for which of them they are valid.

    Where there are at least K rows, it works in the eigenbasis V of G = V Λ Vᵀ, in which the preconditioner, the
    diagonal of H_x, holds all of G.
    """
    shape = (system.rows.n_rows, factors.shape[1])
    first = torch.zeros(shape, dtype=factors.dtype, device=factors.device) if start is None else start.clone()
    with products_in("highest"):
        if shape[0] < shape[1]:
            return _iterate(system, factors, first, steps)
        eigenvalues, vectors = torch.linalg.eigh(torch.as_tensor(system.gram).double())
        basis = vectors.to(factors.dtype)
        turned = _rotated(system, basis, eigenvalues.to(factors.dtype))
        solution, good = _iterate(turned, factors @ basis, first @ basis, steps)
        return solution @ basis.mT, good


def _rotated(system: Any, basis: torch.Tensor, eigenvalues: torch.Tensor) -> RowSystem:
    """Return the system of Vᵀ P_x; its `gram` is the diagonal of Λ alone."""
    tilt = system.tilt
    turned: RowSystem = replace(
        system,
        gram=eigenvalues,
        direction=None if system.direction is None else system.direction @ basis,
        tilt=None if tilt is None else Tilt(tilt.rows @ basis, tilt.mean @ basis, tilt.scales),
    )
    return turned


def right_sides(system: Any, factors: torch.Tensor) -> torch.Tensor:
    """Return b_x = Σ t_xy Q_y + h_x g of every row."""
    shared = isinstance(system.targets, float)
    right = gather_sum(system.rows, factors, weights=None if shared else system.targets)
    if shared and system.targets != 1.0:
        right *= system.targets
    if system.offsets is not None:
        right += system.offsets[:, None] * system.direction
    return right


def _product(system: Any, factors: torch.Tensor, P: torch.Tensor) -> torch.Tensor:
    """Return H_x P_x for every row."""
    shared = isinstance(system.weights, float)
    product = entry_products(system.rows, factors, P, weights=None if shared else system.weights)
    if shared:
        product *= system.weights
    product += system.background[:, None] * (P * system.gram if system.gram.ndim == 1 else P @ system.gram)
    product += system.regularization[:, None] * P
    if system.tilt is not None:
        f, m, s = system.tilt.rows, system.tilt.mean, system.tilt.scales
        along_m = P @ m
        product -= f * along_m[:, None] + ((f * P).sum(dim=1) + s * along_m)[:, None] * m
    return product


def _diagonals(system: Any, factors: torch.Tensor) -> torch.Tensor:
    """Return the diagonal of every H_x."""
    shared = isinstance(system.weights, float)
    diagonal = gather_sum(system.rows, factors**2, weights=None if shared else system.weights)
    if shared:
        diagonal *= system.weights
    gram = system.gram if system.gram.ndim == 1 else system.gram.diagonal()
    diagonal += system.background[:, None] * gram + system.regularization[:, None]
    if system.tilt is not None:
        f, m, s = system.tilt.rows, system.tilt.mean, system.tilt.scales
        diagonal -= m * (2 * f + s[:, None] * m)
    return diagonal


def _iterate(
    system: RowSystem, factors: torch.Tensor, P: torch.Tensor, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    residual = right_sides(system, factors) - _product(system, factors, P)
    diagonal = _diagonals(system, factors)
    good = ((diagonal > 0) | (residual == 0)).all(dim=1)
    inverse = torch.where(diagonal > 0, 1 / diagonal, 0.0)
    direction = inverse * residual
    norm = (residual * direction).sum(dim=1)
    goal = norm * (1e-6 if factors.dtype == torch.float32 else 1e-15) ** 2
    for _ in range(steps):
        image = _product(system, factors, direction)
        curvature = (direction * image).sum(dim=1)
        moving = (norm > goal) & good
        good = good & (~moving | (curvature > 0))
        moves = moving & good
        length = torch.where(moves, norm / curvature, 0.0)
        P = P + length[:, None] * direction
        residual = residual - length[:, None] * image
        scaled = inverse * residual
        following = (residual * scaled).sum(dim=1)
        carry = torch.where(moves, following / norm, 0.0)
        direction = scaled + carry[:, None] * direction
        norm = torch.where(moving, following, norm)
    return P, good & torch.isfinite(P).all(dim=1)
