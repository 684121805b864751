"""What a comparison or a benchmark ran on: the machine, how busy it was, and the commit of the library."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from taylorank.kernels import kernel_info
from taylorank.system import memory, proc_field

LIBRARIES = ("taylorank", "numpy", "scipy", "torch", "implicit", "irspack", "ranx", "polars")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory, load average, versions and kernels, ready for JSON."""
    return {
        "cpu": proc_field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(total / 2**30, 1) if (total := memory("MemTotal")) else None,
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name))},
        "kernels": str(kernel_info()),
        **({"gpu": gpu} if (gpu := _gpu()) else {}),
    }


def _gpu() -> str | None:
    """The CUDA device, if torch is in use already: importing it for this takes seconds."""
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None


def source_commit(folder: Path = Path(__file__).parent) -> str | None:
    """Return the commit of the library, "-dirty" behind it if files were changed since; None outside a checkout."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, timeout=10
        )
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", ".")  # a package installed inside another checkout is no part of it
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def cpu_ticks() -> list[int] | None:
    """Return the CPU time spent so far, by kind as in /proc/stat, or None where there is no such file."""
    try:
        return [int(ticks) for ticks in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except OSError:
        return None


def stolen_share(before: list[int] | None, after: list[int] | None) -> float | None:
    """Return the share of busy CPU time that other tenants of a virtual machine's host took meanwhile."""
    if before is None or after is None:
        return None
    spent = [b - a for a, b in zip(before, after, strict=True)]
    user, nice, system, _, _, irq, softirq, steal = spent[:8]
    busy = user + nice + system + irq + softirq + steal
    return round(steal / busy, 3) if busy else 0.0


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
