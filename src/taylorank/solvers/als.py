"""Alternating least squares for RG²: one K × K matrix per half-step, shared by all rows.

In the scaled variables P' = √c P, Q' = √q Q (see `objectives.rg`):

    P' = S' [Q' (Q'ᵀQ' + λ I)⁻¹]            Q' = [S'ᵀ P'] (P'ᵀP' + λ C I)⁻¹

A sweep costs one sparse product each way, two Gram matrices and two Cholesky factorisations:
O(nnz·K + (M + N)·K² + K³). The brackets keep both small products and, because S' = B (I − √q √qᵀ), both centrings on
the side of the items, as a rule the smaller one: of P', a sweep is only the sparse products and one Gram matrix.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import aligned_empty, gather_sum, gram, inverse, turn
from taylorank.kernels.backend import thread_count
from taylorank.objectives import RG
from taylorank.solvers.centred import CentredMatrix, project_out
from taylorank.solvers.spectral import scaled_matrix

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class AlsSweep:
    """What a callback is told after each sweep; return True from it to stop."""

    sweep: int
    loss: float
    seconds: float
    user_factors: Floats
    item_factors: Floats


def solve_als(
    objective: RG,
    factors: int,
    *,
    penalty: float,
    sweeps: int = 50,
    tolerance: float = 1e-4,
    start: Floats | None = None,
    random_state: int = 0,
    callback: Callable[[AlsSweep], object] | None = None,
) -> tuple[Floats, Floats]:
    """Return (P, Q) after at most `sweeps` sweeps from item factors `start` (random if None).

    Stops when a sweep lowers the loss by ≤ `tolerance` · (L(0) − L), L(0) being the loss of zero factors; sparse
    data leave most of L(0) to nobody, so a decrease relative to L itself would stop too early. With 0 all sweeps run.
    `penalty` is λ.
    """
    if penalty < 0:
        raise ParameterError(f"penalty={penalty} is negative", "use 0 or more")
    matrix = scaled_matrix(objective)
    root_q, root_c = matrix.right[:, None], matrix.left[:, None]
    Q = _start(matrix, factors, random_state) if start is None else start.astype(matrix.right.dtype) * root_q
    began = time.perf_counter()
    zero_loss = 0.5 * objective.squared_norm
    last = np.inf
    P = aligned_empty((matrix.shape[0], Q.shape[1]), Q.dtype)
    for sweep in range(1, sweeps + 1):
        X = half_step(Q, gram(Q), penalty)
        P = gather_sum(matrix.by_row, project_out(X, matrix.right, out=X), out=P)  # S' X
        image = gather_sum(matrix.by_column, P, out=X)
        project_out(image, matrix.right, out=image)  # S'ᵀ P, where X was
        users = gram(P)
        Q = half_step(image, users, penalty * objective.context_total)
        loss = zero_loss - _gain(image, Q, users) + 0.5 * penalty * _size(users, Q, objective.context_total)
        if callback is not None:
            seconds = time.perf_counter() - began
            if callback(AlsSweep(sweep, loss, seconds, _unscaled(P.copy(), root_c), _unscaled(Q.copy(), root_q))):
                break
        if tolerance > 0 and last - loss <= tolerance * (zero_loss - loss):
            break
        last = loss
    return _unscaled(P, root_c), _unscaled(Q, root_q)


def _start(matrix: CentredMatrix, factors: int, random_state: int) -> Floats:
    noise = np.random.default_rng(random_state).standard_normal((matrix.shape[1], factors))
    noise *= 0.1 / np.sqrt(factors)
    start: Floats = noise.astype(matrix.right.dtype)
    start *= matrix.right[:, None]
    return start


def half_step(rows: Floats, square: NDArray[np.float64], ridge: float) -> Floats:
    """Return rows · (square + ridge I)⁻¹."""
    solved = inverse(square + ridge * np.eye(len(square)))
    return turn(rows, solved.astype(rows.dtype), threads=thread_count())


def _gain(image: Floats, Q: Floats, users: NDArray[np.float64]) -> float:
    """⟨S', P'Q'ᵀ⟩ − ½ ‖P'Q'ᵀ‖², with image = S'ᵀP'."""
    linear = np.einsum("ij,ij->", image, Q, dtype=np.float64)
    return float(linear) - 0.5 * float(np.vdot(users, gram(Q)))


def _size(users: NDArray[np.float64], Q: Floats, total: float) -> float:
    return float(np.trace(users)) + total * float(np.einsum("ij,ij->", Q, Q, dtype=np.float64))


def _unscaled(factors: Floats, root: Floats) -> Floats:
    """P from P' = √c P, in place; an empty context has P' = 0."""
    return np.divide(factors, root, out=factors, where=root > 0)
