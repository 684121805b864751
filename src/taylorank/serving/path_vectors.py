"""Every rank K' ≤ K and every threshold of one fit, at the price of an ordinary request.

The factors of RG² are P = c^-½ U D^½ C^¼ and Q = q^-½ V D^½ C^-¼ with D = (Σ − τ)₊ (`solvers.spectral`). A score is
their inner product, so D can be moved to the user's side:

    o_xy = w_x · B_y,    B = q^-½ V C^-¼,    w_x = c_x^-½ C^¼ U_x ∘ D,  0 from column K' on

B does not depend on K' and τ. Because V is orthonormal, Qᵀ diag(q) Q = D / √C, and a fold-in (`models.fold_in`) becomes

    w_x = a_x (Σ_y r_xy B_y / I_x − qᵀB) ∘ √C D / Σ
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors, gather_sum
from taylorank.models.fold_in import SharedFoldIn, used_items

Rows = NDArray[np.float32]


class PathVectors:
    """The vectors of items that all K' and τ share, and those of users for each of them."""

    def __init__(self, path: Any, fold_in: SharedFoldIn) -> None:
        self.svd, self.context, self.fold_in = path.svd, path.context, fold_in
        self.largest = float(path.largest)
        self.total = float(path.context.sum())
        self.base = (path.svd.right / (np.sqrt(path.proposal)[:, None] * self.total**0.25)).astype(np.float32)
        self.centre: NDArray[np.float64] = path.proposal @ self.base.astype(np.float64)

    @property
    def max_rank(self) -> int:
        """K."""
        return len(self.svd.values)

    @cached_property
    def items(self) -> ItemVectors:
        """B, laid out for ranking."""
        return ItemVectors(self.base)

    def kept(self, rank: int, regularization: float) -> NDArray[np.float64]:
        """Return D, (K,), 0 from column `rank` on."""
        if not 1 <= rank <= self.max_rank:
            raise ParameterError(f"rank={rank} is outside what was fitted", f"choose 1 to {self.max_rank}")
        D: NDArray[np.float64] = np.maximum(self.svd.values - regularization * self.largest, 0.0)
        D[rank:] = 0.0
        return D

    def user_rows(self, users: NDArray[np.int64], rank: int, regularization: float) -> Rows:
        """Return w of users of the training data by position, (B, K)."""
        context = self.context[users]
        scale = np.divide(self.total**0.25, np.sqrt(context), out=np.zeros_like(context), where=context > 0)
        rows: Rows = (self.svd.left[users] * scale[:, None] * self.kept(rank, regularization)).astype(np.float32)
        return rows

    def history_rows(self, histories: Interactions, rank: int, regularization: float) -> Rows:
        """Return w of new users, (B, K); 0 for one without history."""
        D, sigma = self.kept(rank, regularization), self.svd.values
        shrink = np.sqrt(self.total) * np.divide(D, sigma, out=np.zeros_like(D), where=sigma > 0)
        totals, a, _ = self.fold_in.weights(histories)
        scale = np.divide(a, totals, out=np.zeros_like(totals), where=totals > 0)
        rows, base = used_items(histories.by_user, self.base)
        right = gather_sum(rows, base.astype(np.float64)) * scale[:, None] - np.outer(a, self.centre)
        w: Rows = (right * shrink).astype(np.float32)
        return w

    def contributions(
        self, history: Interactions, vector: NDArray[np.float64], rank: int, regularization: float
    ) -> NDArray[np.float64]:
        """Return a_x (r_j / I_x) ((B_j − qᵀB) ∘ √C D / Σ) · v of each item j of one history, (n,)."""
        D, sigma = self.kept(rank, regularization), self.svd.values
        shrink = np.sqrt(self.total) * np.divide(D, sigma, out=np.zeros_like(D), where=sigma > 0)
        totals, a, _ = self.fold_in.weights(history)
        strengths = history.strengths.astype(np.float64)
        chosen = self.base[history.by_user.indices].astype(np.float64)
        added: NDArray[np.float64] = (a / totals) * strengths * ((chosen - self.centre) @ (shrink * vector))
        return added


def path_vectors_of(model: Any) -> PathVectors | None:
    """Return the path of a fitted model, or None where it has none (saved without it, ALS, the plain penalty)."""
    path = getattr(model, "__dict__", {}).get("path_")
    if path is None or path.plain_weight is not None:
        return None
    vectors = model.ranker.vectors
    fold_in = None if vectors is None else vectors.fold_in
    return PathVectors(path, fold_in) if isinstance(fold_in, SharedFoldIn) else None
