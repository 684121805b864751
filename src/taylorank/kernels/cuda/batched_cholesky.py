"""Many small symmetric systems at once."""

from __future__ import annotations

import torch

SMALLEST_PIVOT = 64 * 1.2e-7  # relative to the diagonal: below, it is rounding error of float32


def factor_solve(matrices: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Solve H_x p_x = b_x in place of `right` (n, K), from the lower triangles of `matrices` (n, K, K), float32.

    Returns for which rows no pivot vanished and the solution is finite.
    """
    lower, info = torch.linalg.cholesky_ex(matrices)
    pivots, diagonals = lower.diagonal(dim1=1, dim2=2) ** 2, matrices.diagonal(dim1=1, dim2=2)
    good = (info == 0) & (pivots > SMALLEST_PIVOT * diagonals).all(dim=1)
    right.copy_(torch.cholesky_solve(right[..., None], lower)[..., 0])
    valid: torch.Tensor = good & torch.isfinite(right).all(dim=1)
    return valid
