"""RG² on the cluster: the leading singular vectors of S' by block Lanczos, its products made by all executors.

The basis of N × (K + 6 b) numbers is on the driver, which makes it orthonormal by Cholesky factors of Gram matrices,
unless it takes too much memory: then it lies in files by ranges of items (`shards`, `sharded_basis`). The users, of
whom there are many more, stay in their blocks. The SVD gives every smaller K and every λ, so what is kept of a fit are
U and V with their scales, and a model multiplies them by √(σ − τ)₊ (see `solvers.spectral`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import gather_sum
from taylorank.kernels.thread_limit import threads
from taylorank.objectives.rg import proposal_of
from taylorank.solvers import lanczos
from taylorank.solvers.svd import Wanted, whole_vectors
from taylorank.spark.blocks import read_block
from taylorank.spark.contexts import Contexts, ContextSums, context_sums, row_scales
from taylorank.spark.folder import Folder
from taylorank.spark.normal import ClusterMatrix
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import task_threads
from taylorank.spark.sharded_basis import ShardedBasis, ShardedMatrix
from taylorank.spark.sharded_steps import Centre, Columns, Scale
from taylorank.spark.shards import Shards, build_pieces, item_limit, rows_times

BASIS_BYTES = 1 << 30  # of the driver's basis, for which blocks are made wide
WIDEST = 64


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The SVD of S': V with its scale q^-½ C^-¼ (N, K), σ (K,), and what the rows of users are computed from."""

    items: NDArray[np.float32] | None  # None: in the files vectors-0, … of `shards`
    values: NDArray[np.float64]
    residual: float
    passes: int
    proposal: NDArray[np.float64]
    sums: ContextSums
    pass_seconds: list[float]
    pass_columns: int
    shards: Shards | None = None


def decompose(
    data: Prepared,
    rank: int,
    *,
    proposal_exponent: float,
    context_exponent: float,
    score_penalty: float,
    tolerance: float,
    max_passes: int | None,
    random_state: int,
    item_memory: float = 0.0,
) -> Decomposition:
    """Return the `rank` leading triplets of S'; leave in the folder what `user_rows` needs."""
    most = min(data.n_users, data.n_items)
    if rank > most:
        raise ParameterError(f"rank={rank} exceeds the smaller side of the data ({most})", f"use at most {most}")
    q = proposal_of(data.counts[0] / data.typical_strength, proposal_exponent)
    sums = context_sums(data, context_exponent, score_penalty)
    _check_spread(sums, q)
    wanted = Wanted(rank, tolerance, max_passes, None, random_state, None)
    block, is_wide = _block(rank, data.n_items)
    if not is_wide and 4 * data.n_items * lanczos.basis_size(rank, block) > item_limit(data.session, item_memory):
        return _sharded(data, wanted, block, q, sums)
    matrix = ClusterMatrix(data, sums.contexts, np.sqrt(q).astype(np.float32))
    right, values, residual, passes = _vectors(matrix, wanted)
    data.folder.write_arrays("right", {"X": matrix.centred(right)})
    items = right / (np.sqrt(q) * sums.total**0.25)[:, None]
    matrix.forget()
    columns = matrix.columns // max(matrix.passes, 1)
    return Decomposition(items.astype(np.float32), values, residual, passes, q, sums, matrix.seconds, columns)


def _check_spread(sums: ContextSums, q: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore", divide="ignore"):
        largest = sums.largest / np.sqrt(q.min())
    if not largest <= np.sqrt(np.finfo(np.float32).max):
        raise ParameterError(
            "proposalExponent and contextExponent spread the weights beyond what numbers hold",
            "use exponents nearer to 0",
        )


def block_width(rank: int, n_items: int) -> int:
    """How many columns a pass multiplies: a job costs tenths of a second, so many, while the basis stays small."""
    for block in (WIDEST, 32, 16):
        if 4 * n_items * lanczos.basis_size(rank, block) <= BASIS_BYTES:
            return block
    return lanczos.block_width(rank)


def _block(count: int, n: int) -> tuple[int, bool]:
    """Return the columns of a pass, and whether so many vectors are wanted that all are found at once."""
    block = block_width(count, n)
    while block > 16 and 2 * lanczos.basis_size(count, block) >= n:
        block //= 2
    return block, 2 * lanczos.basis_size(count, block) >= n


def _sharded(data: Prepared, wanted: Wanted, block: int, q: NDArray[np.float64], sums: ContextSums) -> Decomposition:
    """The same with all that is N × K in shards."""
    shards = Shards.of(data, lanczos.basis_size(wanted.count, block) + 4 * block)
    shards.scatter("root", np.sqrt(q).astype(np.float32)[:, None])
    build_pieces(data, shards)
    matrix = ShardedMatrix(data, sums.contexts, shards)
    found, _ = lanczos.search(matrix, wanted, block=block, kind=ShardedBasis)
    basis = cast("ShardedBasis", found)
    values = np.sqrt(np.concatenate((basis.squares, basis.ritz))[: wanted.count])
    along, columns = basis.right_along("found"), Columns(shards, 0, 0)
    shards.each(data.session, Centre(columns, "found", "right", along))
    shards.each(data.session, Scale(columns, "found", "vectors", sums.total**-0.25))
    residual = float(basis.residuals.max())
    return Decomposition(None, values, residual, matrix.passes, q, sums, matrix.seconds, block, shards)


def _vectors(matrix: ClusterMatrix, wanted: Wanted) -> tuple[NDArray[Any], NDArray[np.float64], float, int]:
    """Return V (N, K), σ, the largest residual over σ₁ and the number of passes."""
    n, count = matrix.shape[1], wanted.count
    block, is_wide = _block(count, n)
    if is_wide:
        right = whole_vectors(n, count, matrix.normal).astype(np.float32)
        image = matrix.normal(right)
        squares = np.einsum("ij,ij->j", right, image, dtype=np.float64)
        values = np.sqrt(np.maximum(squares, 0.0))
        error = np.linalg.norm(image - right * squares, axis=0)
        scale = values * values.max()
        residual = float(np.divide(error, scale, out=np.zeros_like(error), where=scale > 0).max())
        return right, values, residual, matrix.passes
    basis, _ = lanczos.search(matrix, wanted, block=block)
    values = np.sqrt(np.concatenate((basis.squares, basis.ritz))[:count])
    return basis.right(), values, float(basis.residuals.max()), matrix.passes


@dataclass(frozen=True)
class LeftRows:
    """c^-½ U C^¼ of the users of a block: rows that, times √(σ − τ)₊, are P."""

    folder: Folder
    contexts: Contexts
    total: float  # C
    values: tuple[float, ...]  # σ
    shards: Shards | None = None

    def __call__(self, number: int) -> NDArray[np.float32]:
        """Return (users, K)."""
        block = read_block(self.folder, number)
        sigma = np.array(self.values)
        with threads(task_threads()):
            if self.shards is None:
                Y = gather_sum(block.by_user, self.folder.read_arrays("right")["X"])
            else:
                Y = rows_times(self.shards, number, block.by_user.n_rows, "right")
        _, context = self.contexts.weights(block.totals)
        scale = row_scales(self.folder, number, self.contexts) * self.total**0.25
        scale = np.divide(scale, np.sqrt(context), out=np.zeros_like(scale), where=context > 0)
        Y *= scale.astype(np.float32)[:, None]
        Y *= np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0).astype(np.float32)
        return Y
