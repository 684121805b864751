"""The few operations that solvers need on arrays of either kind, NumPy's or tensors; torch is never imported here."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.data.csr import CSR
from taylorank.kernels.aligned import aligned_empty
from taylorank.kernels.dispatch import is_tensor


def namespace(array: Any) -> Any:
    """Return the module with the functions of this kind of array: torch or NumPy."""
    return sys.modules["torch"] if is_tensor(array) else np


def to_numpy(array: Any) -> NDArray[Any]:
    """Return the array in host memory."""
    plain: NDArray[Any] = array.cpu().numpy() if is_tensor(array) else np.asarray(array)
    return plain


def like(array: Any, values: Any, *, dtype: str | None = None) -> Any:
    """Return values as an array of the same kind, type (unless another is named) and place as `array`."""
    if not is_tensor(array):
        return np.asarray(values, dtype=dtype or array.dtype)
    torch = sys.modules["torch"]
    plain = values if is_tensor(values) else torch.as_tensor(np.require(values, requirements=["C", "W"]))
    return plain.to(device=array.device, dtype=getattr(torch, dtype) if dtype else array.dtype)


def to_device(array: NDArray[Any], device: str) -> Any:
    """Return the array as a tensor on a device of torch."""
    torch = importlib.import_module("torch")
    return torch.as_tensor(np.require(array, requirements=["C", "W"])).to(device)


def as_double(array: Any) -> Any:
    """Return the array in float64."""
    return array.double() if is_tensor(array) else array.astype(np.float64)


def empty(array: Any, shape: tuple[int, ...]) -> Any:
    """Return an array, not filled, of the same kind, type and place as `array`."""
    return array.new_empty(shape) if is_tensor(array) else aligned_empty(shape, array.dtype)


def normal(array: Any, shape: tuple[int, ...], random_state: int) -> Any:
    """Return standard normal numbers of the kind, type and place of `array`; each place has its own for a seed."""
    if not is_tensor(array):
        return np.random.default_rng(random_state).standard_normal(shape).astype(array.dtype)
    torch = sys.modules["torch"]
    generator = torch.Generator(array.device).manual_seed(random_state)
    return torch.randn(shape, generator=generator, device=array.device, dtype=array.dtype)


def triangular_inverse(lower: Any) -> Any:
    """Return L⁻¹ of a lower triangular matrix."""
    if is_tensor(lower):
        return sys.modules["torch"].linalg.solve_triangular(lower, identity(lower), upper=False)
    return linalg.solve_triangular(lower, identity(lower), lower=True)


def tall_product(block: Any, square: Any) -> Any:
    """Return X W of a tall block and a small square matrix, in the precision of the block."""
    if is_tensor(block):
        from taylorank.kernels.cuda.precision import product

        return product(block, square)
    return block @ square


def identity(square: Any) -> Any:
    """Return the identity of the size, kind and place of a square matrix."""
    if is_tensor(square):
        return sys.modules["torch"].eye(len(square), dtype=square.dtype, device=square.device)
    return np.eye(len(square))


def inner(first: Any, second: Any) -> float:
    """Return Σ first · second over all cells, summed in float64."""
    if is_tensor(first):
        return float((first * second).sum(dtype=sys.modules["torch"].float64))
    return float(np.einsum("ij,ij->", first, second, dtype=np.float64))


def device_rows(rows: CSR, device: Any) -> Any:
    """Return sparse rows as tensors on a device of torch."""
    from taylorank.kernels.cuda import DeviceRows

    return DeviceRows.from_csr(rows, device)


def contains_on(device: Any, rows: CSR, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether row x holds each of the columns wanted[x], (B, k), worked out on a device of torch."""
    from taylorank.kernels.cuda.membership import contains

    return to_numpy(contains(device_rows(rows, device), to_device(wanted, device)))


def scaled_rows(rows: CSR, by_row: Any, by_column: Any, *, room: int) -> tuple[Any, Any]:
    """Return rows with weights a_x b_y, times those of `rows`, in both orders on the device of the tensors a and b.

    They stream through it if it cannot hold them beside `room` bytes of other things.
    """
    from taylorank.kernels.cuda import scaled_rows

    return scaled_rows(rows, by_row, by_column, room=room)


def squared_lengths(block: Any) -> NDArray[np.float64]:
    """Return ‖x‖² of each column of a block (n, K), summed in float64, in host memory."""
    if is_tensor(block):
        return to_numpy((block * block).sum(0, dtype=sys.modules["torch"].float64))
    lengths: NDArray[np.float64] = np.einsum("ij,ij->j", block, block, dtype=np.float64)
    return lengths
