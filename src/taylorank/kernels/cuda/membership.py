"""Which columns are among the entries of rows, on a device."""

from __future__ import annotations

import torch

from taylorank.kernels.cuda.device_rows import DeviceRows


def contains(rows: DeviceRows, wanted: torch.Tensor) -> torch.Tensor:
    """Return whether row x holds each of the columns wanted[x], (B, k); column -1 is in no row. Rows must ascend.

    >>> rows = DeviceRows(torch.tensor([0, 2, 3]), torch.tensor([0, 2, 1], dtype=torch.int32), None, 3)
    >>> contains(rows, torch.tensor([[2, -1], [0, 1]]))
    tensor([[ True, False],
            [False,  True]])
    """
    if not rows.nnz:
        return torch.zeros(wanted.shape, dtype=torch.bool, device=wanted.device)
    entries = rows.row_of_entry() * rows.n_columns + rows.indices
    numbers = torch.arange(len(wanted), device=wanted.device)
    keys = numbers[:, None] * rows.n_columns + wanted
    place = torch.searchsorted(entries, keys).clamp_(max=rows.nnz - 1)
    return (entries[place] == keys) & (wanted >= 0)
