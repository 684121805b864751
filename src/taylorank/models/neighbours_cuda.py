"""Item neighbours on a device of torch: the nearest of each item and the scores, with the numbers of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR, Interactions
from taylorank.kernels.cuda import DeviceRows, gather_sum
from taylorank.kernels.cuda.torch_reference import top_k_scores
from taylorank.models.dense_parts import dense_part, type_of_counts

BLOCK_CELLS = 1 << 27  # of a dense block of items by users or by items
WIDEST = 512  # items of a block


@torch.no_grad()
def nearest_items(
    data: Interactions, norms: NDArray[np.float64], *, count: int, shrink: float, device: str
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Yield, for block after block of items i, the `count` items j with the largest cosines, and those.

    cosine_ij = (r_i · r_j) / (‖r_i‖ ‖r_j‖ + shrink), 0 for j = i. The products of all items with a block of them are
    one gather-sum of the dense columns of that block.
    """
    rows, dtype = DeviceRows.from_csr(data.by_item, device), type_of_counts(data)
    lengths = torch.as_tensor(norms, device=device)
    size = max(1, min(WIDEST, BLOCK_CELLS // max(data.n_users, data.n_items)))
    for start in range(0, data.n_items, size):
        block = dense_part(rows, start, min(start + size, data.n_items), dtype)  # (B, M)
        cosines = gather_sum(rows, block.T.contiguous()).T.double()  # (B, N)
        cosines /= lengths[start : start + len(block), None] * lengths + shrink + float(np.finfo(np.float32).tiny)
        own = torch.arange(len(block), device=device)
        cosines[own, start + own] = 0.0
        nearest, values = top_k_scores(cosines.float(), count)
        yield nearest.cpu().numpy(), values.cpu().numpy()


class NeighbourScores:
    """R W of rows of histories, with a sparse W kept on the device, by column."""

    def __init__(self, weights: sparse.csr_array, device: str) -> None:
        by_column = weights.tocsc()
        columns = CSR(by_column.indptr.astype(np.int64), by_column.indices, by_column.data, weights.shape[0])
        self.by_column = DeviceRows.from_csr(columns, device)

    @torch.no_grad()
    def __call__(self, rows: sparse.csr_array) -> NDArray[Any]:
        """Return the scores of all items, (B, N)."""
        strengths = rows.data.astype(np.float32)
        histories = CSR(rows.indptr.astype(np.int64), rows.indices, strengths, rows.shape[1])
        device = self.by_column.device
        dense = dense_part(DeviceRows.from_csr(histories, device), 0, rows.shape[0], torch.float32)
        scores: NDArray[Any] = gather_sum(self.by_column, dense.T.contiguous()).T.contiguous().cpu().numpy()
        return scores
