"""Alternating least squares for RG² and RG× under the plain penalty ½ μ (‖P‖² + ‖Q‖²), μ = λ / N.

In the scaled variables P' = √c P, Q' = √q Q (see `objectives.rg`) every row has a ridge of its own, μ / c_x or μ / q_y:

    c P G + μ P = c S diag(q) Q      a Sylvester equation with a diagonal side: with G = Q'ᵀQ' = V diag(d) Vᵀ,
    P'_x = [S' Q']_x V diag(1 / (d + μ/c_x)) Vᵀ           Q'_y = [S'ᵀ P']_y V diag(1 / (d + μ/q_y)) Vᵀ

so one eigendecomposition serves all rows, and a sweep costs O(nnz·K + (M + N)·K² + K³) as under the weighted penalty.
RG× has G − m mᵀ, m = Qᵀq, in the step of P. In that of Q each row gains √q_y G m, with the m of the solution: along the
k-th eigenvector it is [Σ_y √q_y (S'ᵀP'V)_yk / (d_k + μ/q_y)] / [Σ_y μ / (d_k + μ/q_y)].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import gram, small_product
from taylorank.kernels.backend import thread_count
from taylorank.objectives import RG
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.spectral import unscaled
from taylorank.solvers.sweeps import AlsSweep

Floats = NDArray[Any]


def iterate(objective: RG, matrix: CentredMatrix, Q: Floats, *, penalty: float, done: int = 0) -> Iterator[AlsSweep]:
    """Yield sweep after sweep from Q' = √q Q, without end; `penalty` is λ."""
    c, q = objective.context, objective.proposal
    mu = penalty / len(q)
    on_users, on_items = mu / np.where(c > 0, c, 1.0), mu / q
    while True:
        mean = np.sqrt(q) @ Q if objective.interacts else np.zeros(Q.shape[1])
        P = ridge_rows(matrix.apply(Q), gram(Q) - np.outer(mean, mean), on_users)
        image, users = matrix.apply_transposed(P), gram(P)
        if objective.interacts:
            image += np.outer(np.sqrt(q), users @ _mean(image, users, q, mu)).astype(image.dtype)
        Q = ridge_rows(image, users, on_items)
        done += 1
        factors = partial(unscaled, objective, P, Q)
        yield AlsSweep(done, {"Q": Q}, partial(_loss, objective, factors, penalty), factors)


def ridge_rows(rows: Floats, square: NDArray[np.float64], ridges: NDArray[np.float64]) -> Floats:
    """Return row x · (square + ridge_x I)⁻¹ for all x; directions in which both vanish are left out.

    >>> ridge_rows(np.array([[3.0, 2.0], [3.0, 4.0]]), np.diag([1.0, 0.0]), np.array([2.0, 0.5]))
    array([[1., 1.],
           [2., 8.]])
    """
    d, V = np.linalg.eigh(square)
    divisors = np.maximum(d, 0.0) + ridges[:, None]
    least = 0.0 if ridges.all() else len(d) * np.finfo(rows.dtype).eps * float(d[-1])
    inverse = np.divide(1.0, divisors, out=np.zeros_like(divisors), where=divisors > least)
    turned = small_product(rows, V.astype(rows.dtype), threads=thread_count())
    turned *= inverse.astype(rows.dtype)
    return small_product(turned, np.ascontiguousarray(V.T).astype(rows.dtype), threads=thread_count())


def _mean(image: Floats, users: NDArray[np.float64], q: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """m = Qᵀq at the solution of the step of Q; 0 without a penalty, where the image is orthogonal to √q."""
    d, V = np.linalg.eigh(users)
    if mu == 0:
        return np.zeros(len(d))
    divisors = np.maximum(d, 0.0) + (mu / q)[:, None]
    sums = (np.sqrt(q)[:, None] * (image @ V) / divisors).sum(axis=0)
    m: NDArray[np.float64] = V @ (sums / (mu / divisors).sum(axis=0))
    return m


def _loss(objective: RG, factors: Callable[[bool], tuple[Floats, Floats]], penalty: float) -> float:
    return objective.loss(*factors(False), regularization=penalty)
