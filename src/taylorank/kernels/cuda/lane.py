"""Two buffers on a device that a stream of its own fills in turn, each while kernels read the other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

import torch


class Lane:
    """Copies parts of arrays of host memory to a device; on a CPU the same steps, one after the other.

    A part goes through `fill`, `take` and `release`. Filling waits, on its stream, until the part before last in the
    same buffer is released; taking lets the current stream wait until the buffer is filled.

    >>> with Lane(torch.device("cpu"), (torch.arange(6),), 3) as lane:
    ...     lane.fill(0, 0, 2)
    ...     lane.fill(1, 2, 5)
    ...     [lane.take(0, 2)[0].tolist(), lane.take(1, 3)[0].tolist()]
    [[0, 1], [2, 3, 4]]
    """

    def __init__(self, device: torch.device, arrays: tuple[torch.Tensor, ...], most: int) -> None:
        self.arrays = arrays
        self.buffers = [[torch.empty(most, dtype=one.dtype, device=device) for one in arrays] for _ in range(2)]
        self.stream: torch.cuda.Stream | None = None
        self.filled: list[torch.cuda.Event | None] = [None, None]
        self.read: list[torch.cuda.Event | None] = [None, None]
        if device.type == "cuda":
            self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            self.current = torch.cuda.current_stream(device)
            self.stream.wait_stream(self.current)  # what the memory of the buffers held before may still be read

    def fill(self, number: int, first: int, last: int) -> None:
        """Begin to copy entries first, …, last − 1 of all arrays into the buffer of part `number`."""
        slot, released = number % 2, self.read[number % 2]
        if self.stream is not None and released is not None:
            self.stream.wait_event(released)
        with self._on_its_stream():
            for buffer, array in zip(self.buffers[slot], self.arrays, strict=True):
                buffer[: last - first].copy_(array[first:last], non_blocking=True)
        if self.stream is not None:
            self.filled[slot] = self.stream.record_event()

    def take(self, number: int, count: int) -> list[torch.Tensor]:
        """Return the `count` entries of part `number`, for kernels of the current stream."""
        filled = self.filled[number % 2]
        if filled is not None:
            self.current.wait_event(filled)
        return [buffer[:count] for buffer in self.buffers[number % 2]]

    def release(self, number: int) -> None:
        """Let the buffer of part `number` be filled again once the kernels that were started so far are done."""
        if self.stream is not None:
            self.read[number % 2] = self.current.record_event()

    def _on_its_stream(self) -> AbstractContextManager[object]:
        return nullcontext() if self.stream is None else torch.cuda.stream(self.stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """After an error wait for copies that nobody took: the buffers go back to the memory of the current stream."""
        if kind is not None and self.stream is not None:
            self.stream.synchronize()
