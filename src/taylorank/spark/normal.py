"""SᵀS X on the cluster: one pass over the blocks of users, one sum over items.

S = S' of RG² (`objectives.rg`) is B (I − √q √qᵀ) with B = diag(s) R diag(1/√q), so with X̃ = diag(1/√q) (I − √q √qᵀ) X

    SᵀS X = (I − √q √qᵀ) diag(1/√q) Σ_blocks Rᵀ diag(s²) R X̃

The driver makes X̃ (N × k) and leaves it in a file; every block multiplies by R and by Rᵀ without an exchange between;
the sum over blocks is the pass's only shuffle (`reduction`).
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import gather_sum
from taylorank.solvers.centred import project_out
from taylorank.spark.blocks import read_block
from taylorank.spark.contexts import Contexts, row_scales
from taylorank.spark.folder import Folder
from taylorank.spark.prepared import Prepared
from taylorank.spark.reduction import Shape, sum_by_item

Floats = NDArray[Any]


@dataclass(frozen=True)
class BlockProduct:
    """Rᵀ diag(s²) R X̃ of one block; X̃ is in file `name`."""

    folder: Folder
    contexts: Contexts
    name: str

    def __call__(self, number: int) -> Floats:
        """Return (N, k)."""
        block, X = read_block(self.folder, number), self.folder.read_arrays(self.name)["X"]
        Y = gather_sum(block.by_user, X)
        Y *= np.square(row_scales(self.folder, number, self.contexts)).astype(np.float32)[:, None]
        return gather_sum(block.by_item, Y)


@dataclass(eq=False)
class ClusterMatrix:
    """S' of all blocks, known by its products with SᵀS. Their results are kept in files until the fit ends.

    A solver that runs again after the driver was killed asks for the same products in the same order, and is given
    those that are there; so it goes on from the last pass, to the same bits.
    """

    data: Prepared
    contexts: Contexts
    root: NDArray[np.float32]  # √q, (N,)
    passes: int = 0
    seconds: list[float] = field(default_factory=list)
    columns: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self.data.n_users, self.data.n_items

    @property
    def dtype(self) -> np.dtype[Any]:
        """Single precision."""
        return np.dtype(np.float32)

    def centred(self, block: Floats) -> Floats:
        """X̃."""
        X = project_out(np.ascontiguousarray(block, dtype=np.float32), self.root)
        X /= self.root[:, None]
        return X

    def normal(self, block: Floats) -> Floats:
        """SᵀS X for X (N, k)."""
        began = time.perf_counter()
        X, folder = self.centred(block), self.data.folder
        name = f"product-{self.passes}-{hashlib.sha256(X.data).hexdigest()[:16]}"
        self.passes += 1
        self.columns += X.shape[1]
        if folder.has(name):
            return np.array(folder.read_arrays(name)["Z"])
        folder.write_arrays("X", {"X": X})
        Z = self._summed(X.shape[1])
        Z /= self.root[:, None]
        project_out(Z, self.root, out=Z)
        folder.write_arrays(name, {"Z": Z})
        self.seconds.append(time.perf_counter() - began)
        return Z

    def _summed(self, width: int) -> Floats:
        product = BlockProduct(self.data.folder, self.contexts, "X")
        shape = Shape(self.data.blocks, self.data.n_items, width)
        return sum_by_item(self.data.session, self.data.folder, product, shape, self.data.ranges)

    def forget(self) -> None:
        """Remove what the passes left."""
        for name in self.data.folder.names():
            if name.startswith("product-") or name == "X":
                self.data.folder.remove(name)
