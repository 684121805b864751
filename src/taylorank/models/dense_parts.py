"""Parts of sparse rows as dense tensors, made on the device."""

from __future__ import annotations

import torch

from taylorank.data import Interactions
from taylorank.kernels.cuda import DeviceRows

EXACT_COUNTS = 1 << 24  # sums of ones below this are exact in float32


def type_of_counts(data: Interactions) -> torch.dtype:
    """Return the type in which sums over users of products of strengths are exact, or as good as they get.

    Without strengths they are counts of users. Ones and zeros stay what they are when products round their factors,
    as TF32 does, and are summed in float32.
    """
    return torch.float32 if data.is_binary and data.n_users < EXACT_COUNTS else torch.float64


def dense_part(rows: DeviceRows, first: int, last: int, dtype: torch.dtype) -> torch.Tensor:
    """Return rows first, …, last − 1 as a dense tensor, (last − first, n_columns).

    >>> rows = DeviceRows(torch.tensor([0, 2, 3]), torch.tensor([0, 2, 1], dtype=torch.int32), None, 3)
    >>> dense_part(rows, 0, 2, torch.float32)
    tensor([[1., 0., 1.],
            [0., 1., 0.]])
    """
    start, stop = rows.indptr[[first, last]].tolist()
    numbers = torch.arange(last - first, device=rows.device)
    owners = torch.repeat_interleave(numbers, rows.row_lengths[first:last], output_size=stop - start)
    dense = torch.zeros(last - first, rows.n_columns, dtype=dtype, device=rows.device)
    values = torch.ones((), dtype=dtype, device=rows.device) if rows.weights is None else rows.weights[start:stop]
    dense[owners, rows.indices[start:stop].long()] = values.to(dtype)
    return dense
