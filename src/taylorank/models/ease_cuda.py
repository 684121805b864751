"""EASE on a device of torch: the inverse and the scores, with the numbers of the CPU up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels.cuda import DeviceRows, gather_sum
from taylorank.kernels.cuda.precision import products_in
from taylorank.models.dense_parts import dense_part, type_of_counts

BLOCK_CELLS = 1 << 29  # of R held dense at a time
PANEL = 2048  # columns of the inverse made at a time


@torch.no_grad()
def ease_weights(data: Interactions, regularization: float, device: str = "cuda") -> torch.Tensor:
    """Return W_ij = −P_ij / P_jj off the diagonal with P = (RᵀR + λ I)⁻¹, (N, N); P in double precision."""
    gram = item_products(data, device).double()
    gram.diagonal().add_(regularization)
    lower, failed = torch.linalg.cholesky_ex(gram)
    if int(failed):
        raise ParameterError(
            f"regularization={regularization} is too small for strengths as large as these",
            "raise it, or scale the strengths down",
        )
    del gram
    inverse = symmetric_inverse(lower)
    del lower
    inverse.div_(-inverse.diagonal().clone())
    inverse.fill_diagonal_(0.0)
    return inverse.float()


def symmetric_inverse(lower: torch.Tensor) -> torch.Tensor:
    """Return (L Lᵀ)⁻¹ = MᵀM with M = L⁻¹, which takes the place of L.

    By large products, where torch solves for each column.

    >>> symmetric_inverse(torch.tensor([[2.0, 0.0], [1.0, 1.0]]))
    tensor([[ 0.5000, -0.5000],
            [-0.5000,  1.0000]])
    """
    _invert_lower(lower)
    whole = torch.empty_like(lower)
    for first in range(0, len(lower), PANEL):
        last = min(first + PANEL, len(lower))
        torch.mm(lower[first:, first:last].mT, lower[first:, :last], out=(rows := whole[first:last, :last]))
        whole[:first, first:last] = rows[:, :first].mT
    return whole


def _invert_lower(lower: torch.Tensor) -> None:
    """Put M = L⁻¹ in the place of L = [A 0; B C]: [A⁻¹ 0; −C⁻¹ B A⁻¹  C⁻¹]."""
    n = len(lower)
    if n <= PANEL:
        eye = torch.eye(n, dtype=lower.dtype, device=lower.device)
        lower.copy_(torch.linalg.solve_triangular(lower, eye, upper=False))
        return
    half = n // 2
    _invert_lower(lower[:half, :half])
    _invert_lower(lower[half:, half:])
    below = lower[half:, :half]
    below.copy_(lower[half:, half:] @ (below @ lower[:half, :half])).neg_()


def item_products(data: Interactions, device: str) -> torch.Tensor:
    """Return RᵀR, (N, N): counts in float32, by tensor cores and exact; with strengths in float64."""
    rows, dtype = DeviceRows.from_csr(data.by_user, device), type_of_counts(data)
    gram = torch.zeros((data.n_items, data.n_items), dtype=dtype, device=device)
    size = max(1, BLOCK_CELLS // data.n_items)
    with products_in("high"):
        for start in range(0, data.n_users, size):
            block = dense_part(rows, start, min(start + size, data.n_users), dtype)
            gram.addmm_(block.T, block)
    return gram


class DeviceScores:
    """R W of rows of histories, with W kept on the device."""

    def __init__(self, weights: torch.Tensor) -> None:
        self.weights = weights

    @torch.no_grad()
    def __call__(self, rows: sparse.csr_array) -> NDArray[Any]:
        """Return the scores of all items, (B, N); the same bits each time, as no sparse product of torch promises."""
        histories = CSR(rows.indptr.astype(np.int64), rows.indices, rows.data.astype(np.float32), rows.shape[1])
        of_device = DeviceRows.from_csr(histories, self.weights.device)
        scores: NDArray[Any] = gather_sum(of_device, self.weights).cpu().numpy()
        return scores
