"""Losses that hold the positive against every negative: logistic (BPR) and hinge.

Values are means over the negatives that are not masked, so their scale does not depend on how many are drawn.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from taylorank.losses.batch import widen


def bpr(positive: Tensor, negative: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """ℓ = −(1/n) Σ_j log σ(o_y − o_j), for scores (P,) and (P, n) → (P,). Rendle et al. (2009).

    >>> import torch
    >>> bpr(torch.zeros(1), torch.zeros(1, 3))
    tensor([0.6931])
    """
    return mean_kept(functional.softplus(widen(negative) - widen(positive)[:, None]), mask)


def hinge(positive: Tensor, negative: Tensor, *, mask: Tensor | None = None, margin: float = 1.0) -> Tensor:
    """ℓ = (1/n) Σ_j [margin − o_y + o_j]₊, for scores (P,) and (P, n) → (P,).

    >>> import torch
    >>> hinge(torch.tensor([0.5]), torch.tensor([[0.0, -2.0]]))
    tensor([0.2500])
    """
    return mean_kept(functional.relu(widen(negative) - widen(positive)[:, None] + margin), mask)


def mean_kept(values: Tensor, mask: Tensor | None) -> Tensor:
    """Return the mean over the columns (P, n) that are not masked; 0 where all are."""
    if mask is None:
        return values.mean(1)
    return values.masked_fill(mask, 0.0).sum(1) / (~mask).sum(1).clamp_min(1)
