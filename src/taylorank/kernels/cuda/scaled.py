"""Rows with the weights a_x b_y r_xy in both orders on a device: kept there if they fit, else streamed through it."""

from __future__ import annotations

import torch

from taylorank.data.csr import CSR
from taylorank.errors import TrainingWarning, warn_caller
from taylorank.kernels.cuda.device_rows import DeviceRows
from taylorank.kernels.cuda.memory import free_memory
from taylorank.kernels.cuda.streamed import BLOCK_BYTES, StreamedRows

BYTES_KEPT = 16  # of an entry in both orders: index and weight
BYTES_TO_MAKE = 44  # at the peak, while the entries are sorted by column
BYTES_OF_BLOCKS = 10  # held while a block is summed, for each byte of the block
LEAST_BLOCK = 1 << 20
Rows = DeviceRows | StreamedRows


def scaled_rows(rows: CSR, by_row: torch.Tensor, by_column: torch.Tensor, *, room: int = 0) -> tuple[Rows, Rows]:
    """Return rows with weights a_x b_y, times those of `rows`, by row and by column, on the device of a and b.

    `room` is how many bytes there must stay free for other things. Where the device holds no more than that, or runs
    out of memory, the rows stream through it from host memory.
    """
    free = free_memory(by_row.device)
    if max(BYTES_TO_MAKE * rows.nnz, BYTES_KEPT * rows.nnz + room) <= free:
        whole = _kept(rows, by_row, by_column)
        if whole is not None:
            return whole
        warn_caller("the device ran out of memory: data now pass through it in blocks", TrainingWarning)
    left = max(0, int(min(free, 1 << 62)) - room) // BYTES_OF_BLOCKS
    block_bytes = max(LEAST_BLOCK, min(BLOCK_BYTES, left))
    streamed = StreamedRows.from_csr(rows, by_row.device, block_bytes=block_bytes).with_scales(by_row, by_column)
    return streamed, streamed.transpose()


def _kept(rows: CSR, by_row: torch.Tensor, by_column: torch.Tensor) -> tuple[Rows, Rows] | None:
    """Return the rows in both orders on the device; None if its memory does not suffice."""
    try:
        there = DeviceRows.from_csr(rows, by_row.device)
        weights = by_row[there.row_of_entry()] * by_column[there.indices]
        there = there.with_weights(weights if there.weights is None else weights * there.weights)
        return there, there.transpose()
    except torch.cuda.OutOfMemoryError:
        return None
