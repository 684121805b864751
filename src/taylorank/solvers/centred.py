"""The matrix of the RG family, sparse minus rank one, known by its products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels import gather_sum


@dataclass(frozen=True, eq=False)
class CentredMatrix:
    """S = B − a bᵀ, with B sparse (M × N) in both orders, a (M,) and b (N,); never formed.

    >>> import numpy as np
    >>> rows = CSR(np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> S = CentredMatrix(rows, rows.transpose(), np.ones(2), np.full(2, 0.5))
    >>> S.apply(np.eye(2))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    by_row: CSR
    by_column: CSR
    left: NDArray[Any]
    right: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self.by_row.n_rows, self.by_column.n_rows

    @property
    def transposed(self) -> CentredMatrix:
        """Sᵀ, sharing all memory."""
        return CentredMatrix(self.by_column, self.by_row, self.right, self.left)

    def apply(self, block: NDArray[Any]) -> NDArray[Any]:
        """S X for X (N, k)."""
        out = gather_sum(self.by_row, block)
        subtract_outer(out, self.left, self.right @ block)
        return out

    def apply_transposed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Sᵀ Y for Y (M, k)."""
        out = gather_sum(self.by_column, block)
        subtract_outer(out, self.right, self.left @ block)
        return out


def subtract_outer(out: NDArray[Any], column: NDArray[Any], row: NDArray[Any]) -> None:
    """out −= column rowᵀ, in strips that stay in cache."""
    column = column.astype(out.dtype, copy=False)
    row = row.astype(out.dtype, copy=False)
    for start in range(0, len(out), 1024):
        out[start : start + 1024] -= column[start : start + 1024, None] * row
