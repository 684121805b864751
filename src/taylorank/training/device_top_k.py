"""The best items of users by inner products, on a CUDA device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels import top_k as on_cpu

BLOCK_CELLS = 1 << 27  # scores held at a time


def top_k(
    users: NDArray[Any],
    items: NDArray[Any],
    *,
    k: int,
    seen: CSR | None = None,
    allowed: NDArray[np.bool_] | None = None,
    device: str = "cuda",
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return what `kernels.top_k` returns: columns and scores by falling score, of equals the lower column first.

    Rows where scores are equal across the end of the list, or that are not all numbers, are left to the kernel: the
    device does not say which of equals it takes.
    """
    of_items = torch.as_tensor(np.ascontiguousarray(items), device=device)
    columns = np.empty((len(users), k), dtype=np.int64)
    scores = np.empty((len(users), k), dtype=np.float32)
    size = max(1, BLOCK_CELLS // max(len(items), 1))
    for start in range(0, len(users), size):
        stop = min(start + size, len(users))
        part = torch.as_tensor(np.ascontiguousarray(users[start:stop]), device=device)
        block = _masked(part @ of_items.T, seen, allowed, start, stop)  # (B, N)
        found, values, doubtful = _best(block, k)
        columns[start:stop], scores[start:stop] = found, values
        for row in start + np.flatnonzero(doubtful):
            one = None if seen is None else _row(seen, int(row))
            columns[row], scores[row] = (
                part[0] for part in on_cpu(users[row : row + 1], items, k=k, seen=one, allowed=allowed)
            )
    return columns, scores


def is_there() -> bool:
    """Return whether there is a CUDA device."""
    return bool(torch.cuda.is_available())


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
    """The k best of each row, and which rows the kernel must decide."""
    more = min(k + 1, scores.shape[1])
    values, columns = torch.topk(scores, more, dim=1)
    finite = torch.isfinite(scores).any(dim=1) & ~torch.isnan(scores).any(dim=1)
    doubtful = ~finite
    if more > k:
        doubtful |= (values[:, k - 1] == values[:, k]) & torch.isfinite(values[:, k])
    values, columns = values[:, :k], columns[:, :k]
    by_column = torch.argsort(columns, dim=1)
    values, columns = values.gather(1, by_column), columns.gather(1, by_column)
    order = torch.argsort(values, dim=1, descending=True, stable=True)
    values, columns = values.gather(1, order), columns.gather(1, order)
    left_out = values == -torch.inf
    columns = torch.where(left_out, -1, columns)
    values = torch.where(left_out, torch.nan, values)
    return columns.cpu().numpy(), values.cpu().numpy(), doubtful.cpu().numpy()


def _row(rows: CSR, row: int) -> CSR:
    part = slice(*rows.indptr[row : row + 2])
    return CSR(np.array([0, part.stop - part.start]), rows.indices[part], None, rows.n_columns)
