"""What Linux reports about the machine and this process; None elsewhere."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CGROUP = "/sys/fs/cgroup"


def proc_field(path: str, field: str) -> str | None:
    """Return the value of the first line "field: value" of a file, or None."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == field)
    return next(values, None)


def available_memory() -> int | None:
    """Return the bytes that a process may still take, of the machine, its container or its limit: the fewest."""
    of_machine, limit = memory("MemAvailable"), _number(f"{CGROUP}/memory.max")
    if of_machine is None:
        return None
    in_container = of_machine if limit is None else max(0, limit - (_number(f"{CGROUP}/memory.current") or 0))
    addresses = left_of_address_space()
    return min(of_machine, in_container, of_machine if addresses is None else addresses)


def left_of_address_space() -> int | None:
    """Return the bytes that `ulimit -v` and `ulimit -d` leave to this process; None without a limit."""
    try:
        import resource

        limits = {0: resource.getrlimit(resource.RLIMIT_AS)[0], 5: resource.getrlimit(resource.RLIMIT_DATA)[0]}
        limits = {field: limit for field, limit in limits.items() if limit != resource.RLIM_INFINITY}
        if not limits:
            return None
        used = Path("/proc/self/statm").read_text(encoding="utf-8").split()  # in pages: of addresses, of data
        return max(0, min(limit - int(used[field]) * resource.getpagesize() for field, limit in limits.items()))
    except (ImportError, OSError):
        return None


def _number(path: str) -> int | None:
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None  # "max": no limit


def memory(field: str, path: str = "/proc/meminfo") -> int | None:
    """Return a field of /proc/meminfo ("MemTotal", "MemAvailable"), or of a file like it, in bytes."""
    text = proc_field(path, field)  # "24576000 kB"
    return int(text.split()[0]) * 1024 if text else None


@dataclass
class Peak:
    """Bytes of resident memory at the peak beyond those at the start; None where the system does not report it."""

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
    gc.collect()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    before = _reset_peak()
    try:
        yield peak
    finally:
        highest = memory("VmHWM", "/proc/self/status")
        if before is not None and highest is not None:
            peak.bytes = max(0, highest - before)


def _reset_peak() -> int | None:
    """Set the high-water mark to what is resident now, and return that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return memory("VmRSS", "/proc/self/status")
