"""The matrix of the RG family, sparse minus rank one, known by its products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels import aligned_empty, gather_sum
from taylorank.kernels.arrays import namespace, to_numpy
from taylorank.kernels.dispatch import is_tensor

STRIP = 1024


@dataclass(frozen=True, eq=False)
class CentredMatrix:
    """S = B − a bᵀ where a = B b and ‖b‖ = 1, so that S = B (I − b bᵀ); never formed.

    B is sparse (M × N), in both orders; a is `left` (M,) and b `right` (N,). With `unit` = "left" the roles are
    exchanged: b = Bᵀa, ‖a‖ = 1 and S = (I − a aᵀ) B. So either side can be centred, whichever is the smaller.

    >>> rows = CSR(np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> b = np.array([0.6, 0.8])
    >>> S = CentredMatrix(rows, rows.transpose(), b, b)
    >>> S.apply(np.eye(2))
    array([[ 0.64, -0.48],
           [-0.48,  0.36]])
    """

    by_row: CSR
    by_column: CSR
    left: NDArray[Any]
    right: NDArray[Any]
    unit: Literal["left", "right"] = "right"

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self.by_row.n_rows, self.by_column.n_rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of its numbers."""
        return to_numpy(self.right[:0]).dtype

    @property
    def is_on_device(self) -> bool:
        """Whether its parts are tensors of an accelerator, or stand in for those."""
        return is_tensor(self.right)

    @property
    def transposed(self) -> CentredMatrix:
        """Sᵀ, sharing all memory."""
        unit: Literal["left", "right"] = "left" if self.unit == "right" else "right"
        return CentredMatrix(self.by_column, self.by_row, self.right, self.left, unit)

    def apply(self, block: NDArray[Any]) -> NDArray[Any]:
        """S X for X (N, k)."""
        if self.unit == "left":
            image = gather_sum(self.by_row, block)
            return project_out(image, self.left, out=image)
        if self.shape[0] < self.shape[1]:  # a bᵀX is less work than a centred copy of X
            image = gather_sum(self.by_row, block)
            return subtract_outer(image, self.left, _dot(self.right, block), out=image)
        return gather_sum(self.by_row, project_out(block, self.right))

    def apply_both(self, block: NDArray[Any]) -> NDArray[Any]:
        """SᵀS X for X (N, k) with bᵀX = 0, such as what this returns; centred once, for that is enough."""
        if self.unit == "left":
            image = gather_sum(self.by_row, block)
            return gather_sum(self.by_column, project_out(image, self.left, out=image))
        image = gather_sum(self.by_column, gather_sum(self.by_row, block))
        return project_out(image, self.right, out=image)

    def apply_transposed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Sᵀ Y for Y (M, k)."""
        return self.transposed.apply(block)

    def normal(self, block: NDArray[Any]) -> NDArray[Any]:
        """SᵀS X for X (N, k)."""
        return self.apply_transposed(self.apply(block))


def project_out(block: NDArray[Any], unit: NDArray[Any], *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return (I − b bᵀ) X, in `out` if given, which may be X."""
    return subtract_outer(block, unit, _dot(unit, block), out=out)


def subtract_outer(
    block: NDArray[Any], column: NDArray[Any], row: NDArray[Any], *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return X − column rowᵀ, in `out` if given, which may be X."""
    if is_tensor(block):
        rest: NDArray[Any] = namespace(block).addr(block, column, row, alpha=-1)
        return rest
    if out is None:
        out = aligned_empty(block.shape, block.dtype)
    column = column.astype(block.dtype, copy=False)
    for start in range(0, len(block), STRIP):  # the products stay in cache
        part = slice(start, start + STRIP)
        np.subtract(block[part], column[part, None] * row, out=out[part])
    return out


def _dot(vector: NDArray[Any], block: NDArray[Any]) -> NDArray[Any]:
    """vᵀ X; on a CPU without BLAS, whose threads would spin on beside those of our kernels (see `kernels.grams`)."""
    if is_tensor(block):
        along: NDArray[Any] = vector @ block
        return along
    along = np.einsum("i,ij->j", vector.astype(block.dtype, copy=False), block)
    return along
