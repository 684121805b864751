"""What every kernel asks of its arrays before memory is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels.aligned import aligned_empty, in_order


def checked_factors(factors: NDArray[Any], count: int | None, *, name: str = "factors") -> NDArray[Any]:
    """Return `factors` C-contiguous; raise unless they are (count, K), float32 or float64 (None: any count)."""
    factors = np.asarray(factors)
    if factors.dtype not in (np.float32, np.float64):
        raise ParameterError(f"{name} are {factors.dtype}", "convert them with .astype(np.float32)")
    if factors.ndim != 2:
        raise ParameterError(f"{name} have shape {factors.shape}", "pass a matrix")
    if count is not None and len(factors) != max(count, 0):
        raise ParameterError(
            f"{name} have shape {factors.shape} but {count} rows are needed", f"pass an array of shape ({count}, K)"
        )
    return in_order(factors)


def checked_indices(rows: CSR, *, name: str = "the rows") -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return `indptr` as int64 and `indices` as int32; raise unless they are one-dimensional and fit without loss."""

    def checked(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
        array = np.asarray(array)
        if array.ndim != 1 or not np.can_cast(array.dtype, dtype, "safe"):
            raise ParameterError(
                f"an index array of {name} is {array.dtype} with shape {array.shape}",
                f"make it one-dimensional and {np.dtype(dtype)}",
            )
        return in_order(array, dtype=dtype)

    return checked(rows.indptr, np.int64), checked(rows.indices, np.int32)


def checked_out(out: NDArray[Any] | None, shape: tuple[int, ...], *factors: NDArray[Any]) -> NDArray[Any]:
    """Return `out`, or a new array; raise unless it is writeable, has this shape and the factors' type, and is apart.

    A new one starts on a cache line.
    """
    dtype = factors[0].dtype
    if out is None:
        return aligned_empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype:
        raise ParameterError(f"out is {out.dtype} {out.shape} but the result is {dtype} {shape}", "make them equal")
    if not out.flags.carray:
        raise ParameterError("out is read-only, misaligned or not C-contiguous", "pass np.empty(shape, dtype)")
    if any(np.may_share_memory(out, array) for array in factors):
        raise ParameterError("out overlaps the factors", "pass another array")
    return out


def checked_array(values: ArrayLike, shape: tuple[int, ...], *, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `values` as `dtype`, C-contiguous; raise unless they have this shape and are finite."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ParameterError(f"{name} are {array.dtype}", "pass real numbers")
    if array.shape != shape:
        raise ParameterError(f"{name} have shape {array.shape}", f"pass an array of shape {shape}")
    with np.errstate(over="ignore"):
        array = in_order(array, dtype=dtype)
    check_finite(array, name=name)
    return array


def check_finite(array: NDArray[Any], *, name: str) -> None:
    """Raise if a value is infinite or not a number; the sum shows it, and is quicker than a test of each value."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(array.sum()) and not np.isfinite(array).all():
            raise ParameterError(f"{name} hold a value that is infinite or not a number", "look where it comes from")


def checked_single(value: float, *, name: str) -> float:
    """Return a number that single precision holds."""
    if not abs(value) <= float(np.finfo(np.float32).max):
        raise ParameterError(f"{name} is {value:g}, which is no number of single precision", "give a smaller one")
    return float(value)
