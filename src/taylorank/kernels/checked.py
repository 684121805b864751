"""What every kernel asks of its arrays before memory is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError


def checked_factors(factors: NDArray[Any], rows: CSR) -> NDArray[Any]:
    """Return `factors` C-contiguous; raise unless they are (rows.n_columns, K), float32 or float64."""
    factors = np.asarray(factors)
    if factors.dtype not in (np.float32, np.float64):
        raise ParameterError(f"factors are {factors.dtype}", "convert them with .astype(np.float32)")
    if factors.ndim != 2 or len(factors) != rows.n_columns:
        raise ParameterError(
            f"factors have shape {factors.shape} but the rows have {rows.n_columns} columns",
            f"pass an array of shape ({rows.n_columns}, K)",
        )
    return np.ascontiguousarray(factors)


def checked_index(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """Return an index array as `dtype`; raise unless it is one-dimensional and fits without loss."""
    array = np.asarray(array)
    if array.ndim != 1 or not np.can_cast(array.dtype, dtype, "safe"):
        raise ParameterError(
            f"an index array of the rows is {array.dtype} with shape {array.shape}",
            f"make it one-dimensional and {np.dtype(dtype)}",
        )
    return np.ascontiguousarray(array, dtype=dtype)


def checked_array(values: ArrayLike, shape: tuple[int, ...], *, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `values` as `dtype`, C-contiguous; raise unless they have this shape and are finite."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ParameterError(f"{name} are {array.dtype}", "pass real numbers")
    if array.shape != shape:
        raise ParameterError(f"{name} have shape {array.shape}", f"pass an array of shape {shape}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype=dtype)
    check_finite(array, name=name)
    return array


def check_finite(array: NDArray[Any], *, name: str) -> None:
    """Raise if a value is infinite or not a number; the sum shows it, and is quicker than a test of each value."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(array.sum()) and not np.isfinite(array).all():
            raise ParameterError(f"{name} hold a value that is infinite or not a number", "look where it comes from")
