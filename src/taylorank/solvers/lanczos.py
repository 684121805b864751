"""Truncated SVD by block Lanczos with thick restarts and locking.

For A = SᵀS keep an orthonormal basis V = [V₁, V₂, …] of a block Krylov space, b columns at a time:

    A V_j = V_{j−1} R_{j−1}ᵀ + V_j T_jj + V_{j+1} R_j,        T = VᵀAV block tridiagonal

With T = Y Θ Yᵀ the Ritz vectors are V Y, and the residual of each is R_j times the last b rows of its column of Y: no
product is needed to know it. When V is full, its best Ritz vectors stay (a thick restart) and T goes on from diag(Θ)
with one full row R_j Y. Ritz vectors that have converged are locked: they stay in V, for every new block to be made
orthogonal to, but leave T. Leading ones converge first and the others in their order, so T is soon small. Every new
block is made orthogonal to all of V once more after the recurrence has taken out what it explains: without that, single
precision would find the leading vectors again and again.

A product serves b new dimensions, where subspace iteration multiplies a whole block of more than `count` columns, so
far fewer products are needed: from residuals of 10⁻² σ₁ to those of 10⁻⁵ σ₁ it is two passes more after five (Wu and
Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.kernels import gram, small_product
from taylorank.kernels.backend import thread_count
from taylorank.kernels.blas import inner_product, multiply_in_place, subtract_product
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.svd import STRIP, Progress, Svd, SvdState, Wanted, triplets, warn_of_rounding

Floats = NDArray[Any]
Doubles = NDArray[np.float64]
ROOM = 1.4  # columns of V over the triplets wanted
WAIT = 6  # restarts without progress after which only rounding is left
MAX_RESTARTS = 1000


def block_width(count: int) -> int:
    """How many columns a product serves: wider blocks need more products and make better use of the cache."""
    return 16 if count < 256 else 32


def basis_size(count: int, block: int | None = None) -> int:
    """How many columns V has when it is full."""
    block = block or block_width(count)
    return -(-max(int(ROOM * count), count + 6 * block) // block) * block


def solve(matrix: CentredMatrix, wanted: Wanted) -> Svd:
    """Return the leading triplets of a matrix with more rows than columns."""
    basis, was_stopped = search(matrix, wanted)
    found = triplets(matrix, basis.right(), passes=basis.passes, goal=basis.goal)
    if not was_stopped:
        warn_of_rounding(found, wanted)
    return found


def search(
    matrix: Normal, wanted: Wanted, *, block: int | None = None, kind: type[Basis] | None = None
) -> tuple[Basis, bool]:
    """Return a basis whose Ritz vectors are the leading right vectors, and whether it was stopped before they were.

    `block` columns are multiplied at a time, as many as suit a CPU by default. Of the matrix it needs SᵀS alone. A
    `kind` other than `Basis` may keep V elsewhere.
    """
    basis = (kind or Basis)(matrix, wanted, block)
    stall = Stall()
    for _ in range(MAX_RESTARTS):
        basis.fill(wanted.max_passes)
        is_cut_short = basis.filled < basis.size  # by the number of passes
        if wanted.stops(Progress(basis.passes, float(basis.residuals.max()), basis.state)) or is_cut_short:
            return basis, True
        worst = float(basis.excess.max())
        if worst <= 1 or stall.is_reached(worst, basis.locked):
            break
        basis.restart()
    return basis, False


class Normal(Protocol):
    """What is needed of a matrix S: its products with SᵀS."""

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of its numbers."""
        ...

    def normal(self, block: Floats) -> Floats:
        """SᵀS X for X (N, k)."""
        ...


class Stall:
    """Whether restarts still help: in `WAIT` of them a vector is locked, or the worst residual falls by a tenth."""

    def __init__(self) -> None:
        self.best, self.locked, self.waited = np.inf, 0, 0

    def is_reached(self, worst: float, locked: int) -> bool:
        """Take in one restart."""
        if locked > self.locked or worst < 0.9 * self.best:
            self.best, self.locked, self.waited = min(worst, self.best), locked, 0
        else:
            self.waited += 1
        return self.waited >= WAIT


class Basis:
    """V, T and the block that comes next. `locked` columns of V are no longer in T."""

    next: Any

    def __init__(self, matrix: Normal, wanted: Wanted, block: int | None = None) -> None:
        count, dtype = wanted.count, matrix.dtype
        self.matrix, self.count, self.random_state = matrix, count, wanted.random_state
        self.block, self.size = block or block_width(count), basis_size(count, block)
        self.kept = -(-(count + (self.size - count) // 4) // self.block) * self.block  # columns that a restart leaves
        self.goal = wanted.goal(dtype)
        self.locked = self.filled = self.linked = self.columns = 0
        self.T = np.zeros((self.size + self.block, self.size + self.block))
        self.squares, self.errors = np.zeros(0), np.zeros(0)  # of the locked vectors: σ², ‖Av − σ²v‖
        self._begin(wanted)
        self.before = (self.filled, self.next, self.columns)

    def _begin(self, wanted: Wanted) -> None:
        """Make room for V, and the block that comes first."""
        n, dtype = self.matrix.shape[1], self.matrix.dtype
        self.V = np.empty((n, self.size), dtype=dtype)
        if wanted.start is not None:
            self._take_up(wanted.start)
        else:
            noise = np.random.default_rng(wanted.random_state).standard_normal((n, self.block)).astype(dtype)
            self.next = np.linalg.qr(self.matrix.normal(noise))[0]

    @property
    def passes(self) -> int:
        """Products with SᵀS, in whole blocks of `count` columns, with the one that ends the solution."""
        return 1 - (-(self.columns + self.block) // self.count)

    def state(self) -> SvdState:
        """Return what the last `fill` began with."""
        filled, following, columns = self.before
        corner = filled + self.block
        return SvdState(
            {
                "V": self.V[:, :filled].copy(),
                "next": following,
                "T": self.T[:corner, :corner].copy(),
                "squares": self.squares,
                "errors": self.errors,
            },
            {"columns": columns},
        )

    def _take_up(self, state: SvdState) -> None:
        kept = state.arrays["V"]
        self.filled, self.columns = kept.shape[1], int(state.numbers["columns"])
        self.V[:, : self.filled], self.next = kept, state.arrays["next"]
        corner = self.filled + self.block
        self.T[:corner, :corner] = state.arrays["T"]
        self.T[self.filled : corner, self.filled : corner] = 0.0
        self.squares, self.errors = state.arrays["squares"], state.arrays["errors"]
        self.locked = self.linked = len(self.squares)

    def fill(self, max_passes: int | None) -> None:
        """Expand V until it is full, or all passes are used up; find the Ritz values and residuals."""
        most = np.inf if max_passes is None else (max_passes - 1) * self.count - 2 * self.block
        self.before = (self.filled, self.next, self.columns)
        while self.filled < self.size and (self.columns <= most or self.filled < self.count):
            self._expand()
        first, last, wanted = self.locked, self.filled, min(self.kept, self.filled) - self.locked
        squares, vectors = linalg.eigh(
            self.T[first:last, first:last], subset_by_index=[last - first - wanted, last - first - 1]
        )
        self.ritz, self.vectors = np.maximum(squares[::-1], 0.0), np.ascontiguousarray(vectors[:, ::-1])
        self.links = self.R @ self.vectors[last - first - self.block :]  # (b, wanted)
        theta = np.concatenate((self.squares, self.ritz))
        errors = np.concatenate((self.errors, np.linalg.norm(self.links, axis=0)))
        self._measure(theta[: self.count], errors[: self.count])

    def _measure(self, squares: Doubles, errors: Doubles) -> None:
        """Residuals over σ₁, and over their goals."""
        values = np.sqrt(squares)
        scale = values * values.max()
        self.residuals = np.divide(errors, scale, out=np.zeros_like(errors), where=scale > 0)
        self.excess = self.goal.excess(squares, self.residuals)

    def _expand(self) -> None:
        """Take the next block into V; make the one after it."""
        j, b, V = self.filled, self.block, self.V
        X = V[:, j : j + b] = self.next
        Z = self.matrix.normal(X)
        own = inner_product(X, Z)
        subtract_product(Z, X, own)
        if j > self.linked:
            subtract_product(Z, V[:, self.linked : j], self.T[self.linked : j, j : j + b].astype(V.dtype))
        full = V[:, : j + b]
        rest = inner_product(full, Z)
        subtract_product(Z, full, rest)
        middle = own.astype(np.float64) + rest[j:]
        self.T[j : j + b, j : j + b] = (middle + middle.T) / 2
        self.next, self.R = self._orthonormal(Z, full)
        self.T[j + b : j + 2 * b, j : j + b] = self.R
        self.T[j : j + b, j + b : j + 2 * b] = self.R.T
        self.linked, self.filled, self.columns = j, j + b, self.columns + b

    def _orthonormal(self, Z: Floats, full: Floats) -> tuple[Floats, Doubles]:
        """Return Q and R with Z = Q R up to rounding, Q orthonormal and orthogonal to `full`.

        Where the Krylov space is exhausted, columns of Z hold nothing but rounding; random ones take their place.
        """
        largest = max(float(np.abs(self.T).max()), float(self.squares.max(initial=0.0)))
        floor = 1e3 * float(np.finfo(Z.dtype).eps) * largest
        if (pair := cholesky_qr(Z, floor)) is not None:
            return pair
        Q, R = np.linalg.qr(Z)
        empty = np.abs(np.diag(R)) <= floor
        if not empty.any():
            return Q, R.astype(np.float64)
        rng = np.random.default_rng([self.random_state, self.columns])
        Q[:, empty] = rng.standard_normal((len(Z), int(empty.sum())))
        for _ in range(2):
            Q -= full @ (full.T @ Q)
            Q = np.linalg.qr(Q)[0]
        return Q, (Q.T @ Z).astype(np.float64)

    def restart(self) -> None:
        """Keep the leading Ritz vectors in V; lock those that have converged well, with all before them."""
        keep, b = self.kept, self.block
        self._rotate(self.vectors)
        settled = self.excess[self.locked :] <= 0.5 / np.sqrt(self.count)  # what locked vectors leave out adds up
        more = int(np.argmin(settled)) if not settled.all() else len(settled)
        errors = np.linalg.norm(self.links[:, :more], axis=0)
        self.squares = np.concatenate((self.squares, self.ritz[:more]))
        self.errors = np.concatenate((self.errors, errors))
        self.locked += more
        first, links = self.locked, self.links[:, more:]
        self.T[:] = 0.0
        np.fill_diagonal(self.T[first:keep, first:keep], self.ritz[more:])
        self.T[keep : keep + b, first:keep], self.T[first:keep, keep : keep + b] = links, links.T
        self.filled, self.linked = keep, first

    def _rotate(self, vectors: Doubles) -> None:
        """Put the Ritz vectors in the place of the columns of V that are not locked."""
        first, last, rotation = self.locked, self.filled, vectors.astype(self.V.dtype)
        multiply_in_place(self.V[:, first:last], rotation, strip=STRIP)

    def right(self) -> Floats:
        """Return the leading Ritz vectors, (N, count); the basis is used up."""
        self._rotate(self.vectors[:, : self.count - self.locked])
        vectors = self.V[:, : self.count].copy()
        del self.V
        return vectors


def cholesky_qr(Z: Floats, floor: float) -> tuple[Floats, Doubles] | None:
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
