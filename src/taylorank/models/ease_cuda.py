"""EASE on a CUDA device: the inverse and the scores, with the numbers of the CPU up to rounding."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions
from taylorank.errors import ParameterError

BLOCK_CELLS = 1 << 29  # of R held dense at a time, in double precision


@torch.no_grad()
def ease_weights(data: Interactions, regularization: float) -> NDArray[np.float32]:
    """Return W_ij = −P_ij / P_jj off the diagonal with P = (RᵀR + λ I)⁻¹, (N, N); in double precision throughout."""
    gram = torch.zeros((data.n_items, data.n_items), dtype=torch.float64, device="cuda")
    size = max(1, BLOCK_CELLS // data.n_items)
    for start in range(0, data.n_users, size):
        block = torch.as_tensor(data.matrix[start : start + size].toarray(), device="cuda").double()
        gram.addmm_(block.T, block)
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


class DeviceScores:
    """R W of rows of histories, with W kept on the device."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        self.weights = torch.as_tensor(weights, device="cuda")

    def __call__(self, rows: sparse.csr_array) -> NDArray[Any]:
        """Return the scores of all items, (B, N)."""
        indptr, indices, data = (torch.tensor(part, device="cuda") for part in (rows.indptr, rows.indices, rows.data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that this layout is in beta
            histories = torch.sparse_csr_tensor(indptr, indices, data, size=rows.shape, check_invariants=False)
        scores: NDArray[Any] = (histories @ self.weights).cpu().numpy()
        return scores
