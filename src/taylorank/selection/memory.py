"""How much memory a piece of work needs at its peak, native allocations included."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Peak:
    """Bytes of resident memory at the peak beyond those at the start; None where the system cannot tell."""

    bytes: int | None = None


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the block: the peak of resident memory while it runs, less what was resident before.

    Linux keeps a high-water mark for each process and lets it be set back, so no second process is needed. What
    earlier work has freed is first given back to the system: memory that is merely reused would not be seen.

    >>> with peak_memory() as peak:
    ...     block = bytearray(50_000_000)
    >>> peak.bytes is None or 45_000_000 < peak.bytes < 80_000_000
    True
    """
    peak = Peak()
    _release()
    before = _reset()
    try:
        yield peak
    finally:
        highest = _field("VmHWM")
        if before is not None and highest is not None:
            peak.bytes = max(0, highest - before)


def _release() -> None:
    gc.collect()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def _reset() -> int | None:
    """Set the high-water mark to what is resident now, and return that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _field("VmRSS")


def _field(name: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)
