"""Alternating least squares for RG²: one K × K matrix per half-step, shared by all rows.

In the scaled variables P' = √c P, Q' = √q Q (see `objectives.rg`):

    P' = S' [Q' (Q'ᵀQ' + λ I)⁻¹]            Q' = [S'ᵀ P'] (P'ᵀP' + λ C I)⁻¹

A sweep costs one sparse product each way, two Gram matrices and two Cholesky factorisations:
O(nnz·K + (M + N)·K² + K³). The brackets keep both small products and, because S' = B (I − √q √qᵀ), both centrings on
the side of the items, as a rule the smaller one: of P', a sweep is only the sparse products and one Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import gather_sum, gram, inverse, small_product
from taylorank.kernels.arrays import empty, identity, inner, like, to_numpy
from taylorank.kernels.backend import thread_count
from taylorank.objectives import RG
from taylorank.solvers import plain_als
from taylorank.solvers.centred import CentredMatrix, project_out
from taylorank.solvers.needs import check_allowed
from taylorank.solvers.spectral import scaled_matrix, unscaled
from taylorank.solvers.svd import STRIP
from taylorank.solvers.sweeps import AlsSweep, SweepState, run_sweeps

Floats = NDArray[Any]


def solve_als(
    objective: RG,
    factors: int,
    *,
    penalty: float,
    sweeps: int = 50,
    tolerance: float = 1e-4,
    start: Floats | SweepState | None = None,
    random_state: int = 0,
    callback: Callable[[AlsSweep], object] | None = None,
    keep: Callable[[AlsSweep], object] | None = None,
    device: str | None = None,
) -> tuple[Floats, Floats]:
    """Return (P, Q) after at most `sweeps` sweeps; `penalty` is λ (see `run_sweeps` for when it stops).

    Under a plain penalty the sweeps are those of `solvers.plain_als`.
    `start` is Q to begin from, or the state of an earlier sweep to go on from; random if None.
    `device` is a device of torch to compute on, and where the result stays; None: NumPy.
    """
    check_allowed(objective, "als")
    if penalty < 0:
        raise ParameterError(f"penalty={penalty} is negative", "use 0 or more")
    matrix = scaled_matrix(objective, device=device, factors=factors)
    if isinstance(start, SweepState):
        Q, done, last = like(matrix.right, start.arrays["Q"]), start.sweep, start.last_loss
    else:
        Q = like(matrix.right, _random(matrix, factors, random_state) if start is None else start)
        Q, done, last = Q * matrix.right[:, None], 0, np.inf
    sweeps_of = plain_als.iterate if objective.penalised == "plain" else iterate
    return run_sweeps(
        sweeps_of(objective, matrix, Q, penalty=penalty, done=done),
        most=sweeps,
        tolerance=tolerance,
        zero_loss=0.5 * objective.squared_norm,
        last_loss=last,
        callback=callback,
        keep=keep,
    )


def iterate(objective: RG, matrix: CentredMatrix, Q: Floats, *, penalty: float, done: int = 0) -> Iterator[AlsSweep]:
    """Yield sweep after sweep from Q' = √q Q, without end; ask a sweep for its factors before the next."""
    ridge = penalty * objective.context_total
    P = empty(Q, (matrix.shape[0], Q.shape[1]))  # the same for all sweeps
    while True:
        X = half_step(Q, gram(Q), penalty)
        P = gather_sum(matrix.by_row, project_out(X, matrix.right, out=X), out=P)  # S' X
        image = gather_sum(matrix.by_column, P, out=X)
        image = project_out(image, matrix.right, out=image)  # S'ᵀ P, where X was
        users = gram(P)
        Q = half_step(image, users, ridge)
        done += 1
        yield AlsSweep(
            done,
            {"Q": Q},
            partial(_loss, objective, image, Q, users, penalty),
            partial(unscaled, objective, P, Q),
        )


def _random(matrix: CentredMatrix, factors: int, random_state: int) -> Floats:
    noise = np.random.default_rng(random_state).standard_normal((matrix.shape[1], factors))
    noise *= 0.1 / np.sqrt(factors)
    return noise


def half_step(rows: Floats, square: Floats, ridge: float) -> Floats:
    """Return rows · (square + ridge I)⁻¹."""
    solved = inverse(square + ridge * identity(square))
    return small_product(rows, like(rows, solved), threads=thread_count())


def _loss(objective: RG, image: Floats, Q: Floats, users: Floats, penalty: float) -> float:
    """½ ‖S'‖² − ⟨S', P'Q'ᵀ⟩ + ½ ‖P'Q'ᵀ‖² + ½ λ (‖P'‖² + C ‖Q'‖²), with image = S'ᵀP' and users = P'ᵀP'."""
    of_users, of_items = to_numpy(users), to_numpy(gram(Q))
    linear = sum(inner(image[start : start + STRIP], Q[start : start + STRIP]) for start in range(0, len(Q), STRIP))
    size = float(np.trace(of_users)) + objective.context_total * float(np.trace(of_items))
    return 0.5 * objective.squared_norm - linear + 0.5 * float(np.vdot(of_users, of_items)) + 0.5 * penalty * size
