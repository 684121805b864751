"""A contender in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# Nothing else is imported, a command line least of all: it would be part of the peak.
ALONE = "import importlib, json, sys; print(json.dumps(importlib.import_module(sys.argv[1]).measure(*sys.argv[2:])))"


def in_own_process(module: str, *arguments: str, limit: float | None = None) -> dict[str, Any]:
    """Call `measure(*arguments)` of a module in a process of its own; return the record that it returns.

    After `limit` seconds it is killed, and TimeoutError raised.
    """
    command = [sys.executable, "-c", ALONE, module, *arguments]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{module} took more than {limit} s") from error
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def peak_mb() -> float:
    """Return the peak resident memory of this process (getrusage would count the parent's as well)."""
    return _status_mb("VmHWM")


def resident_mb() -> float:
    """Return the resident memory of this process now."""
    return _status_mb("VmRSS")


def forget_peak() -> None:
    """Let the peak start again from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def return_memory() -> None:
    """Hand what the allocator holds in reserve back to the system, where the C library can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status_mb(field: str) -> float:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) / 1024
