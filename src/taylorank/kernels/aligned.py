"""Arrays that start on a cache line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised C-ordered array whose data starts on a cache line.

    NumPy starts large arrays 16 bytes into a page, so every 64-byte vector load touches two cache lines;
    gather-sums over factors that start on a line are faster by a fifth or so (`taylorank.bench.gather_sum`).

    >>> aligned_empty((3, 5), np.float32).ctypes.data % 64
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = np.empty(size + CACHE_LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype).reshape(shape)
