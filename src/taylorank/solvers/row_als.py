"""Alternating least squares where weights vary by cell: a K × K system for every row.

    (b QᵀQ + Σ_y e_xy Q_yQ_yᵀ + λ_x I) P_x = Σ_y t_xy Q_y,   then the same for Q with users and items exchanged

over the observed y of x (see `objectives.weighted`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import RowSystem, gram, row_solve
from taylorank.objectives.weighted import Weighted
from taylorank.solvers.als import AlsSweep

Floats = NDArray[Any]
Method = Literal["auto", "cholesky", "cg", "blocks"]


def solve_row_als(
    objective: Weighted,
    factors: int,
    *,
    sweeps: int = 16,
    tolerance: float = 0.0,
    method: Method = "auto",
    start: tuple[Floats, Floats] | None = None,
    random_state: int = 0,
    callback: Callable[[AlsSweep], object] | None = None,
) -> tuple[Floats, Floats]:
    """Return (P, Q) after `sweeps` sweeps from `start`, or from N(0, 0.1/√K) as Rendle et al. do.

    Stops early when a sweep lowers the loss by ≤ `tolerance` · (L(0) − L), if that is positive, or when `callback`
    returns True. The loss is only computed for one of these two.
    """
    n_users, n_items = objective.by_user.n_rows, objective.by_user.n_columns
    rng = np.random.default_rng(random_state)
    scale = np.float32(0.1 / np.sqrt(factors))
    P, Q = start or (
        scale * rng.standard_normal((n_users, factors), dtype=np.float32),
        scale * rng.standard_normal((n_items, factors), dtype=np.float32),
    )
    zero_loss = float(objective.targets.sum(dtype=np.float64))
    last, began = np.inf, time.perf_counter()
    for sweep in range(1, sweeps + 1):
        P = solve_side(objective, Q, method=method, start=P)
        Q = solve_side(objective.transposed, P, method=method, start=Q)
        if callback is None and tolerance <= 0:
            continue
        seconds = time.perf_counter() - began
        loss = objective.loss(P, Q)
        if callback is not None and callback(AlsSweep(sweep, loss, seconds, P, Q)):
            break
        if tolerance > 0 and last - loss <= tolerance * (zero_loss - loss):
            break
        last = loss
    return P, Q


def solve_side(
    objective: Weighted, factors: Floats, *, method: Method = "cholesky", start: Floats | None = None
) -> Floats:
    """Return the best factors of all rows, given those of the columns."""
    system = RowSystem(
        objective.by_user,
        gram(factors),
        objective.background,
        objective.user_penalty,
        weights=objective.extra,
        targets=objective.targets,
    )
    return row_solve(system, factors, method=method, start=start)
