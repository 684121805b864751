"""Triton where it is installed: kernels are compiled at their first call, so there is no build step.

With TRITON_INTERPRET=1, set before Triton is imported, kernels run on tensors of the CPU, slowly: for tests.
"""

from __future__ import annotations

import os
from typing import Any

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # a CPU build of torch brings no Triton
    triton = tl = None

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"

__all__ = ["INTERPRETED", "jit", "next_power", "runs_triton", "tl"]


def jit(function: Any) -> Any:
    """Return the function as a Triton kernel; without Triton, as it is, never to be called."""
    return function if triton is None else triton.jit(function)


def runs_triton(tensor: torch.Tensor) -> bool:
    """Return whether kernels on this tensor are Triton's."""
    return triton is not None and (tensor.is_cuda or INTERPRETED)


def next_power(number: int) -> int:
    """Return the least power of two that is not below `number`.

    >>> next_power(1), next_power(65)
    (1, 128)
    """
    return 1 << max(0, number - 1).bit_length()
