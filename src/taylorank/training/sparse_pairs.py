"""Products with the observed pairs, both ways, on any device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from taylorank.data import CSR
from taylorank.kernels.cuda import DeviceRows, gather_sum

CHUNK_NUMBERS = 1 << 24  # of gathered vectors held at a time


@dataclass(frozen=True, eq=False)
class SparsePairs:
    """The places (x, y) of an M × N matrix S with few entries; the values are given to each product.

    `order` lists the entries of Sᵀ by their number in S, so that no value is stored twice.
    """

    rows: Tensor  # (nnz,) x of every entry, ascending
    starts: Tensor  # (M + 1,)
    columns: Tensor  # (nnz,) y of every entry
    transposed_starts: Tensor  # (N + 1,)
    order: Tensor  # (nnz,)

    @classmethod
    def of(cls, by_user: CSR, *, device: str = "cpu") -> SparsePairs:
        """Take the places of a CSR matrix."""
        columns = by_user.indices.astype(np.int64)
        order = np.argsort(columns, kind="stable")
        counts = np.bincount(columns, minlength=by_user.n_columns)

        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.as_tensor(values.astype(np.int64), device=device)

        return cls(
            tensor(by_user.row_of_entry()),
            tensor(by_user.indptr),
            tensor(columns),
            tensor(np.concatenate(([0], np.cumsum(counts)))),
            tensor(order),
        )

    def apply(self, values: Tensor, vectors: Tensor) -> Tensor:
        """S X, (M, K), for X (N, K)."""
        if vectors.is_cuda:
            return gather_sum(self._by_row, vectors, weights=values)
        return _product(self.starts, self.columns, values, vectors)

    def apply_transposed(self, values: Tensor, vectors: Tensor) -> Tensor:
        """Sᵀ Y, (N, K), for Y (M, K)."""
        if vectors.is_cuda:
            return gather_sum(self._by_column, vectors, weights=values[self.order])
        return _product(self.transposed_starts, self.rows[self.order], values[self.order], vectors)

    @cached_property
    def _by_row(self) -> DeviceRows:
        return DeviceRows(self.starts, self.columns, None, len(self.transposed_starts) - 1)

    @cached_property
    def _by_column(self) -> DeviceRows:
        return DeviceRows(self.transposed_starts, self.rows[self.order], None, len(self.starts) - 1)

    def scores(self, users: Tensor, items: Tensor) -> Tensor:
        """o_xy = U_x · V_y on the entries alone, (nnz,), some entries at a time."""
        size = max(1, CHUNK_NUMBERS // max(1, users.shape[1]))
        parts = [
            (functional.embedding(x, users) * functional.embedding(y, items)).sum(1)
            for x, y in zip(torch.split(self.rows, size), torch.split(self.columns, size), strict=True)
        ]
        return torch.cat(parts)


def _product(starts: Tensor, columns: Tensor, values: Tensor, vectors: Tensor) -> Tensor:
    return functional.embedding_bag(
        columns, vectors, starts, mode="sum", per_sample_weights=values, include_last_offset=True
    )
