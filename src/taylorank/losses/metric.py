"""Symmetric metric learning: items near their users, others away from both, with learned margins.

With squared distances d in the unit ball, margins m_u and n_y in (0, limit], and λ = `item_weight`, γ = `reward`:

    ℓ = (1/n) Σ_j [d(u, y) − d(u, j) + m_u]₊ − γ m_u  +  λ { (1/n) Σ_j [d(u, y) − d(y, j) + n_y]₊ − γ n_y }

Li et al., Symmetric metric learning with adaptive margin for recommendation (2020). There the reward is γ times the
mean margin of all users and items; here every positive brings that of its own user and item, scaled by λ, so a margin
grows until the share γ of its draws violates it, whatever the number of positives.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from taylorank.losses.batch import widen
from taylorank.losses.pairwise import mean_kept


def sml(
    positive: Tensor,
    negative: Tensor,
    *,
    item_negative: Tensor,
    user_margin: Tensor,
    item_margin: Tensor,
    mask: Tensor | None = None,
    item_weight: float = 1.0,
    reward: float = 0.3,
) -> Tensor:
    """ℓ as above, for d(u, y) (P,), d(u, j) and d(y, j) (P, n), margins (P,) → (P,).

    >>> import torch
    >>> one = torch.ones(1)
    >>> sml(one, torch.tensor([[1.5, 3.0]]), item_negative=torch.tensor([[4.0, 4.0]]), user_margin=one, item_margin=one)
    tensor([-0.3500])
    """

    def part(others: Tensor, margins: Tensor) -> Tensor:
        margin = widen(margins)
        violation = functional.relu(widen(positive)[:, None] - widen(others) + margin[:, None])
        return mean_kept(violation, mask) - reward * margin

    return part(negative, user_margin) + item_weight * part(item_negative, item_margin)


def squared_distance(left: Tensor, right: Tensor) -> Tensor:
    """Return |a − b|², for a (P, K) against b (P, n, K) → (P, n), or against b (n, K) that all share."""
    a, b = widen(left), widen(right)
    products = a @ b.T if b.ndim == 2 else (b @ a[:, :, None]).squeeze(-1)
    return a.square().sum(1, keepdim=True) - 2 * products + b.square().sum(-1)
