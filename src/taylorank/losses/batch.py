"""What a criterion is given: the positives of a batch, and the negatives that a sampler drew for them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from taylorank.errors import ParameterError


class Positives(NamedTuple):
    """The positives of B queries, those of one query side by side."""

    rows: Tensor  # (P,) int64, which query each positive belongs to, ascending
    columns: Tensor  # (P,) int64, its item
    weights: Tensor  # (P,) ≥ 0


class Negatives(NamedTuple):
    """Items drawn against the positives."""

    columns: Tensor  # (P, n) int64, or (n,) where all positives share one draw
    log_q: Tensor | None = None  # same shape: log probability of each draw; None where it has no closed form
    positive_log_q: Tensor | None = None  # (P,): the same of the positives
    mask: Tensor | None = None  # (P, n) bool: True = leave this draw out, it is a positive of the query


def widen(values: Tensor) -> Tensor:
    """Return half and bfloat16 numbers as float32, others as they are: sums over items need the digits."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def check_order(rows: Tensor) -> None:
    """Refuse positives that are not side by side: sums by query would be wrong without a word.

    Only on a CPU: a look at what lies on another device would make every step wait for it.
    """
    if not rows.is_cuda and bool((rows[1:] < rows[:-1]).any()):
        raise ParameterError("the rows of the positives are not in ascending order", "sort the positives by row")


def pick(table: Tensor, index: Tensor) -> Tensor:
    """Return table[index]; its gradient, a sum over equal indices, is far quicker than that of indexing on a CPU."""
    return functional.embedding(index, table)
