"""What Linux tells of the machine; None elsewhere."""

from __future__ import annotations

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
    """Return the bytes that a process may still take, of the machine or of its container, whichever has fewer."""
    of_machine, limit = memory("MemAvailable"), _number(f"{CGROUP}/memory.max")
    if of_machine is None or limit is None:
        return of_machine
    return min(of_machine, max(0, limit - (_number(f"{CGROUP}/memory.current") or 0)))


def _number(path: str) -> int | None:
    try:
        said = Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None  # "max": no limit


def memory(field: str) -> int | None:
    """Return a field of /proc/meminfo ("MemTotal", "MemAvailable") in bytes."""
    said = proc_field("/proc/meminfo", field)  # "24576000 kB"
    return int(said.split()[0]) * 1024 if said else None
