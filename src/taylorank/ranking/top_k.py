"""The k best items of each row of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import top_k_scores


def top_k(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return (B, min(k, N)) columns by falling score; of equal scores the lower comes first; −inf is left out.

    Rows with fewer than k scores above −inf are padded with -1.

    >>> top_k(np.array([[1.0, 3.0, 3.0], [0.0, -np.inf, 1.0]], dtype=np.float32), 3)
    array([[ 1,  2,  0],
           [ 2,  0, -1]])
    """
    scores = np.asarray(scores, dtype=np.float32)
    return top_k_scores(scores, max(1, min(k, scores.shape[1])))[0][:, : scores.shape[1]]
