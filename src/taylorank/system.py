"""What Linux tells of the machine in /proc; None elsewhere."""

from __future__ import annotations

from pathlib import Path


def proc_field(path: str, field: str) -> str | None:
    """Return the value of the first line "field: value" of a file, or None."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == field)
    return next(values, None)


def memory(field: str) -> int | None:
    """Return a field of /proc/meminfo ("MemTotal", "MemAvailable") in bytes."""
    said = proc_field("/proc/meminfo", field)  # "24576000 kB"
    return int(said.split()[0]) * 1024 if said else None
