"""Truncated SVD of a matrix known by its products, by block Lanczos with thick restarts.

For A = SᵀS keep an orthonormal basis V = [V₁, V₂, …] of a block Krylov space, b columns at a time:

    A V_j = V_{j−1} R_{j−1}ᵀ + V_j T_jj + V_{j+1} R_j,        T = VᵀAV block tridiagonal

With T = Y Θ Yᵀ the Ritz vectors are V Y, and the residual of each is R_j times the last b rows of its column of Y: no
product is needed to know it. When V is full, its best Ritz vectors stay (a thick restart) and T goes on from diag(Θ)
with one full row R_j Y. Every new block is made orthogonal to all of V, once more after the recurrence has taken out
what it explains: without that, float32 would find the leading vectors again and again.

A product serves b new dimensions, where subspace iteration multiplies a whole block of more than `count` columns, so
far fewer products are needed; the price is dense products with V and eigenvectors of T (Wu and Simon, "Thick-restart
Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.kernels import gram, small_product
from taylorank.kernels.backend import thread_count
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.svd import STRIP, Svd, truncated_svd

Floats = NDArray[Any]
MAX_RESTARTS = 200


def lanczos_svd(
    matrix: CentredMatrix,
    count: int,
    *,
    tolerance: float = 1e-2,
    block: int | None = None,
    room: float = 1.4,
    random_state: int = 0,
) -> Svd:
    """Return the `count` leading singular triplets of `matrix`, every residual ≤ `tolerance` · σ₁.

    `tolerance` 0 is as far as the precision of the data goes. `block` is b (default 16, from 256 triplets on 32: wider
    ones need more products and make better use of the cache). `room` is the size of the basis over `count`: more of it
    means fewer restarts, more memory and a larger T.
    """
    if matrix.shape[0] < matrix.shape[1]:
        flipped = lanczos_svd(
            matrix.transposed, count, tolerance=tolerance, block=block, room=room, random_state=random_state
        )  # fmt: skip
        return Svd(flipped.right, flipped.values, flipped.left, flipped.residuals, flipped.passes, flipped.converged)
    basis = Basis(matrix, count, block or (16 if count < 256 else 32), int(room * count), random_state)
    if 2 * basis.size >= matrix.shape[1]:  # the whole space is hardly larger
        return truncated_svd(matrix, count, tolerance=tolerance, random_state=random_state)
    goal = max(tolerance, 30 * float(np.finfo(matrix.left.dtype).eps))
    for _ in range(MAX_RESTARTS):
        squares, vectors, residuals = basis.fill()
        worst = float(residuals[:count].max())
        if worst <= goal:
            break
        basis.restart(squares, vectors)
    return _triplets(matrix, basis, squares[:count], vectors[:, :count], goal)


class Basis:
    """V and T, and the block that comes next."""

    def __init__(self, matrix: CentredMatrix, count: int, block: int, size: int, random_state: int) -> None:
        n, dtype = matrix.shape[1], matrix.left.dtype
        self.matrix, self.count, self.block = matrix, count, block
        self.size = -(-max(size, count + 6 * block) // block) * block  # columns of V when it is full
        self.kept = -(-(count + (self.size - count) // 4) // block) * block  # columns that a restart leaves
        self.filled, self.linked, self.columns = 0, 0, 0
        self.T = np.zeros((self.size + block, self.size + block))
        if 2 * self.size >= n:
            return  # V is not needed
        self.V = np.empty((n, self.size), dtype=dtype)
        self.rng = np.random.default_rng(random_state)
        noise = self.rng.standard_normal((n, block)).astype(dtype)
        self.next, self.R = np.linalg.qr(matrix.apply_transposed(matrix.apply(noise)))

    @property
    def passes(self) -> int:
        """Products with SᵀS, in whole blocks of `count` columns."""
        return -(-(self.columns + self.block) // self.count)

    def fill(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Expand V until it is full; return σ², eigenvectors of T and residuals over σ₁ of its leading part."""
        while self.filled < self.size:
            self.expand()
        j, b = self.filled, self.block
        squares, vectors = linalg.eigh(self.T[:j, :j], subset_by_index=[j - self.kept, j - 1])
        squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
        values = np.sqrt(squares)
        error = np.linalg.norm(self.R @ vectors[j - b :], axis=0)
        scale = values * values[0]
        residuals = np.divide(error, scale, out=np.zeros_like(error), where=scale > 0)
        return squares, vectors, residuals

    def expand(self) -> None:
        """Take the next block into V; make the one after it."""
        j, b, V = self.filled, self.block, self.V
        X = V[:, j : j + b] = self.next
        Z = self.matrix.apply_transposed(self.matrix.apply(X))
        own = X.T @ Z
        Z -= X @ own
        Z -= V[:, self.linked : j] @ self.T[self.linked : j, j : j + b].astype(V.dtype)
        full = V[:, : j + b]
        rest = full.T @ Z
        Z -= full @ rest
        middle = own.astype(np.float64) + rest[j:]
        self.T[j : j + b, j : j + b] = (middle + middle.T) / 2
        self.next, self.R = self._orthonormal(Z, full)
        self.T[j + b : j + 2 * b, j : j + b] = self.R
        self.T[j : j + b, j + b : j + 2 * b] = self.R.T
        self.linked, self.filled, self.columns = j, j + b, self.columns + b

    def _orthonormal(self, Z: Floats, full: Floats) -> tuple[Floats, NDArray[np.float64]]:
        """Return Q and R with Z = Q R up to rounding, Q orthonormal and orthogonal to `full`.

        Where the Krylov space is exhausted, columns of Z hold nothing but rounding; random ones take their place.
        """
        floor = 1e3 * float(np.finfo(Z.dtype).eps * np.abs(self.T).max())
        if (pair := cholesky_qr(Z, floor)) is not None:
            return pair
        Q, R = np.linalg.qr(Z)
        empty = np.abs(np.diag(R)) < floor
        if not empty.any():
            return Q, R.astype(np.float64)
        Q[:, empty] = self.rng.standard_normal((len(Z), int(empty.sum())))
        for _ in range(2):
            Q -= full @ (full.T @ Q)
            Q = np.linalg.qr(Q)[0]
        return Q, (Q.T @ Z).astype(np.float64)

    def restart(self, squares: NDArray[np.float64], vectors: NDArray[np.float64]) -> None:
        """Keep the leading Ritz vectors in V."""
        keep, b = self.kept, self.block
        link = self.R @ vectors[self.filled - b :]  # (b, keep)
        rotation = vectors.astype(self.V.dtype)
        for start in range(0, len(self.V), STRIP):
            part = self.V[start : start + STRIP]
            part[:, :keep] = part @ rotation
        self.T[:] = 0.0
        np.fill_diagonal(self.T[:keep, :keep], squares)
        self.T[keep : keep + b, :keep], self.T[:keep, keep : keep + b] = link, link.T
        self.filled, self.linked = keep, 0


def cholesky_qr(Z: Floats, floor: float) -> tuple[Floats, NDArray[np.float64]] | None:
    """Return Q and R of a narrow block by its Gram matrix, twice; None unless its columns are well independent."""
    Q, R = Z, np.eye(Z.shape[1])
    for _ in range(2):
        try:
            lower = np.linalg.cholesky(gram(Q))
        except np.linalg.LinAlgError:
            return None
        pivots = np.diag(lower)
        if pivots.min() < max(floor, 10 * np.sqrt(np.finfo(Z.dtype).eps) * pivots.max()):
            return None
        floor = 0.0
        Q = small_product(Q, np.linalg.inv(lower).T.astype(Z.dtype), threads=thread_count())
        R = lower.T @ R
    return Q, R


def _triplets(
    matrix: CentredMatrix, basis: Basis, squares: NDArray[np.float64], vectors: NDArray[np.float64], goal: float
) -> Svd:
    """Form the vectors, and the residuals anew from them."""
    values = np.sqrt(squares)
    right = basis.V @ vectors.astype(basis.V.dtype)
    left = matrix.apply(right)
    left /= np.where(values > 0, values, 1.0).astype(left.dtype)
    image = matrix.apply_transposed(left)
    error = np.zeros(len(values))
    for start in range(0, len(right), STRIP):
        part = slice(start, start + STRIP)
        error += np.square(image[part] - right[part] * values).sum(axis=0)
    residuals = np.sqrt(error) / values[0]
    # Rounding may lift residuals above the estimates that ended the iteration.
    enough = max(1.1 * goal, 300 * float(np.finfo(right.dtype).eps))
    return Svd(left, values, right, residuals, basis.passes + 1, bool(residuals.max() <= enough))
