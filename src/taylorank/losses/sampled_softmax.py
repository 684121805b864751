"""Softmax from a sample: n negatives j ~ q stand for all items.

The three ways to correct for q differ in what they converge to. With p the softmax over all N items, and constants
removed, the value exceeds that of softmax on average by

    sampled_softmax             −log(N q_j) on negatives                   N p_y / n − χ²(p‖q) / 2n
    sampled_softmax_all         −log(n q) on positive and negatives        p_y / (n q_y) − χ²(p‖q) / 2n
    sampled_softmax_negatives   −log(n q_j) on negatives                   log(1 + p_y): does not vanish

The best scores under `all` are log p(y | x) + constant for every n and q, and under the first for every n if q is
uniform (the positive is one of n + 1 candidates: Bayes' rule). NCE decides for each candidate whether it is data or
noise; its best scores are log p(y | x) for every n and q, without a constant, and its gradient is softmax's up to
O(1/n) for scores with Σ_j exp(o_j) = 1.

Bengio, Senécal (2008); Covington, Adams, Sargin (2016); Yi et al. (2019); Gutmann, Hyvärinen (2012).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.losses.batch import widen


def sampled_softmax(
    positive: Tensor, negative: Tensor, *, n_items: int, log_q: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """ℓ = −o_y + log(e^{o_y} + Σ_j e^{o_j} / (N q_j)), for scores (P,) and (P, n) → (P,). Without log_q, q is uniform.

    >>> import torch
    >>> sampled_softmax(torch.zeros(1), torch.zeros(1, 3), n_items=10)
    tensor([1.3863])
    """
    offsets = None if log_q is None else log_q + math.log(n_items)
    return _log_sum(widen(positive), _corrected(negative, offsets, mask))


def sampled_softmax_all(
    positive: Tensor, negative: Tensor, *, log_q: Tensor, positive_log_q: Tensor, mask: Tensor | None = None
) -> Tensor:
    """ℓ = −s_y + log(e^{s_y} + Σ_j e^{s_j}), s = o − log(n q), for scores (P,) and (P, n) → (P,).

    >>> import torch
    >>> quarter = torch.tensor([0.25]).log()
    >>> sampled_softmax_all(torch.zeros(1), torch.zeros(1, 3), log_q=quarter, positive_log_q=quarter)
    tensor([1.3863])
    """
    score = widen(positive)
    # log n is on both sides and cancels
    return _log_sum(score - positive_log_q.to(score.dtype), _corrected(negative, log_q, mask))


def sampled_softmax_negatives(
    positive: Tensor, negative: Tensor, *, log_q: Tensor, mask: Tensor | None = None
) -> Tensor:
    """ℓ = −o_y + log(e^{o_y} + Σ_j e^{o_j} / (n q_j)), for scores (P,) and (P, n) → (P,).

    >>> import torch
    >>> sampled_softmax_negatives(torch.zeros(1), torch.zeros(1, 3), log_q=torch.tensor([0.25]).log())
    tensor([1.6094])
    """
    return _log_sum(widen(positive), _corrected(negative, log_q + math.log(negative.shape[1]), mask))


def nce(
    positive: Tensor,
    negative: Tensor,
    *,
    log_q: Tensor,
    positive_log_q: Tensor,
    mask: Tensor | None = None,
    log_normalizer: float = 0.0,
) -> Tensor:
    """ℓ = −log σ(s_y − log(n q_y)) − Σ_j log σ(log(n q_j) − s_j), for scores (P,) and (P, n) → (P,).

    s = o − log Z are log probabilities; Z is not computed but given, and the scores learn to agree with it.

    >>> import torch
    >>> half = torch.tensor([0.5]).log()
    >>> nce(torch.zeros(1), torch.zeros(1, 2), log_q=half, positive_log_q=half)
    tensor([2.0794])
    """
    noise = math.log(negative.shape[1]) + log_normalizer
    score = widen(positive)
    data = functional.softplus(positive_log_q.to(score.dtype) + noise - score)
    return data + functional.softplus(_corrected(negative, log_q + noise, mask)).sum(1)


def _corrected(negative: Tensor, offsets: Tensor | None, mask: Tensor | None) -> Tensor:
    """Return o_j − offset; −inf where the draw is left out, which every loss here takes for absent."""
    scores = widen(negative)
    if offsets is not None:
        scores = scores - offsets.to(scores.dtype)
    return scores if mask is None else scores.masked_fill(mask, -torch.inf)


def _log_sum(positive: Tensor, negative: Tensor) -> Tensor:
    return torch.logsumexp(torch.cat((positive[:, None], negative), 1), 1) - positive
