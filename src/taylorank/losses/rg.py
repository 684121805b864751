"""RG² and RG× for any encoder: all N negatives through one K × K matrix, no logits.

With m = Σ_y q_y v_y and G = Σ_y q_y v_y v_yᵀ, softmax expanded to second order at zero scores is

    RG² :  ℓ = −u·v_y + u·m + ½ uᵀG u              RG× :  ℓ = −u·v_y + u·m + ½ uᵀG u − ½ (u·m)²

Summed with weights c_x r_xy / I_x these are the quadratic objectives of `objectives.rg` but for a constant. At the
best scores q_y (1 + o_y) is the probability of y (RG×: q_y (1 + o_y − q·o)); rank by it unless q is uniform.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_number
from taylorank.errors import ParameterError
from taylorank.losses.batch import Positives, check_order, pick, widen


def rg2(queries: Tensor, items: Tensor, rows: Tensor, columns: Tensor, *, proposal: Tensor) -> Tensor:
    """ℓ = −u·v_y + q·o + ½ q·o², for queries u (B, K), items v (N, K), positives (P,) each and proposal q (N,) → (P,).

    >>> import torch
    >>> half = torch.full((2,), 0.5)
    >>> rg2(torch.ones(1, 1), torch.tensor([[1.0], [-1.0]]), torch.tensor([0]), torch.tensor([0]), proposal=half)
    tensor([-0.5000])
    """
    return rg2_background(queries, items, proposal=proposal)[rows] - pair_scores(queries, items, rows, columns)


def rgx(queries: Tensor, items: Tensor, rows: Tensor, columns: Tensor, *, proposal: Tensor) -> Tensor:
    """ℓ = −u·v_y + q·o + ½ (q·o² − (q·o)²), arguments as in RG² → (P,).

    >>> import torch
    >>> half = torch.full((2,), 0.5)
    >>> rgx(torch.ones(1, 1), torch.tensor([[1.0], [2.0]]), torch.tensor([0]), torch.tensor([0]), proposal=half)
    tensor([0.6250])
    """
    return rgx_background(queries, items, proposal=proposal)[rows] - pair_scores(queries, items, rows, columns)


def rg2_background(queries: Tensor, items: Tensor, *, proposal: Tensor) -> Tensor:
    """Return u·m + ½ uᵀG u (B,): what the loss takes from all items."""
    mean, square = score_moments(queries, items, proposal)
    return mean + 0.5 * square


def rgx_background(queries: Tensor, items: Tensor, *, proposal: Tensor) -> Tensor:
    """Return u·m + ½ uᵀG u − ½ (u·m)² (B,)."""
    mean, square = score_moments(queries, items, proposal)
    return mean + 0.5 * (square - mean.square())


def rg_sum(background: Tensor, queries: Tensor, items: Tensor, positives: Positives) -> Tensor:
    """Return Σ_p w_p ℓ_p as Σ_x [W_x · background_x − u_x · Σ_y w_xy v_y]: no P × K numbers."""
    check_order(positives.rows)
    U, V = widen(queries), widen(items)
    weights = positives.weights.to(U.dtype)
    offsets = torch.searchsorted(positives.rows, torch.arange(len(U), device=U.device))
    wanted = functional.embedding_bag(positives.columns, V, offsets, mode="sum", per_sample_weights=weights)  # (B, K)
    totals = torch.zeros_like(background).index_add(0, positives.rows, weights.to(background.dtype))
    return totals @ background - (U * wanted).sum()


def pair_scores(queries: Tensor, items: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the scores of the positives, (P,)."""
    return (pick(widen(queries), rows) * pick(widen(items), columns)).sum(1)


def score_moments(queries: Tensor, items: Tensor, proposal: Tensor) -> tuple[Tensor, Tensor]:
    """Return q·o (B,) and q·o² (B,)."""
    if proposal.shape != items.shape[:1]:
        raise ParameterError(f"the proposal has {len(proposal)} entries for {len(items)} items", "give one per item")
    U, V = widen(queries), widen(items)
    weighted = V * proposal.to(V.dtype)[:, None]
    m, G = weighted.sum(0), weighted.T @ V  # (K,), (K, K)
    return U @ m, (U @ G * U).sum(1)


def proposal_from(popularity: Tensor, exponent: float) -> Tensor:
    """Return q ∝ max(popularity, 1)^γ, (N,).

    >>> import torch
    >>> proposal_from(torch.tensor([0.0, 4.0]), 0.5)
    tensor([0.3333, 0.6667])
    """
    logs = check_number(exponent, "proposal_exponent") * widen(popularity.float()).clamp_min(1.0).log()
    return torch.softmax(logs, 0)
