"""Gram matrix of a tall block of tensors and the inverse of a small one, in float64."""

from __future__ import annotations

import torch

from taylorank.errors import ParameterError
from taylorank.kernels import grams

CELLS_AT_ONCE = 1 << 26
STRIP = 1024  # rows; the products of strips are independent, so that a narrow block keeps the whole device busy
NARROW = 512  # columns; a wider product keeps it busy alone
ON_HOST = 96  # rows of a matrix that a CPU inverts in less time than a device takes to begin


def gram(block: torch.Tensor) -> torch.Tensor:
    """Return XᵀX for X (n, K) of floats, multiplied and summed in float64.

    >>> gram(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10., 14.],
            [14., 20.]], dtype=torch.float64)
    """
    if block.ndim != 2 or not block.is_floating_point():
        raise ParameterError(
            f"a block is {block.dtype} with shape {tuple(block.shape)}", "pass an (n, K) tensor of floats"
        )
    width = block.shape[1]
    total = torch.zeros(width, width, dtype=torch.float64, device=block.device)
    together = max(STRIP, CELLS_AT_ONCE // max(1, width) // STRIP * STRIP)
    for first in range(0, len(block), together):
        part = block[first : first + together].double()
        whole = len(part) // STRIP * STRIP if width <= NARROW else 0
        if whole:
            strips = part[:whole].view(-1, STRIP, width)
            total += (strips.mT @ strips).sum(dim=0)
        total.addmm_(part[whole:].mT, part[whole:])
    return total


def inverse(matrix: torch.Tensor) -> torch.Tensor:
    """Return H⁻¹ for a symmetric positive semidefinite H (K, K) in float64; H⁺ where H is singular.

    >>> inverse(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]], dtype=torch.float64)
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"a matrix has shape {tuple(matrix.shape)}", "pass a square one")
    wide = matrix.double()
    if len(wide) <= ON_HOST:
        return torch.as_tensor(grams.inverse(wide.cpu().numpy()), device=matrix.device)
    lower, info = torch.linalg.cholesky_ex(wide)
    unsound, failed = torch.stack([~torch.isfinite(wide).all(), info != 0]).tolist()  # one wait for the device
    if unsound:
        raise ParameterError("a matrix holds a value that is infinite or not a number", "look where it comes from")
    if failed:
        found: torch.Tensor = torch.linalg.pinv(wide, hermitian=True)
        return found
    return torch.cholesky_inverse(lower)
