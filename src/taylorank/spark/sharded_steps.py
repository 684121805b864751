"""What a job over shards does to the rows of its own shard: inner products, projections, products with small matrices.

V of the Lanczos method lies in blocks of b columns, `V-g-0`, `V-g-1`, … of generation g (a rotation writes the next
one). Every step reads other files than it writes, so that a task that runs twice writes the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import gram
from taylorank.kernels.blas import inner_product, subtract_product
from taylorank.spark.shards import Shards, Small, read_shard

Floats = NDArray[np.float32]
NO_DIGEST = ""


@dataclass(frozen=True)
class Columns:
    """√q and the first `count` blocks of V: what every new block is made orthogonal to."""

    shards: Shards
    generation: int
    count: int

    def root(self, number: int) -> Floats:
        """√q of a shard, (n, 1)."""
        return read_shard(self.shards.folder, "root", number)

    def parts(self, number: int) -> list[Floats]:
        """√q and the blocks, one after the other."""
        names = [f"V-{self.generation}-{block}" for block in range(self.count)]
        return [self.root(number), *(read_shard(self.shards.folder, name, number) for name in names)]

    def inner(self, number: int, Z: Floats) -> NDArray[np.float64]:
        """[√q, V]ᵀ Z."""
        return np.concatenate([inner_product(part, Z).astype(np.float64) for part in self.parts(number)])

    def project_out(self, number: int, Z: Floats, coefficients: NDArray[np.float64]) -> None:
        """Take [√q, V] C out of Z, in place."""
        first = 0
        for part in self.parts(number):
            end = first + part.shape[1]
            subtract_product(Z, part, coefficients[first:end].astype(Z.dtype))
            first = end


@dataclass(frozen=True)
class Inner:
    """[√q, V]ᵀ Z of a shard whose product with SᵀS is over √q Z."""

    columns: Columns

    def __call__(self, number: int, product: Floats) -> NDArray[np.float64]:
        """Return it."""
        return self.columns.inner(number, product / self.columns.root(number))


@dataclass(frozen=True)
class Project:
    """Leave Z − [√q, V] C in `target`; return [√q, V]ᵀ of it and, below that, its Gram matrix."""

    columns: Columns
    source: str
    target: str
    coefficients: NDArray[np.float64]
    is_raw: bool = False  # whether the source is still to be divided by √q

    def __call__(self, number: int) -> Small:
        """Do so for a shard."""
        folder, columns = self.columns.shards.folder, self.columns
        Z = np.array(read_shard(folder, self.source, number))
        if self.is_raw:
            Z /= columns.root(number)
        columns.project_out(number, Z, self.coefficients)
        folder.write_arrays(f"{self.target}-{number}", {"X": Z})
        return np.concatenate((columns.inner(number, Z), gram(Z))), NO_DIGEST


@dataclass(frozen=True)
class Multiply:
    """Leave (Z − [√q, V] C) M in `target`; return its Gram matrix and √qᵀ of it."""

    columns: Columns
    source: str
    target: str
    coefficients: NDArray[np.float64]
    matrix: NDArray[np.float64]

    def __call__(self, number: int) -> Small:
        """Do so for a shard."""
        folder, columns = self.columns.shards.folder, self.columns
        Z = np.array(read_shard(folder, self.source, number))
        columns.project_out(number, Z, self.coefficients)
        Z = Z @ self.matrix.astype(np.float32)
        folder.write_arrays(f"{self.target}-{number}", {"X": Z})
        return np.concatenate((gram(Z), inner_product(columns.root(number), Z))), NO_DIGEST


@dataclass(frozen=True)
class Centre:
    """Leave X̃ = diag(1/√q) (X − √q a) in `target`, a = √qᵀX; the digest is that of X̃.

    With a matrix M it is that of X M, which is left in `product`.
    """

    columns: Columns
    source: str
    target: str
    along: NDArray[np.float64]  # of what is centred, (1, k)
    matrix: NDArray[np.float64] | None = None
    product: str = ""

    def __call__(self, number: int) -> Small:
        """Do so for a shard."""
        folder, root = self.columns.shards.folder, self.columns.root(number)
        X = read_shard(folder, self.source, number)
        if self.matrix is not None:
            X = X @ self.matrix.astype(np.float32)
            folder.write_arrays(f"{self.product}-{number}", {"X": X})
        centred = np.ascontiguousarray((X - root * self.along.astype(np.float32)) / root)
        folder.write_arrays(f"{self.target}-{number}", {"X": centred})
        return np.zeros(1), hashlib.sha256(centred.data).hexdigest()


@dataclass(frozen=True)
class Rotate:
    """Leave [V₁, V₂ Y] in generation g + 1, or whole in `whole`, where V₁ are the first columns; √qᵀ of it comes back.

    The block after V, which is next to be multiplied, moves along.
    """

    columns: Columns
    first: int
    rotation: NDArray[np.float64]
    block: int
    whole: str = ""

    def __call__(self, number: int) -> Small:
        """Do so for a shard."""
        folder, columns = self.columns.shards.folder, self.columns
        V = np.concatenate(columns.parts(number)[1:], axis=1)
        kept = np.concatenate((V[:, : self.first], V[:, self.first :] @ self.rotation.astype(V.dtype)), axis=1)
        if self.whole:
            folder.write_arrays(f"{self.whole}-{number}", {"X": kept})
            return inner_product(columns.root(number), kept), NO_DIGEST
        following = read_shard(folder, f"V-{columns.generation}-{columns.count}", number)
        parts: list[Any] = [*np.split(kept, range(self.block, kept.shape[1], self.block), axis=1), following]
        for place, part in enumerate(parts):
            folder.write_arrays(f"V-{columns.generation + 1}-{place}-{number}", {"X": part})
        return np.zeros(1), NO_DIGEST


@dataclass(frozen=True)
class Scale:
    """Leave X times `factor` over √q in `target`: the item vectors of the model."""

    columns: Columns
    source: str
    target: str
    factor: float

    def __call__(self, number: int) -> Small:
        """Do so for a shard."""
        folder = self.columns.shards.folder
        scale = self.factor / self.columns.root(number).astype(np.float64)
        X = (read_shard(folder, self.source, number) * scale).astype(np.float32)
        folder.write_arrays(f"{self.target}-{number}", {"X": X})
        return np.zeros(1), NO_DIGEST
