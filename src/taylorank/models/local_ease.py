"""EASE with few weights for each item: its regression on the items most like it, in the place of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from taylorank.data import Interactions
from taylorank.kernels import backend, top_k_scores
from taylorank.models.largest_entries import is_thin, largest_entries
from taylorank.system import available_memory

ROUNDING = float(np.finfo(np.float32).eps)
BLOCK = 512  # items whose products with all others are held at a time
Singles = NDArray[np.float32]


def local_weights(
    data: Interactions, regularization: float, neighbours: int, after: Callable[[int], object] = lambda done: None
) -> sparse.csr_array:
    """Return W (N, N) whose column j minimises ‖r_j − R w‖² + λ ‖w‖² over weights of the k items C most like j.

    w_C = (R_CᵀR_C + λ I)⁻¹ R_Cᵀ r_j. Most like j are the items i with the largest
    S_ij = r_i·r_j / √((r_i·r_i + λ)(r_j·r_j + λ)) > 0; equal ones by position. The systems are solved for S, whose
    diagonal is 1, so that single precision does: its rounding is that of 1 + k ε in the place of 1, which is added.
    N k³ / 3 operations, where all items take N³.

    >>> from taylorank.data import planted
    >>> weights = local_weights(planted(200, 80, interactions=3000), 50.0, 20)
    >>> weights.shape, int((weights != 0).sum(axis=0).max())
    ((80, 80), 20)
    """
    likeness = Likeness.of(data, regularization)
    count = max(1, min(neighbours, data.n_items - 1))  # of one item itself, with S = 0
    parts = []
    for start, nearest, values in likeness.nearest(count):
        solved = _in_threads(likeness, nearest, values)
        own = np.arange(start, start + len(nearest))
        weights = solved * likeness.scales[own, None] / likeness.scales[nearest]
        parts.append((weights.astype(np.float32), nearest, np.broadcast_to(own[:, None], nearest.shape)))
        after(start + len(nearest))
    found, rows, columns = (np.concatenate([part.ravel() for part in side]) for side in zip(*parts, strict=True))
    return in_rows(found, rows, columns, data.n_items)


def in_rows(values: Singles, rows: NDArray[Any], columns: NDArray[Any], n_items: int) -> sparse.csr_array:
    """Return the weights that are not 0 as a matrix by rows."""
    kept = values != 0
    shape = (n_items, n_items)
    weights = sparse.csr_array((values[kept], (rows[kept], columns[kept])), shape=shape)
    weights.sort_indices()
    return weights


@dataclass(frozen=True, eq=False)
class Likeness:
    """S = Y Yᵀ off a diagonal of 1, with rows y_i = r_i / s_i and s_i = √(r_i·r_i + λ)."""

    scaled: sparse.csr_array  # Y, (N, M)
    scales: NDArray[np.float64]  # s, (N,)

    @classmethod
    def of(cls, data: Interactions, regularization: float) -> Likeness:
        """Scale the columns of R."""
        by_item = data.by_item.to_scipy().astype(np.float64)
        scales = np.sqrt(by_item.multiply(by_item).sum(axis=1) + regularization)
        by_item.data /= np.repeat(scales, np.diff(by_item.indptr))
        return cls(by_item.astype(np.float32), scales)

    @cached_property
    def whole(self) -> Singles | None:
        """S, (N, N), where half of the free memory holds it."""
        n, free = self.scaled.shape[0], available_memory()
        if free is None or 4 * n**2 > free / 2:
            return None
        matrix = np.empty((n, n), dtype=np.float32)
        for start, products in self._products():
            matrix[start : start + BLOCK] = products.toarray()
        np.fill_diagonal(matrix, 0.0)
        return matrix

    def _products(self) -> Iterator[tuple[int, sparse.csr_array]]:
        """Yield rows of S, block after block."""
        by_user = self.scaled.T.tocsr()
        for start in range(0, self.scaled.shape[0], BLOCK):
            yield start, self.scaled[start : start + BLOCK] @ by_user

    def nearest(self, count: int) -> Iterator[tuple[int, NDArray[np.int64], Singles]]:
        """Yield the first item of a block, the `count` items most like each of the block, and their S."""
        if self.whole is not None:
            for start in range(0, len(self.whole), BLOCK):
                yield start, *top_k_scores(self.whole[start : start + BLOCK], count)
            return
        for start, products in self._products():
            best_of = _of_entries if is_thin(products) else _of_cells
            yield start, *best_of(products, start, count)

    def among(self, items: NDArray[np.int64]) -> Singles:
        """Return S of these items with each other, for LAPACK to write over."""
        if self.whole is not None:
            square: Singles = self.whole[np.ix_(items, items)]
        else:
            rows = self.scaled[items]
            square = (rows @ rows.T).toarray()
        np.fill_diagonal(square, 1.0 + len(items) * ROUNDING)
        return square


def _of_cells(products: sparse.csr_array, start: int, count: int) -> tuple[NDArray[np.int64], Singles]:
    cells = products.toarray()
    own = np.arange(len(cells))
    cells[own, start + own] = 0.0
    return top_k_scores(cells, count)


def _of_entries(products: sparse.csr_array, start: int, count: int) -> tuple[NDArray[np.int64], Singles]:
    """The same, of entries alone; where there are fewer than `count`, item 0 with S = 0."""
    products.sort_indices()
    rows, columns = products.tocoo().coords
    other = (columns != start + rows) & (products.data > 0)
    rows, columns, values = rows[other], columns[other], products.data[other]
    kept, place = largest_entries(rows, columns, values, count)
    nearest = np.zeros((products.shape[0], count), dtype=np.int64)
    likeness = np.zeros(nearest.shape, dtype=np.float32)
    nearest[rows[kept], place], likeness[rows[kept], place] = columns[kept], values[kept]
    return nearest, likeness


def _in_threads(likeness: Likeness, nearest: NDArray[np.int64], values: Singles) -> Singles:
    """Solve S_CC x = S_Cj for every row of `nearest`; x is 0 where S_Cj is not positive."""
    solved = np.zeros_like(values)

    def solve(row: int) -> None:
        like = values[row] > 0
        items = nearest[row, like]
        if len(items):
            # The transpose of a symmetric matrix by rows is one by columns, which LAPACK takes without a copy.
            _, x, failed = lapack.sposv(likeness.among(items).T, values[row, like], overwrite_a=1)
            solved[row, like] = x if not failed else _carefully(likeness, items, values[row, like])

    with ThreadPoolExecutor(backend.thread_count()) as pool:
        list(pool.map(solve, range(len(nearest))))
    return solved


def _carefully(likeness: Likeness, items: NDArray[np.int64], values: Singles) -> Singles:
    """The solution of least norm, where rounding leaves S_CC without an inverse."""
    x: NDArray[np.float64] = np.linalg.lstsq(likeness.among(items).astype(np.float64), values.astype(np.float64))[0]
    return x.astype(np.float32)
