"""Rows that stay in host memory and pass through a device block by block, for data that it cannot hold.

While the kernel of one block runs, a second stream copies the next block from pinned memory into the other of two
buffers. A block is whole rows, and a row is summed in the same order as in `DeviceRows`: to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError, TrainingWarning, warn_caller
from taylorank.kernels.cuda.device_rows import DeviceRows
from taylorank.kernels.cuda.gather import checked_factors, checked_out, checked_weights, gather_sum
from taylorank.kernels.cuda.lane import Lane
from taylorank.kernels.cuda.schedule import Schedule

BLOCK_BYTES = 1 << 28  # of indices and weights: enough to hide what starting a copy and a kernel costs


@dataclass(frozen=True, eq=False)
class Block:
    """Rows first, …, last − 1, which are entries start, …, stop − 1; what is known of them stays on the device."""

    first: int
    last: int
    start: int
    stop: int
    indptr: torch.Tensor  # on the device, from 0
    schedules: dict[tuple[int, int, int], Schedule] = field(default_factory=dict)

    def rows(self, indices: torch.Tensor, weights: torch.Tensor | None, n_columns: int) -> DeviceRows:
        """Return the rows of this block, given its entries on the device."""
        rows = DeviceRows(self.indptr, indices, weights, n_columns)
        rows.schedules.update(self.schedules)
        rows.__dict__["_checked"] = True  # as part of the whole
        return rows


@dataclass(eq=False)
class StreamedRows:
    """Rows as in `DeviceRows`, with `indptr`, `indices` and `weights` in host memory and sums on `device`.

    With `scales` (a, b) on the device the weight of entry (x, y) is a_x b_y, times its stored weight if there is one,
    made there block by block: of data without strengths the indices alone are copied. Sums hold two blocks of at most
    `block_bytes`, or of one row where that is longer; where memory does not suffice, the blocks are halved.

    >>> rows = CSR(np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32), None, 3)
    >>> streamed = StreamedRows.from_csr(rows, "cpu", block_bytes=8)
    >>> gather_sum(streamed, torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])), len(streamed.blocks)
    (tensor([[6., 8.],
            [3., 4.]]), 2)
    """

    indptr: torch.Tensor
    indices: torch.Tensor
    weights: torch.Tensor | None
    n_columns: int
    device: torch.device
    scales: tuple[torch.Tensor, torch.Tensor] | None = None
    block_bytes: int = BLOCK_BYTES

    @classmethod
    def from_csr(
        cls, rows: CSR, device: str | torch.device = "cuda", *, block_bytes: int = BLOCK_BYTES
    ) -> StreamedRows:
        """Take rows of host memory, which are copied to pinned memory for CUDA; weights become float32."""
        place = torch.empty(0, device=device).device  # with its number
        weights = None if rows.weights is None else _hosted(rows.weights, np.float32, place)
        index_type = np.int64 if rows.indices.dtype == np.int64 else np.int32
        indices = _hosted(rows.indices, index_type, place)
        indptr = torch.from_numpy(np.require(rows.indptr, dtype=np.int64, requirements=["C", "W"]))
        return cls(indptr, indices, weights, rows.n_columns, place, block_bytes=block_bytes)

    def with_weights(self, weights: torch.Tensor | None) -> StreamedRows:
        """Return the same rows with other weights, of host memory, and no scales."""
        return replace(self, weights=weights, scales=None)

    def with_scales(self, by_row: torch.Tensor, by_column: torch.Tensor) -> StreamedRows:
        """Return the same rows with weights a_x b_y, times the stored ones."""
        return replace(self, scales=(by_row, by_column))

    def transpose(self) -> StreamedRows:
        """Return the same entries by column; made in host memory."""
        weights = None if self.weights is None else self.weights.numpy()
        by_column = CSR(self.indptr.numpy(), self.indices.numpy(), weights, self.n_columns).transpose()
        streamed = StreamedRows.from_csr(by_column, self.device, block_bytes=self.block_bytes)
        return streamed if self.scales is None else streamed.with_scales(*reversed(self.scales))

    @property
    def n_rows(self) -> int:
        """How many rows there are, empty ones included."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """How many entries are stored."""
        return len(self.indices)

    def row_of_entry(self) -> torch.Tensor:
        """Return the row number of every entry, int64, in host memory."""
        return self._in_host_memory.row_of_entry()

    @cached_property
    def _in_host_memory(self) -> DeviceRows:
        return DeviceRows(self.indptr, self.indices, None, self.n_columns)

    @property
    def blocks(self) -> list[Block]:
        """How the rows are cut; made anew when `block_bytes` has changed."""
        kept: tuple[int, list[Block]] | None = self.__dict__.get("_cut")
        if kept is None or kept[0] != self.block_bytes:
            kept = self.__dict__["_cut"] = (self.block_bytes, self._cut_rows())
        return kept[1]

    @property
    def _entry_bytes(self) -> int:
        return self.indices.element_size() + (0 if self.weights is None else self.weights.element_size())

    def _cut_rows(self) -> list[Block]:
        bounds = row_bounds(self.indptr.numpy(), max(1, self.block_bytes // self._entry_bytes))
        entries = self.indptr[torch.as_tensor(bounds)].tolist()
        indptr = self.indptr.to(self.device)
        return [
            Block(first, last, start, stop, indptr[first : last + 1] - start)
            for first, last, start, stop in zip(bounds, bounds[1:], entries, entries[1:], strict=False)
        ]

    def gather_sum(
        self,
        factors: torch.Tensor,
        *,
        weights: torch.Tensor | Literal["stored"] | None = "stored",
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return what `kernels.cuda.gather_sum` does for these rows; given `weights` may be in host memory."""
        Q = checked_factors(factors, self.n_columns, self.device)
        target = checked_out(out, (self.n_rows, Q.shape[1]), Q)
        given: Any = weights
        if not isinstance(weights, str):
            given = checked_weights(weights, self._in_host_memory, anywhere=True)
        self._in_host_memory.check()
        while not self._tried(Q, given, target):
            self._halve()
        return target

    def _tried(self, Q: torch.Tensor, weights: Any, target: torch.Tensor) -> bool:
        """Sum all blocks; False if memory did not suffice. What the error holds is free again after that."""
        try:
            self._sum_blocks(Q, weights, target)
        except torch.cuda.OutOfMemoryError:
            return False
        return True

    def _sum_blocks(self, Q: torch.Tensor, weights: Any, target: torch.Tensor) -> None:
        blocks = self.blocks
        streams = (self.indices,) if self.weights is None or weights is None else (self.indices, self.weights)
        with Lane(self.device, streams, max((block.stop - block.start for block in blocks), default=0)) as lane:
            for number, block in enumerate(blocks):
                if number == 0:
                    lane.fill(0, block.start, block.stop)
                if number + 1 < len(blocks):
                    lane.fill(number + 1, blocks[number + 1].start, blocks[number + 1].stop)
                indices, *stored = lane.take(number, block.stop - block.start)
                rows = block.rows(indices, None, self.n_columns)
                values = self._block_weights(block, rows, stored, weights)
                gather_sum(rows, Q, weights=values, out=target[block.first : block.last])
                block.schedules.update(rows.schedules)
                lane.release(number)

    def _block_weights(
        self, block: Block, rows: DeviceRows, stored: list[torch.Tensor], weights: Any
    ) -> torch.Tensor | None:
        """The weights of a block on the device, by the same products as of all entries at once."""
        if not isinstance(weights, str):
            return None if weights is None else weights[block.start : block.stop].to(self.device)
        if self.scales is None:
            return stored[0] if stored else None
        by_row, by_column = self.scales
        scaled = by_row[block.first : block.last][rows.row_of_entry()] * by_column[rows.indices]
        return scaled * stored[0] if stored else scaled

    def _halve(self) -> None:
        """Cut the rows into blocks of half the size and say so; raise if no block would become smaller."""
        largest = max(block.stop - block.start for block in self.blocks)
        self.block_bytes = max(1, min(self.block_bytes, self._entry_bytes * largest) // 2)
        if max(block.stop - block.start for block in self.blocks) == largest:
            raise ParameterError(
                f"the device has no memory left for a block of {largest:,} entries",
                "use fewer factors, or device='cpu'",
            )
        warn_caller(
            f"the device ran out of memory: data now pass through it in {len(self.blocks):,} blocks of at most "
            f"{_megabytes(self.block_bytes)}, half of what they were",
            TrainingWarning,
        )


def row_bounds(indptr: np.ndarray, most: int) -> list[int]:
    """Return where to cut rows so that a part holds at most `most` entries, or a single row.

    >>> row_bounds(np.array([0, 2, 2, 3, 9, 10]), 3)
    [0, 3, 4, 5]
    """
    bounds, n_rows = [0], len(indptr) - 1
    while bounds[-1] < n_rows:
        last = int(np.searchsorted(indptr, indptr[bounds[-1]] + most, side="right")) - 1
        bounds.append(min(n_rows, max(last, bounds[-1] + 1)))
    return bounds


def _hosted(array: np.ndarray, dtype: type, device: torch.device) -> torch.Tensor:
    """Return an array as a tensor of host memory, pinned if it is meant for CUDA and the system lets it be."""
    if device.type == "cuda":
        kind = torch.from_numpy(np.empty(0, dtype=dtype)).dtype
        try:
            pinned = torch.empty(len(array), dtype=kind, pin_memory=True)
        except RuntimeError:  # more than may be pinned: copies are slower, and do not overlap
            pass
        else:
            pinned.numpy()[:] = array
            return pinned
    return torch.from_numpy(np.require(array, dtype=dtype, requirements=["C", "W"]))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.3g} MB"
