"""How much memory of a device may be used: what is free there, and what TAYLORANK_DEVICE_MEMORY leaves of it."""

from __future__ import annotations

import math
import os
import re

import torch

from taylorank.errors import ParameterError

VARIABLE = "TAYLORANK_DEVICE_MEMORY"
UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", start=1)}
UNITS |= {f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", start=1)}


def read_size(text: str) -> int:
    """Return a number of bytes.

    >>> read_size("40GB"), read_size("1.5 GiB"), read_size("1000")
    (40000000000, 1610612736, 1000)
    """
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in UNITS:
        raise ParameterError(f"{VARIABLE}={text!r} is no size", "write 40GB, 512MiB or a number of bytes")
    return int(float(found[1]) * UNITS[found[2].upper()])


def memory_limit() -> float:
    """Return the bytes of a device that this process may hold; infinite if the variable is not set."""
    text = os.environ.get(VARIABLE, "")
    return read_size(text) if text else math.inf


def free_memory(device: torch.device) -> float:
    """Return the bytes that tensors may still take on a device: a limit alone for one that stands in for CUDA."""
    if device.type != "cuda":
        return memory_limit()
    held = torch.cuda.memory_allocated(device)
    unused = torch.cuda.memory_reserved(device) - held  # what torch keeps for later tensors
    return min(torch.cuda.mem_get_info(device)[0] + unused, memory_limit() - held)


def cells_at_once(device: torch.device, most: int, *, on_cpu: int) -> int:
    """Return how many float32 to hold at a time: `most`, if a quarter of the free memory takes them."""
    if device.type != "cuda":
        return on_cpu
    free = torch.cuda.mem_get_info(device)[0]
    if free // 16 < most:  # what torch keeps for later tensors is slow to ask for
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(min(most, free // 16))
