"""EASE on a device of torch: the inverse and the scores, with the numbers of the CPU up to rounding."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels.cuda import DeviceRows
from taylorank.kernels.cuda.precision import products_in
from taylorank.models.dense_parts import dense_part, type_of_counts

BLOCK_CELLS = 1 << 29  # of R held dense at a time


@torch.no_grad()
def ease_weights(data: Interactions, regularization: float, device: str = "cuda") -> NDArray[np.float32]:
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
    inverse = torch.cholesky_inverse(lower)
    del lower
    inverse.div_(-inverse.diagonal().clone())
    inverse.fill_diagonal_(0.0)
    weights: NDArray[np.float32] = inverse.float().cpu().numpy()
    return weights


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

    def __init__(self, weights: NDArray[np.float32], device: str = "cuda") -> None:
        self.weights = torch.as_tensor(np.require(weights, requirements=["W"]), device=device)

    def __call__(self, rows: sparse.csr_array) -> NDArray[Any]:
        """Return the scores of all items, (B, N)."""
        device = self.weights.device
        indptr, indices, data = (torch.tensor(part, device=device) for part in (rows.indptr, rows.indices, rows.data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that this layout is in beta
            histories = torch.sparse_csr_tensor(indptr, indices, data, size=rows.shape, check_invariants=False)
        scores: NDArray[Any] = (histories @ self.weights).cpu().numpy()
        return scores
