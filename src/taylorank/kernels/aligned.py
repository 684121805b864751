"""Arrays that start on a cache line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

CACHE_LINE = 64


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised C-ordered array whose data starts on a cache line.

    NumPy promises 16 bytes only, and then every 64-byte vector load of a gather-sum touches two cache lines.
    Factors that are gathered often are worth keeping in such an array; `gather_sum` returns one.

    >>> aligned_empty((3, 5), np.float32).ctypes.data % 64
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = np.empty(size + CACHE_LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype).reshape(shape)


def in_order(values: ArrayLike, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return an array as native kernels read it, C-ordered and aligned; a copy if it is not.

    A field of a record array, or numbers behind the header of a file, may stand elsewhere.

    >>> bool(in_order(np.zeros(9, dtype=np.uint8)[1:].view(np.int64)).flags.aligned)
    True
    """
    return np.require(values, dtype=dtype, requirements=("C_CONTIGUOUS", "ALIGNED"))
