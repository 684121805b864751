"""Whether the arrays of a SciPy sparse matrix fit together, found out before any compiled code follows them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.errors import DataError


def checked_csr(matrix: Any) -> sparse.csr_array:
    """Return a copy by rows; refuse positions outside the matrix and row pointers that lead outside its arrays.

    SciPy checks them when a matrix is built, not when its arrays are changed afterwards, and then reads and writes
    wherever they point.
    """
    checks = {"csr": _check_pointers, "csc": _check_pointers, "bsr": _check_blocks, "coo": _check_coordinates}
    try:
        checks.get(matrix.format, _check_lists)(matrix)
        rows = sparse.csr_array(matrix, copy=True)
        _check_pointers(rows)
        rows.prune()  # of what stands behind the last row
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        reason = str(error).split("\n")[0][:200]
        raise DataError(
            f"the {matrix.format} matrix is malformed ({reason})", "build it again with scipy.sparse"
        ) from error
    return rows


def _check_pointers(matrix: Any) -> None:
    """Compressed rows or columns: row x is indices[indptr[x]:indptr[x + 1]]."""
    count, bound = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    _check_compressed(matrix, count, bound)
    if matrix.data.shape != matrix.indices.shape:
        raise ValueError(f"{len(matrix.indices):,} positions for {len(matrix.data):,} values")


def _check_blocks(matrix: Any) -> None:
    (M, N), (height, width) = matrix.shape, matrix.blocksize
    if matrix.data.shape != (len(matrix.indices), height, width) or M % height or N % width:
        raise ValueError(f"blocks of shape {matrix.data.shape}")
    _check_compressed(matrix, M // height, N // width)


def _check_compressed(matrix: Any, count: int, bound: int) -> None:
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype.kind != "i" or indptr.shape != (count + 1,):
        raise ValueError(f"row pointers of type {indptr.dtype} and shape {indptr.shape}")
    if indptr[0] != 0 or indptr[-1] > len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("row pointers decrease, or lead outside the entries")
    _check_positions(indices, bound)


def _check_coordinates(matrix: Any) -> None:
    for positions, bound in zip(matrix.coords, matrix.shape, strict=True):
        if positions.shape != matrix.data.shape:
            raise ValueError(f"{len(positions):,} positions for {len(matrix.data):,} values")
        _check_positions(positions, bound)


def _check_lists(matrix: Any) -> None:
    """Lists of rows and diagonals; of the formats left, dictionaries are checked by SciPy."""
    if matrix.format == "lil" and any(len(a) != len(b) for a, b in zip(matrix.rows, matrix.data, strict=True)):
        raise ValueError("a row has more positions than values, or fewer")
    if matrix.format == "dia" and matrix.data.shape[:1] != matrix.offsets.shape:
        raise ValueError(f"{len(matrix.offsets)} diagonals, values for {len(matrix.data)}")


def _check_positions(positions: NDArray[Any], bound: int) -> None:
    if positions.dtype.kind != "i" or positions.ndim != 1:
        raise ValueError(f"positions of type {positions.dtype}")
    if not len(positions):
        return
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or high >= bound:
        raise ValueError(f"position {low if low < 0 else high:,} of {bound:,}")
