"""What the threshold of RG² took and what it left, from the factors; and which threshold other data favour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.objectives import RG

Floats = NDArray[Any]
SHARES = tuple(round(0.05 * step, 2) for step in range(20))


@dataclass(frozen=True)
class Spectrum:
    """D = (σ − τ)₊, the singular values of P'Q'ᵀ, and those σ of S' that they come from."""

    rank: int  # how many are left
    threshold: float  # τ
    largest: float  # σ₁
    explained: float  # Σ σ² of these over ‖S'‖²
    kept: float  # Σ D² / Σ σ²

    def numbers(self) -> dict[str, float]:
        """What to print."""
        return {
            "factors that are not 0": float(self.rank),
            "threshold over largest singular value": self.threshold / self.largest if self.largest else float("nan"),
            "variance of targets in these factors": self.explained,
            "share of it kept by the threshold": self.kept,
        }


def spectrum_of(model: Any) -> Spectrum | None:
    """Return the spectrum of a fitted RG2 or RGX; None for other models, and where the training data is gone."""
    kind = getattr(model, "objective", None)
    if not (isinstance(kind, type) and issubclass(kind, RG) and model._trained_on.is_of(model.seen)):
        return None
    objective: RG = model._objective(model.seen)
    P = np.sqrt(objective.context)[:, None] * model.user_factors.astype(np.float64)
    Q = np.sqrt(objective.proposal)[:, None] * model.item_factors.astype(np.float64)
    users, items = (np.asarray(np.linalg.qr(side, mode="r")) for side in (P, Q))  # two triangles have the same σ
    D = np.linalg.svd(users @ items.T, compute_uv=False)
    floor = 1e-6 * max(float(D[0]), np.finfo(float).tiny)
    D = D[floor < D]
    threshold = float(model.penalty_) * np.sqrt(objective.context_total)
    sigma = D + threshold
    energy = float(sigma @ sigma)
    return Spectrum(
        rank=len(D),
        threshold=threshold,
        largest=float(sigma[0]) if len(sigma) else threshold,
        explained=energy / objective.squared_norm if objective.squared_norm else float("nan"),
        kept=float(D @ D) / energy if energy else 0.0,
    )


def has_path(model: Any) -> bool:
    """Whether the model knows its factors at other thresholds: it was fitted here, by the SVD."""
    path = model.__dict__.get("path_")
    return path is not None and len(path.context) == len(model.users)


def best_share(model: Any, data: Interactions) -> tuple[float, float]:
    """Return the τ/σ₁ with the lowest RG² loss on `data`, and how much lower than the model's."""
    path = model.path_
    shares = (*SHARES, float(model.regularization))
    losses = [_loss(model, data, *path.factors(model.factors, share)) for share in shares]
    best = int(np.argmin(losses))
    return shares[best], losses[-1] - losses[best]


def _loss(model: Any, data: Interactions, P: Floats, Q: Floats) -> float:
    """Mean over the pairs of `data` of −o_y + q·o + ½ q·o², through the Gram matrix of the items."""
    position = model.users.positions(data.user_ids)
    rows = position[data.by_user.row_of_entry()]
    there = rows >= 0
    rows, columns = rows[there], data.by_user.indices[there]
    P, Q = P.astype(np.float64), Q.astype(np.float64)
    weighted = model.proposal_[:, None] * Q
    background = P @ weighted.sum(axis=0) + 0.5 * np.einsum("xi,ij,xj->x", P, weighted.T @ Q, P, optimize=True)
    # Σ_p P_x · Q_y as ⟨P, Σ_y Q_y⟩: no gathered rows of both sides
    by_user = np.zeros_like(P)
    np.add.at(by_user, rows, Q[columns])
    counts = np.bincount(rows, minlength=len(P))
    return float((counts @ background - np.vdot(P, by_user)) / max(len(rows), 1))
