"""Sums of a softmax over all columns, and of the columns under it, without the matrix of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import backend, softmax_reference
from taylorank.kernels.aligned import aligned_empty, in_order
from taylorank.kernels.checked import checked_array, checked_factors, checked_single

SINGLE = np.dtype(np.float32)


class SoftmaxColumns:
    """b (m, K) with its offsets β (m,), laid out for `softmax_sums` once for many calls.

    >>> columns = SoftmaxColumns(np.array([[1.0], [2.0]]))
    >>> softmax_sums(np.zeros((1, 1)), columns)
    (array([2.], dtype=float32), array([[3.]], dtype=float32))
    """

    def __init__(self, factors: NDArray[Any], offsets: NDArray[Any] | None = None) -> None:
        self.factors = _matrix(factors, "columns")
        self.offsets = _line(offsets, len(self.factors), "column_offsets")
        self._laid: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_laid": None}

    def sums(
        self, rows: NDArray[np.float32], offsets: NDArray[np.float32], scale: float, threads: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `softmax_sums` does, of checked arrays."""
        if backend.native is None:
            return softmax_reference.softmax_sums(
                rows, self.factors, row_offsets=offsets, column_offsets=self.offsets, scale=scale
            )
        if self._laid is None:
            level = backend.simd_level()
            self._laid = backend.native.SoftmaxColumns(self.factors, self.offsets, level=level, threads=threads)
        totals, sums = aligned_empty((len(rows),), np.float32), aligned_empty(rows.shape, np.float32)
        backend.native.softmax_sums(rows, offsets, self._laid, scale, totals, sums, threads=threads)
        return totals, sums


def softmax_sums(
    rows: NDArray[Any],
    columns: NDArray[Any] | SoftmaxColumns,
    *,
    row_offsets: NDArray[Any] | None = None,
    column_offsets: NDArray[Any] | None = None,
    scale: float = 1.0,
    num_threads: int | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return Σ_j e_ij, (n,), and Σ_j e_ij b_j, (n, K), with e_ij = exp(scale · a_i·b_j + α_i + β_j).

    Shapes: `rows` is a (n, K), `columns` is b (m, K), the offsets are α (n,) and β (m,), 0 by default; `SoftmaxColumns`
    have their own. All in single precision. e is 0 for exponents below −86 and e^88 above 88, so give offsets that keep
    the largest near 0.

    Scores exist for a few rows and columns at a time, so e is never held. Two products, 4 n m K operations: the
    normaliser of a softmax over all columns with the gradient of its logarithm by a, which is scale · Σ e b / Σ e; with
    rows and columns exchanged and α, β shifted by the logarithm of the normalisers, that by b. The same bits for any
    number of threads; from four rows on every row goes through the columns in order, whatever the others are, and up to
    three are added in another order, which reads each column once.

    >>> a, b = np.zeros((1, 1), dtype=np.float32), np.array([[1.0], [2.0]], dtype=np.float32)
    >>> softmax_sums(a, b)
    (array([2.], dtype=float32), array([[3.]], dtype=float32))
    """
    a, threads = _matrix(rows, "rows"), backend.thread_count(num_threads)
    if not isinstance(columns, SoftmaxColumns):
        columns = SoftmaxColumns(columns, column_offsets)
    elif column_offsets is not None:
        raise ParameterError("these columns have offsets of their own", "leave column_offsets out")
    if a.shape[1] != columns.factors.shape[1]:
        raise ParameterError(
            f"rows have {a.shape[1]} coordinates but columns {columns.factors.shape[1]}", "make them equal"
        )
    scale = checked_single(scale, name="scale")
    return columns.sums(a, _line(row_offsets, len(a), "row_offsets"), scale, threads)


def _matrix(values: NDArray[Any], name: str) -> NDArray[np.float32]:
    return in_order(checked_factors(values, None, name=name), dtype=np.float32)


def _line(values: NDArray[Any] | None, count: int, name: str) -> NDArray[np.float32]:
    if values is None:
        return np.zeros(count, dtype=np.float32)
    line: NDArray[np.float32] = checked_array(values, (count,), name=name, dtype=SINGLE)
    return line
