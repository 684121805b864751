"""What a training step is about: the positives of B queries and the negatives drawn for them."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Positives(NamedTuple):
    """P positives of B queries."""

    rows: Tensor  # (P,) int64, which query each positive belongs to, sorted ascending
    columns: Tensor  # (P,) int64, its item
    weights: Tensor  # (P,) float, ≥ 0


class Negatives(NamedTuple):
    """n draws for each positive, or one set of n draws that all positives share."""

    columns: Tensor  # (P, n) int64, or (n,) when all positives share one draw
    log_q: Tensor | None  # same shape: log probability of each draw under the sampler; None: no closed form
    positive_log_q: Tensor | None  # (P,)
    mask: Tensor | None  # (P, n) bool: True = leave this draw out (it is a positive of the query)
