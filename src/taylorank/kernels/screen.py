"""Which few items can be among the best of a user: from products with 8-bit codes, with a bound on their error.

A product of one user with all items reads Q once, and that is all its time. Codes are a quarter of Q. The items whose
score can be among the k best, given that bound, are then few, and their scores are computed as always: the lists are
those of `top_k` to the last bit.

    v = d c + e,  c of whole numbers between −127 and 127        |u·v − d û·c| ≤ ‖u‖ ‖e‖ + ‖u − û‖ d ‖c‖

û is u in steps of 16 bits. Both sides are rotated before, which keeps products and spreads what is in few coordinates
over all of them: signs at random, then a cosine transform. That makes ‖e‖ small: under 1 % of ‖v‖.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from taylorank.kernels import backend
from taylorank.kernels.aligned import aligned_empty

WHOLE = 64  # codes that native kernels take at a time
MOST = 127
BLOCK_ROWS = 4096
ROUNDING = 2.0**-23  # relative, of each step of a product in single precision; and of a score after it

Floats = NDArray[np.float32]


class Screen:
    """The codes of item vectors Q (N, K), finite ones.

    >>> screen = Screen(np.array([[3.0, 1.0], [2.0, 5.0], [-3.0, 0.0]], dtype=np.float32))
    >>> screen.candidates(np.array([1.0, 1.0]), 1).tolist()
    [False, True, False]
    """

    def __init__(self, factors: Floats) -> None:
        n, width = len(factors), -(-factors.shape[1] // WHOLE) * WHOLE
        self._signs = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.float32), width)
        self.codes = aligned_empty((n, width), np.int8)
        self.steps, self.errors, self.lengths = (np.empty(n, dtype=np.float32) for _ in range(3))
        for start in range(0, n, BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            rotated = self._rotated(factors[part])
            steps = np.maximum(np.abs(rotated).max(axis=1), np.finfo(np.float32).tiny * MOST) / MOST
            codes = np.rint(rotated / steps[:, None])
            self.codes[part], self.steps[part] = codes, steps
            codes *= steps[:, None]
            self.lengths[part] = np.linalg.norm(codes, axis=1)
            self.errors[part] = np.linalg.norm(rotated - codes, axis=1)

    def candidates(
        self,
        row: NDArray[Any],
        k: int,
        *,
        scales: Floats | None = None,
        offsets: Floats | None = None,
        allowed: NDArray[np.bool_] | None = None,
        num_threads: int | None = None,
    ) -> NDArray[np.bool_] | None:
        """Return which items (N,) can be among the k largest a_y (u · Q_y) + b_y; None where that cannot be said."""
        if not np.isfinite(row).all():
            return None
        scores, errors = self._bounded(row, num_threads)
        if scales is not None:
            scores, errors = scores * scales, errors * np.abs(scales)
        errors += 4 * ROUNDING * np.abs(scores)
        if offsets is not None:
            scores = scores + offsets
            errors += 4 * ROUNDING * np.abs(scores)
        lowest, highest = scores - errors, scores + errors
        if allowed is not None:
            lowest[~allowed] = highest[~allowed] = -np.inf
        if np.isnan(lowest.sum()) or k >= len(lowest):
            return None
        found: NDArray[np.bool_] = highest >= np.partition(lowest, len(lowest) - k)[len(lowest) - k]
        return found if allowed is None else found & allowed

    def _bounded(self, row: NDArray[Any], num_threads: int | None) -> tuple[Floats, Floats]:
        """u · Q_y about, and how far they may be from what a product in single precision gives, (N,) each."""
        u = self._rotated(np.asarray(row, dtype=np.float64)[None])[0]
        limit = min(int(np.iinfo(np.int16).max), int(np.iinfo(np.int32).max) // (MOST * len(u)))
        step = max(float(np.abs(u).max()), float(np.finfo(np.float32).tiny) * limit) / limit
        codes = np.rint(u / step)
        length = np.float32(np.linalg.norm(u))
        inexact = np.float32(np.linalg.norm(u - step * codes) + (len(u) + WHOLE) * ROUNDING * float(length))
        scores = self._products(codes.astype(np.int16), num_threads) * (np.float32(step) * self.steps)
        return scores, length * (1 + 1e-3) * self.errors + inexact * (self.lengths + self.errors)

    def _products(self, row: NDArray[np.int16], num_threads: int | None) -> Floats:
        out = np.empty(len(self.codes), dtype=np.int32)
        if backend.native is None:
            out[:] = self.codes.astype(np.int32) @ row.astype(np.int32)
        else:
            threads = backend.thread_count(num_threads)
            backend.native.code_products(self.codes, row, out, level=backend.simd_level(), threads=threads)
        return out.astype(np.float32)

    def _rotated(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows with random signs under an orthogonal cosine transform, as wide as the codes."""
        padded = np.zeros((len(rows), len(self._signs)), dtype=rows.dtype)
        np.multiply(rows, self._signs[: rows.shape[1]], out=padded[:, : rows.shape[1]])
        return fft.dct(padded, axis=1, norm="ortho", overwrite_x=True)  # type: ignore[no-any-return]
