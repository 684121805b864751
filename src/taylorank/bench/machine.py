"""The machine that a benchmark ran on, and how busy it was."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from taylorank.kernels import kernel_info

LIBRARIES = ("taylorank", "numpy", "scipy", "torch", "implicit", "irspack", "ranx", "polars")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory, load average, versions and kernels, ready for JSON."""
    return {
        "cpu": _proc_field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name))},
        "kernels": str(kernel_info()),
    }


def _proc_field(path: str, field: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == field)
    return next(values, None)


def _memory_gib() -> float | None:
    total = _proc_field("/proc/meminfo", "MemTotal")  # "24576000 kB"
    return round(int(total.split()[0]) / 2**20, 1) if total else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
