"""Sparse side features: rows of a CSR matrix times a table of embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.initial import normal
from taylorank.checks import check_whole
from taylorank.data.matrix_format import checked_csr
from taylorank.data.shuffle import random_keys
from taylorank.deprecation import renamed
from taylorank.errors import ParameterError


class Features(nn.Module):
    """x ↦ Σ_f X_xf W_f for rows x of a sparse matrix X (rows × F), with W (F, width) learned, N(0, std²) at first.

    X is kept as buffers beside the model and is not saved with it. Only the rows that are asked for are read.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor

    def __init__(self, matrix: Any, width: int, *, std: float, generator: torch.Generator) -> None:
        super().__init__()
        rows = sparse.csr_array(matrix)
        for name, array in (("indptr", rows.indptr), ("indices", rows.indices)):
            self.register_buffer(name, torch.from_numpy(array.astype(np.int64)), persistent=False)
        self.register_buffer("values", torch.from_numpy(rows.data.astype(np.float32)), persistent=False)
        self.table = normal(rows.shape[1], width, std=std, generator=generator)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the sums of the given rows, (len(rows), width)."""
        starts = self.indptr.index_select(0, rows)
        lengths = self.indptr.index_select(0, rows + 1) - starts
        ends = lengths.cumsum(0)
        # entry j of the batch stands at j − (start of its bag in the batch) + (start of its row in X)
        shift = torch.repeat_interleave(starts - ends + lengths, lengths)
        entries = torch.arange(len(shift), device=rows.device) + shift
        columns = self.indices.index_select(0, entries)
        values = self.values.index_select(0, entries).to(self.table.dtype)
        try:
            return functional.embedding_bag(columns, self.table, ends - lengths, mode="sum", per_sample_weights=values)
        except NotImplementedError:  # torch has no forward-mode derivative of it
            bags = torch.repeat_interleave(lengths)
            parts = functional.embedding(columns, self.table) * values[:, None]
            empty = torch.zeros(len(rows), parts.shape[1], dtype=parts.dtype, device=parts.device)
            return empty.index_add(0, bags, parts)


def check_features(matrix: Any, rows: int, name: str) -> Any:
    """Return the matrix as CSR with finite values and the given number of rows."""
    if not sparse.issparse(matrix):
        raise ParameterError(f"{name} is not a sparse matrix", "give a scipy.sparse CSR matrix")
    if matrix.shape[0] != rows or not matrix.shape[1]:
        raise ParameterError(f"{name} is {matrix.shape[0]} × {matrix.shape[1]}", f"give {rows} rows of features")
    result = checked_csr(matrix)
    if not np.all(np.isfinite(result.data)):
        raise ParameterError(f"{name} holds values that are not finite", "fill them in")
    return result


@renamed(seed="random_state")
def hash_columns(matrix: Any, buckets: int, *, random_state: int = 0) -> sparse.csr_array:
    """Return X with its columns hashed into `buckets`, with random signs (Weinberger et al., ICML 2009).

    Signs make collisions cancel on average: inner products of rows keep their expectation.

    >>> hash_columns(sparse.eye_array(1000, format="csr"), 16).shape
    (1000, 16)
    """
    rows = checked_csr(matrix)
    keys = random_keys(rows.shape[1], random_state)
    bucket = (keys >> np.uint64(1)) % np.uint64(check_whole(buckets, "buckets"))
    sign = 1 - 2 * (keys & np.uint64(1)).astype(np.float32)
    hashed = sparse.csr_array(
        (rows.data * sign[rows.indices], bucket[rows.indices].astype(np.int64), rows.indptr),
        shape=(rows.shape[0], buckets),
    )
    hashed.sum_duplicates()
    return hashed
