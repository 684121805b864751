"""EASE with few weights for each item: its regression on the items most like it, in the place of all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from taylorank.data import CSR, Interactions
from taylorank.kernels import backend, pair_products, top_k_scores
from taylorank.models.largest_entries import is_thin, largest_entries
from taylorank.system import available_memory

ROUNDING = float(np.finfo(np.float32).eps)
BLOCK = 128  # items whose products with all others a thread holds at a time
SYSTEM_CELLS = 1 << 22  # of the systems that a thread holds at a time
CELL = 12.0  # a number of S held costs this share of a product of a square
Singles = NDArray[np.float32]
Lists = tuple[NDArray[np.int64], Singles]


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
    count = max(1, min(neighbours, data.n_items - 1))  # of one item itself, with S = 0
    likeness = Likeness.of(data, regularization)
    parts = []
    with ThreadPoolExecutor(backend.thread_count()) as pool:
        systems = likeness.held(pool) if likeness.is_cheaper_held(count) else likeness
        starts = range(0, data.n_items, BLOCK)
        for start, (nearest, solved) in zip(
            starts, pool.map(lambda start: _block(systems, start, count), starts), strict=True
        ):
            own = np.arange(start, start + len(nearest))[:, None]
            weights = solved * likeness.scales[own] / likeness.scales[nearest]
            parts.append((weights.astype(np.float32), nearest, np.broadcast_to(own, nearest.shape)))
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


class Systems(Protocol):
    """S, as its rows' largest entries and its squares among few items."""

    def nearest(self, start: int, count: int) -> Lists:
        """Return the `count` items most like each item of a block, and their S, in descending order."""
        ...

    def among(self, items: NDArray[np.int64]) -> Singles:
        """Return S of the items of each list with each other, (B, k) to (B, k, k); any diagonal."""
        ...


@dataclass(frozen=True, eq=False)
class Likeness:
    """S = Y Yᵀ off a diagonal of 1, with rows y_i = r_i / s_i and s_i = √(r_i·r_i + λ)."""

    scaled: sparse.csr_array  # Y, (N, M)
    by_user: sparse.csr_array  # Yᵀ
    rows: CSR  # Y, for kernels
    scales: NDArray[np.float64]  # s, (N,)

    @classmethod
    def of(cls, data: Interactions, regularization: float) -> Likeness:
        """Scale the columns of R."""
        by_item = data.by_item.to_scipy().astype(np.float64)
        scales = np.sqrt(by_item.multiply(by_item).sum(axis=1) + regularization)
        by_item.data /= np.repeat(scales, np.diff(by_item.indptr))
        scaled = by_item.astype(np.float32)
        rows = CSR(data.by_item.indptr, data.by_item.indices, scaled.data, scaled.shape[1])
        return cls(scaled, scaled.T.tocsr(), rows, scales)

    def is_cheaper_held(self, count: int) -> bool:
        """Whether N² numbers are fewer than the products of the N squares, and half of the free memory holds them."""
        n, free = self.rows.n_rows, available_memory()
        return free is not None and 4 * n**2 <= free / 2 and CELL * n**2 <= self.rows.nnz * count**2

    def held(self, pool: ThreadPoolExecutor) -> Held:
        """Compute all of S."""
        n = self.rows.n_rows
        matrix = np.empty((n, n), dtype=np.float32)

        def fill(start: int) -> None:
            self.products(start).toarray(out=matrix[start : start + BLOCK])

        list(pool.map(fill, range(0, n, BLOCK)))
        np.fill_diagonal(matrix, 0.0)
        return Held(matrix)

    def products(self, start: int) -> sparse.csr_array:
        """Return rows of S, those of a block."""
        return self.scaled[start : start + BLOCK] @ self.by_user

    def nearest(self, start: int, count: int) -> Lists:
        """See `Systems`."""
        products = self.products(start)
        best_of = _of_entries if is_thin(products) else _of_cells
        return best_of(products, start, count)

    def among(self, items: NDArray[np.int64]) -> Singles:
        """See `Systems`."""
        return pair_products(self.rows, items, num_threads=1)


@dataclass(frozen=True, eq=False)
class Held:
    """All of S, with zeros on the diagonal."""

    matrix: Singles

    def nearest(self, start: int, count: int) -> Lists:
        """See `Systems`."""
        return top_k_scores(self.matrix[start : start + BLOCK], count, num_threads=1)

    def among(self, items: NDArray[np.int64]) -> Singles:
        """See `Systems`."""
        squares: Singles = self.matrix[items[:, :, None], items[:, None, :]]
        return squares


def _of_cells(products: sparse.csr_array, start: int, count: int) -> Lists:
    cells = products.toarray()
    own = np.arange(len(cells))
    cells[own, start + own] = 0.0
    return top_k_scores(cells, count, num_threads=1)


def _of_entries(products: sparse.csr_array, start: int, count: int) -> Lists:
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


def _block(systems: Systems, start: int, count: int) -> Lists:
    """Return the nearest items of a block and x with S_CC x = S_Cj; x is 0 where S_Cj is not positive."""
    nearest, values = systems.nearest(start, count)
    solved = np.zeros_like(values)
    step = max(1, SYSTEM_CELLS // count**2)
    for first in range(0, len(nearest), step):
        part = slice(first, first + step)
        for row, square in enumerate(systems.among(nearest[part]), first):
            like = np.count_nonzero(values[row] > 0)  # the first ones
            solved[row, :like] = _solution(square[:like, :like], values[row, :like])
    return nearest, solved


def _solution(square: Singles, values: Singles) -> Singles:
    """Solve S_CC x = S_Cj; the solution of least norm where rounding leaves S_CC without an inverse."""
    if not len(values):
        return values
    np.fill_diagonal(square, 1.0 + len(values) * ROUNDING)
    # The transpose of a symmetric matrix by rows is one by columns, which LAPACK takes without a copy of it.
    _, x, failed = lapack.sposv(square.T, values)
    if failed:
        x = np.linalg.lstsq(square.astype(np.float64), values.astype(np.float64))[0].astype(np.float32)
    solution: Singles = x
    return solution
