"""The best items of users, by inner products or by scores computed there, on a CUDA device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank.data import CSR

BLOCK_CELLS = 1 << 27  # scores held at a time


class DeviceRanking:
    """Ranks rows of user vectors on a CUDA device, by inner products or by what `score` makes of them.

    Rows where scores are equal across the end of the list, or that are not all numbers, are left to the CPU: the device
    does not say which of equals it takes. The item vectors go to the device once.
    """

    def __init__(
        self,
        items: NDArray[Any],
        *,
        score: Callable[[torch.Tensor], torch.Tensor] | None = None,
        block_cells: int | None = None,
        device: str = "cuda",
    ) -> None:
        self.items, self.score, self.block_cells, self.device = items, score, block_cells, device

    @cached_property
    def _transposed(self) -> torch.Tensor:
        return torch.as_tensor(np.ascontiguousarray(self.items), device=self.device).T

    def __call__(
        self, rows: NDArray[Any], *, k: int, seen: CSR | None, allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return columns and scores by falling score, of equals the lower column first, and the undecided rows."""

        def scores(part: slice) -> torch.Tensor:
            users = torch.as_tensor(np.ascontiguousarray(rows[part]), device=self.device)
            return users @ self._transposed if self.score is None else self.score(users)

        shape = (len(rows), len(self.items))
        return top_k_of(scores, shape, k=k, seen=seen, allowed=allowed, block_cells=self.block_cells)


@torch.no_grad()
def top_k_of(
    scores: Callable[[slice], torch.Tensor],
    shape: tuple[int, int],
    *,
    k: int,
    seen: CSR | None = None,
    allowed: NDArray[np.bool_] | None = None,
    block_cells: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
    """Return columns and scores of the best of each row of a matrix (M, N), and which rows the CPU must decide.

    `scores` gives some rows of the matrix, (B, N), on the device, and may be written over.
    """
    count, n_items = shape
    columns, values = np.empty((count, k), dtype=np.int64), np.empty((count, k), dtype=np.float32)
    undecided = np.empty(count, dtype=bool)
    size = max(1, (block_cells or BLOCK_CELLS) // max(n_items, 1))
    for start in range(0, count, size):
        rows = slice(start, min(start + size, count))
        block = _masked(scores(rows), seen, allowed, rows.start, rows.stop)
        columns[rows], values[rows], undecided[rows] = _best(block, k)
    return columns, values, undecided


def _masked(
    scores: torch.Tensor, seen: CSR | None, allowed: NDArray[np.bool_] | None, start: int, stop: int
) -> torch.Tensor:
    if seen is not None:
        bounds = seen.indptr[start : stop + 1]
        rows = np.repeat(np.arange(stop - start), np.diff(bounds))
        hidden = seen.indices[bounds[0] : bounds[-1]].astype(np.int64)
        scores[torch.as_tensor(rows, device=scores.device), torch.as_tensor(hidden, device=scores.device)] = -torch.inf
    if allowed is not None:
        scores[:, torch.as_tensor(~allowed, device=scores.device)] = -torch.inf
    return scores


def _best(scores: torch.Tensor, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
    """The k best of each row, and which rows the CPU must decide."""
    more = min(k + 1, scores.shape[1])
    values, columns = torch.topk(scores, more, dim=1)
    finite = torch.isfinite(scores).any(dim=1) & ~torch.isnan(scores).any(dim=1)
    undecided = ~finite
    if more > k:
        undecided |= (values[:, k - 1] == values[:, k]) & torch.isfinite(values[:, k])
    values, columns = values[:, :k], columns[:, :k]
    by_column = torch.argsort(columns, dim=1)
    values, columns = values.gather(1, by_column), columns.gather(1, by_column)
    order = torch.argsort(values, dim=1, descending=True, stable=True)
    values, columns = values.gather(1, order), columns.gather(1, order)
    left_out = values == -torch.inf
    columns = torch.where(left_out, -1, columns)
    values = torch.where(left_out, torch.nan, values)
    return columns.cpu().numpy(), values.cpu().numpy(), undecided.cpu().numpy()
