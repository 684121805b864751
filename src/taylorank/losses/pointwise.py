"""Losses that judge every candidate by itself: BCE, CCL, and UIB with a learned boundary per user.

Means over the negatives that are not masked, times `negative_weight`.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from taylorank.errors import ParameterError
from taylorank.losses.batch import widen
from taylorank.losses.pairwise import mean_kept

PENALTIES = ("margin", "logistic")


def bce(positive: Tensor, negative: Tensor, *, mask: Tensor | None = None, negative_weight: float = 1.0) -> Tensor:
    """ℓ = −log σ(o_y) − (w/n) Σ_j log σ(−o_j), for scores (P,) and (P, n) → (P,).

    >>> import torch
    >>> bce(torch.zeros(1), torch.zeros(1, 3))
    tensor([1.3863])
    """
    against = mean_kept(functional.softplus(widen(negative)), mask)
    return functional.softplus(-widen(positive)) + negative_weight * against


def ccl(
    positive: Tensor,
    negative: Tensor,
    *,
    mask: Tensor | None = None,
    margin: float = 0.8,
    negative_weight: float = 100.0,
) -> Tensor:
    """ℓ = 1 − o_y + (w/n) Σ_j [o_j − margin]₊, for cosines (P,) and (P, n) → (P,). Mao et al., SimpleX (2021).

    Scores must be bounded (a backbone with cosine scores), else −o_y falls without end.

    >>> import torch
    >>> ccl(torch.tensor([0.5]), torch.tensor([[1.0, 0.0]]))
    tensor([10.5000])
    """
    return 1 - widen(positive) + negative_weight * mean_kept(functional.relu(widen(negative) - margin), mask)


def uib(
    positive: Tensor,
    negative: Tensor,
    *,
    boundary: Tensor,
    mask: Tensor | None = None,
    penalty: str = "margin",
    margin: float = 1.0,
    negative_weight: float = 4.0,
) -> Tensor:
    """ℓ = φ(b_u − o_y) + (w/n) Σ_j φ(o_j − b_u), for scores (P,), (P, n) and boundaries b (P,) → (P,).

    φ(t) = [t + margin]₊, or log(1 + e^t) for penalty="logistic". The criterion learns b_u = w·u. Zhuo et al. (2022).

    >>> import torch
    >>> uib(torch.tensor([2.0]), torch.tensor([[0.5, -3.0]]), boundary=torch.tensor([1.5]))
    tensor([0.5000])
    """
    if penalty not in PENALTIES:
        raise ParameterError(f"penalty={penalty!r} is unknown", f"choose from {', '.join(PENALTIES)}")

    def phi(t: Tensor) -> Tensor:
        return functional.relu(t + margin) if penalty == "margin" else functional.softplus(t)

    b = widen(boundary)
    return phi(b - widen(positive)) + negative_weight * mean_kept(phi(widen(negative) - b[:, None]), mask)
