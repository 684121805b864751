"""Softmax sums and Adam on directions in plain NumPy: the oracle of the tests, and what runs without native kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels.reference import BLOCK_CELLS

LEAST, MOST = -86.0, 88.0  # exponents beyond, which single precision does not hold


def softmax_sums(
    rows: NDArray[Any],
    columns: NDArray[Any],
    *,
    row_offsets: NDArray[Any],
    column_offsets: NDArray[Any],
    scale: float,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return Σ_j e_ij and Σ_j e_ij b_j with e_ij = exp(scale · a_i·b_j + α_i + β_j), in blocks of rows.

    >>> a, b, zero = np.zeros((1, 1)), np.array([[1.0], [2.0]]), np.zeros(2)
    >>> softmax_sums(a, b, row_offsets=zero[:1], column_offsets=zero, scale=1.0)
    (array([2.]), array([[3.]]))
    """
    totals, sums = np.empty(len(rows), dtype=rows.dtype), np.empty_like(rows)
    size = max(1, BLOCK_CELLS // max(1, len(columns)))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        exponents = scale * (rows[part] @ columns.T) + row_offsets[part, None] + column_offsets
        e = np.where(exponents < LEAST, 0, np.exp(np.minimum(exponents, MOST)))
        totals[part], sums[part] = e.sum(axis=1), e @ columns
    return totals, sums


def unit_adam(
    raw: NDArray[Any],
    unit: NDArray[Any],
    gradient: NDArray[Any],
    moments: tuple[NDArray[Any], NDArray[Any]],
    *,
    rate: float,
    epsilon: float,
    decays: tuple[float, float],
) -> None:
    """Make a step of Adam on u = w / ‖w‖ in place; see `kernels.unit_steps`."""
    first, second = moments
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    slope = (gradient - (gradient * unit).sum(axis=1, keepdims=True) * unit) / norms
    first *= decays[0]
    first += (1 - decays[0]) * slope
    second *= decays[1]
    second += (1 - decays[1]) * slope**2
    raw -= rate * first / (np.sqrt(second) + epsilon)
    np.divide(raw, np.linalg.norm(raw, axis=1, keepdims=True), out=unit)
