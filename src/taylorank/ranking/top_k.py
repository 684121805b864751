"""The k best items of each row of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def top_k(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return (B, min(k, N)) columns by falling score; of equal scores the lower column comes first; −inf is left out.

    Rows with fewer than k scores above −inf are padded with -1.

    >>> top_k(np.array([[1.0, 3.0, 3.0], [0.0, -np.inf, 1.0]], dtype=np.float32), 3)
    array([[ 1,  2,  0],
           [ 2,  0, -1]])
    """
    k = min(k, scores.shape[1])
    keys = _falling_keys(np.asarray(scores, dtype=np.float32))
    best = np.argpartition(keys, k - 1, axis=1)[:, :k] if k < scores.shape[1] else np.argsort(keys, axis=1)
    order = np.argsort(np.take_along_axis(keys, best, axis=1), axis=1)
    columns = np.take_along_axis(best, order, axis=1)
    return np.where(np.take_along_axis(scores, columns, axis=1) > -np.inf, columns, -1)


def _falling_keys(scores: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Map (score, column) to distinct integers in ranking order, so that no sort has ties to break its own way."""
    bits = (scores + np.float32(0)).view(np.uint32)  # −0 becomes +0
    sign = np.uint32(1 << 31)
    rising = np.where(bits & sign, ~bits, bits | sign)  # order of the floats as unsigned integers
    return (~rising).astype(np.uint64) << np.uint64(32) | np.arange(scores.shape[1], dtype=np.uint64)
