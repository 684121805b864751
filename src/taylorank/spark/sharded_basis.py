"""Block Lanczos with its basis in shards: the driver sees K × K matrices and nothing as long as the catalogue times K.

The method is that of `solvers.lanczos`. A pass is four jobs: the product with SᵀS over blocks of users, with one
shuffle, which also returns C = [√q, V]ᵀ Z; and three over shards, for every new block is made orthogonal to all of V
and to √q by two projections, and orthonormal by Cholesky factors of its Gram matrix, twice. The second projection and
the first factor share a job, as (Z − VC)ᵀ(Z − VC) = ZᵀZ − CᵀC. Products stay in files until the fit ends, under a
digest of what was multiplied: a fit that was interrupted is given those that are there.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import gather_sum
from taylorank.kernels.thread_limit import threads
from taylorank.solvers.lanczos import Basis
from taylorank.solvers.svd import Wanted
from taylorank.spark.contexts import Contexts, row_scales
from taylorank.spark.prepared import Prepared
from taylorank.spark.reduction import Shape, summed_pieces
from taylorank.spark.session import task_threads
from taylorank.spark.sharded_steps import Centre, Columns, Inner, Multiply, Project, Rotate
from taylorank.spark.shards import Shards, read_piece, rows_times

Doubles = NDArray[np.float64]
Projected = tuple[Doubles, Doubles]  # [√q, V]ᵀ of a block, and its Gram matrix once that is taken out


@dataclass(frozen=True)
class PieceProducts:
    """Rᵀ diag(s²) R X̃ of one block, shard by shard; X̃ is in the files X-0, X-1, …"""

    shards: Shards
    contexts: Contexts

    def __call__(self, number: int) -> Any:
        """Yield (items of the shard, k) for every shard."""
        folder = self.shards.folder
        scales = row_scales(folder, number, self.contexts)
        with threads(task_threads()):
            Y = rows_times(self.shards, number, len(scales), "X")
        Y *= np.square(scales).astype(np.float32)[:, None]
        for shard in range(self.shards.count):
            piece = read_piece(folder, number, shard)
            with threads(task_threads()):
                part = gather_sum(piece.by_item, Y[piece.users]) if len(piece.users) else None
            yield np.zeros((piece.by_item.n_rows, Y.shape[1]), np.float32) if part is None else part


@dataclass(eq=False)
class ShardedMatrix:
    """S' of all blocks; its products with SᵀS go from files to files."""

    data: Prepared
    contexts: Contexts
    shards: Shards
    passes: int = 0
    columns: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self.data.n_users, self.data.n_items

    @property
    def dtype(self) -> np.dtype[Any]:
        """Single precision."""
        return np.dtype(np.float32)

    def product(self, digest: str, width: int, columns: Columns) -> tuple[str, Doubles]:
        """Return the name of √q Z, Z = SᵀS X before what is along √q is out, for the X̃ in files, and [√q, V]ᵀ Z.

        The digest is that of X̃.
        """
        began, folder = time.perf_counter(), self.data.folder
        name = f"product-{self.passes}-{hashlib.sha256(digest.encode()).hexdigest()[:16]}"
        self.passes += 1
        self.columns += width
        if not {f"{name}-{number}" for number in (*range(self.shards.count), "inner")} <= set(folder.names()):
            shape = Shape(self.data.blocks, self.data.n_items, width)
            pieces = PieceProducts(self.shards, self.contexts)
            bounds, ranges = self.shards.bounds, self.data.ranges
            inner = summed_pieces(self.data.session, folder, pieces, bounds, shape, ranges, name, Inner(columns))
            folder.write_arrays(f"{name}-inner", {"X": inner})
            self.seconds.append(time.perf_counter() - began)
        return name, np.array(folder.read_arrays(f"{name}-inner")["X"]).reshape(-1, width)

    def normal(self, block: Any) -> Any:
        """Not known for arrays."""
        raise NotImplementedError


class ShardedBasis(Basis):
    """V in shards; T, R and all decisions as in `Basis`."""

    matrix: Any

    def _begin(self, wanted: Wanted) -> None:
        """Multiply the noise that a basis in memory would begin with, drawn strip by strip."""
        self.generation, self.next, shards = 0, None, self.matrix.shards  # V and what comes next are in files
        rng, along = np.random.default_rng(wanted.random_state), np.zeros((1, self.block))
        for number in range(shards.count):
            part = shards.part(number)
            noise = rng.standard_normal((part.stop - part.start, self.block)).astype(np.float32)
            along += self._columns(0).root(number).T @ noise
            shards.folder.write_arrays(f"start-{number}", {"X": noise})
        self.digest = self._each(Centre(self._columns(0), "start", "X", along))[1]
        raw, first = self.matrix.product(self.digest, self.block, self._columns(0))
        self._make_next(self._projected(self._columns(0), raw, first), 0, 0.0)

    def _columns(self, count: int) -> Columns:
        return Columns(self.matrix.shards, self.generation, count)

    def _each(self, step: Any) -> tuple[Doubles, str]:
        found: tuple[Doubles, str] = self.matrix.shards.each(self.matrix.data.session, step)
        return found

    def _sums(self, step: Any) -> Doubles:
        return self._each(step)[0].reshape(-1, self.block)

    def _expand(self) -> None:
        """Take the next block into V; make the one after it."""
        j, b = self.filled, self.block
        columns = self._columns((j + b) // b)
        raw, first = self.matrix.product(self.digest, b, columns)
        found = self._projected(columns, raw, first)
        middle = (first + found[0])[1 + j :]
        self.T[j : j + b, j : j + b] = (middle + middle.T) / 2
        largest = max(float(np.abs(self.T).max()), float(self.squares.max(initial=0.0)))
        self.R = self._make_next(found, columns.count, 1e3 * float(np.finfo(np.float32).eps) * largest)
        self.T[j + b : j + 2 * b, j : j + b] = self.R
        self.T[j : j + b, j + b : j + 2 * b] = self.R.T
        self.linked, self.filled, self.columns = j, j + b, self.columns + b

    def _projected(self, columns: Columns, raw: str, first: Doubles) -> Projected:
        """Leave Z − [√q, V] C in Z1, C being `first`; return what a second projection takes out, and what it leaves."""
        sums = self._sums(Project(columns, raw, "Z1", first, is_raw=True))
        second = sums[: -self.block]
        return second, sums[-self.block :] - second.T @ second

    def _make_next(self, projected: Projected, place: int, floor: float) -> Doubles:
        """Leave what is in Z1, projected again and orthonormal, as block `place` of V, and X̃ of it in X; return R."""
        (second, gram), columns = projected, self._columns(place)
        lower = _cholesky(gram, floor)
        if lower is not None:
            sums = self._sums(Multiply(columns, "Z1", "Q", second, _inverse(lower).T))
            again = _cholesky(sums[:-1], 0.0)
            if again is not None:
                matrix = _inverse(again).T
                along, name = sums[-1:] @ matrix, f"V-{self.generation}-{place}"
                self.digest = self._each(Centre(columns, "Q", "X", along, matrix, name))[1]
                return again.T @ lower.T
        self._each(Project(columns, "Z1", "Z2", second))
        return self._make_next_here(place, floor)

    def _make_next_here(self, place: int, floor: float) -> Doubles:
        """The same of Z2 where the Krylov space is exhausted: random columns replace those that are only rounding.

        One block of b columns comes to the driver for it.
        """
        shards, columns = self.matrix.shards, self._columns(place)
        Z = shards.gather("Z2")
        Q, R = np.linalg.qr(Z)
        empty = np.abs(np.diag(R)) <= floor
        if empty.any():
            rng = np.random.default_rng([self.random_state, self.columns])
            Q[:, empty] = rng.standard_normal((len(Z), int(empty.sum())))
            for _ in range(2):
                shards.scatter("Q", Q)
                nothing = np.zeros((1 + place * self.block, self.block))
                inner = self._sums(Project(columns, "Q", "Z1", nothing))[: -self.block]
                self._each(Project(columns, "Z1", "Z2", inner))
                Q = np.linalg.qr(shards.gather("Z2"))[0]
            R = Q.T @ Z
        shards.scatter(f"V-{self.generation}-{place}", Q)
        root = shards.gather("root")
        self.digest = self._each(Centre(columns, f"V-{self.generation}-{place}", "X", (root.T @ Q).astype(float)))[1]
        return R.astype(np.float64)

    def _rotate(self, vectors: Doubles) -> None:
        """Put the Ritz vectors in the place of the columns of V that are not locked: the next generation."""
        self._each(Rotate(self._columns(self.filled // self.block), self.locked, vectors, self.block))
        folder, before = self.matrix.data.folder, f"V-{self.generation}-"
        self.generation += 1
        for name in folder.names():
            if name.startswith(before):
                folder.remove(name)

    def right_along(self, name: str) -> Doubles:
        """Leave the leading Ritz vectors in the files `name-0`, …; return √qᵀ of them, (1, count)."""
        vectors = self.vectors[:, : self.count - self.locked]
        rotated = Rotate(self._columns(self.filled // self.block), self.locked, vectors, self.block, name)
        return self._each(rotated)[0].reshape(1, -1)


def _inverse(lower: Doubles) -> Doubles:
    return np.linalg.inv(lower).astype(np.float64, copy=False)


def _cholesky(gram: Doubles, floor: float) -> Doubles | None:
    """The lower factor, or None where columns are not well independent; see `lanczos.cholesky_qr`."""
    try:
        lower = np.linalg.cholesky(gram).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(lower)
    least = max(floor, 10 * float(np.sqrt(np.finfo(np.float32).eps)) * float(pivots.max()))
    return None if pivots.min() < least else lower
