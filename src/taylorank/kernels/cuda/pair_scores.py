"""Scores of the stored pairs only, on a device."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

import torch

from taylorank.errors import ParameterError
from taylorank.kernels.cuda import torch_reference
from taylorank.kernels.cuda.compiler import jit, next_power, runs_triton, tl
from taylorank.kernels.cuda.device_rows import DeviceRows

TILE = 2048  # products of a program at a time


@jit
def _score_entries(
    owners,
    indices,
    users,
    items,
    out,
    count,
    K,
    WIDE: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """out_j = p_x · q_y for the entries j of one block; WIDE: in float64."""
    entry = tl.program_id(0).to(tl.int64) * BLOCK_E + tl.arange(0, BLOCK_E)
    here = entry < count
    user = tl.load(owners + entry, mask=here, other=0).to(tl.int64)
    item = tl.load(indices + entry, mask=here, other=0).to(tl.int64)
    kind = tl.float64 if WIDE else tl.float32
    total = tl.zeros([BLOCK_E, BLOCK_K], dtype=kind)
    for first in range(0, K, BLOCK_K):
        column = first + tl.arange(0, BLOCK_K)
        inside = here[:, None] & (column < K)[None, :]
        left = tl.load(users + user[:, None] * K + column[None, :], mask=inside, other=0.0).to(kind)
        right = tl.load(items + item[:, None] * K + column[None, :], mask=inside, other=0.0).to(kind)
        total += left * right
    tl.store(out + entry, tl.sum(total, axis=1), mask=here)


def nonzero_scores(
    rows: DeviceRows, users: torch.Tensor, *, items: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return s with s_j = P_x · Q_y for every entry j = (x, y) of `rows`; weights play no part.

    Shapes: `users` is P (rows.n_rows, K), `items` is Q (rows.n_columns, K); the result (rows.nnz,) is float64 if Q is,
    else float32. `out`, if given, receives it.

    >>> rows = DeviceRows(torch.tensor([0, 2]), torch.tensor([0, 1], dtype=torch.int32), None, 2)
    >>> nonzero_scores(rows, torch.tensor([[2.0]]), items=torch.tensor([[1.0], [3.0]]))
    tensor([2., 6.])
    """
    for matrix, name, count in ((users, "users", rows.n_rows), (items, "items", rows.n_columns)):
        if matrix.ndim != 2 or len(matrix) != count or matrix.device != rows.device:
            cause = f"{name} have shape {tuple(matrix.shape)} on {matrix.device}"
            raise ParameterError(cause, f"pass a tensor of shape ({count}, K) on {rows.device}")
    if users.shape[1] != items.shape[1]:
        cause = f"users have {users.shape[1]} factors but items have {items.shape[1]}"
        raise ParameterError(cause, "pass the factors of one model")
    rows.check()
    wide = items.dtype == torch.float64
    if out is None:
        out = torch.empty(rows.nnz, dtype=torch.float64 if wide else torch.float32, device=rows.device)
    if not runs_triton(items) or 0 in (rows.nnz, items.shape[1]):
        return out.copy_(torch_reference.nonzero_scores(rows, users, items))
    tile = min(128, max(16, next_power(items.shape[1])))
    _score_entries[(-(-rows.nnz // (TILE // tile)),)](
        rows.row_of_entry(),
        rows.indices,
        users.contiguous(),
        items.contiguous(),
        out,
        rows.nnz,
        items.shape[1],
        WIDE=wide,
        BLOCK_E=TILE // tile,
        BLOCK_K=tile,
        num_warps=4,
    )
    return out
