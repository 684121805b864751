"""Arrays of either kind: NumPy's, and torch tensors, which are told apart without importing torch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR


def is_tensor(array: Any) -> bool:
    """Return whether this is a torch tensor.

    >>> is_tensor(np.zeros(3))
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def namespace(array: Any) -> Any:
    """Return the module with the functions of this kind of array: torch or NumPy."""
    return sys.modules["torch"] if is_tensor(array) else np


def to_numpy(array: Any) -> NDArray[Any]:
    """Return the array in host memory."""
    plain: NDArray[Any] = array.cpu().numpy() if is_tensor(array) else np.asarray(array)
    return plain


def like(array: Any, values: Any) -> Any:
    """Return values as an array of the same kind, type and place as `array`."""
    if is_tensor(array):
        return sys.modules["torch"].as_tensor(values).to(array)
    return np.asarray(values, dtype=array.dtype)


def zeros(array: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros of the same kind, type and place as `array`."""
    return array.new_zeros(shape) if is_tensor(array) else np.zeros(shape, dtype=array.dtype)


def device_rows(rows: CSR, device: str) -> Any:
    """Return sparse rows as tensors on a device of torch."""
    from taylorank.kernels.cuda import DeviceRows

    return DeviceRows.from_csr(rows, device)


def squared_lengths(block: Any) -> NDArray[np.float64]:
    """Return ‖x‖² of each column of a block (n, K), summed in float64, in host memory."""
    if is_tensor(block):
        return to_numpy((block * block).sum(0, dtype=sys.modules["torch"].float64))
    lengths: NDArray[np.float64] = np.einsum("ij,ij->j", block, block, dtype=np.float64)
    return lengths
