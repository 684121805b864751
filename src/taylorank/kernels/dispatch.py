"""Which kernels take an array: tensors go to `kernels.cuda`, all else stays here. Torch is never imported for it."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def is_tensor(array: Any) -> bool:
    """Return whether `array` is a torch tensor; if torch is not imported yet, it cannot be.

    >>> is_tensor([1.0])
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def tensor_kernels() -> Any:
    """Import and return the kernels that take tensors."""
    return importlib.import_module("taylorank.kernels.cuda")
