"""The best of each row among k groups of scores, by Triton: one program sorts the candidates of one row.

A score and its place are packed into one integer, so that no two are equal and every sort has one outcome.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

import torch

from taylorank.kernels.cuda.compiler import jit, next_power, runs_triton, tl

MOST_KEYS = 8192  # that one program sorts
MAXIMA_CELLS = 4096  # scores that one program reads


@jit
def _keys(scores, places):
    """Score and place as one int64: rising with the score, of equal scores falling with the place."""
    bits = tl.where(scores == 0, 0.0, scores).to(tl.int32, bitcast=True)  # −0 becomes +0
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return (rising.to(tl.int64) << 32) + (0x7FFFFFFF - places).to(tl.int64)


@jit
def _places(keys):
    return 0x7FFFFFFF - (keys & 0x7FFFFFFF).to(tl.int32)


@jit
def _group_maxima(scores, maxima, groups, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """The largest score of each group of neighbours in one row; NaN where the group holds one."""
    row = tl.program_id(0).to(tl.int64)
    number = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    column = number[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    block = tl.load(scores + row * groups * GROUP + column, mask=(number < groups)[:, None], other=float("-inf"))
    unsound = tl.max((block != block).to(tl.int32), axis=1)
    largest = tl.where(unsound > 0, float("nan"), tl.max(block, axis=1))
    tl.store(maxima + row * groups + number, largest, mask=number < groups)


@jit
def _select(
    scores,
    maxima,
    ids,
    best,
    groups,
    width,
    k,
    GROUP: tl.constexpr,
    LISTS: tl.constexpr,
    MAXIMA: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    number = tl.arange(0, MAXIMA)
    largest = tl.load(maxima + row * groups + number, mask=number < groups, other=float("-inf"))
    chosen = _places(tl.topk(_keys(largest, number), LISTS))
    column = chosen[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    found = tl.load(scores + row * width + column, mask=(chosen < groups)[:, None], other=float("-inf"))
    keys = tl.topk(tl.reshape(_keys(found, column), [LISTS * GROUP]), LISTS)
    rising = (keys >> 32).to(tl.int32)
    score = (rising ^ ((rising >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)
    place = tl.arange(0, LISTS)
    missing = score == float("-inf")
    tl.store(ids + row * k + place, tl.where(missing, -1, _places(keys)).to(tl.int64), mask=place < k)
    tl.store(best + row * k + place, tl.where(missing, float("nan"), score), mask=place < k)


def group_maxima(scores: torch.Tensor, group: int) -> torch.Tensor:
    """Return the largest of each `group` neighbours in a row, (B, width / group); NaN where one of them is NaN.

    >>> group_maxima(torch.tensor([[1.0, 3.0, 2.0, float("nan")]]), 2)
    tensor([[3., nan]])
    """
    count, width = scores.shape
    groups = width // group
    if not runs_triton(scores) or group < 2:
        return scores.view(count, groups, group).amax(dim=2)
    maxima = torch.empty(count, groups, device=scores.device)
    block = max(1, MAXIMA_CELLS // group)
    _group_maxima[(count, -(-groups // block))](scores, maxima, groups, GROUP=group, BLOCK=block, num_warps=4)
    return maxima


def selects(scores: torch.Tensor, groups: int, group: int, k: int) -> bool:
    """Return whether the kernel takes this: where it runs, and if its sorts are small enough."""
    return runs_triton(scores) and next_power(groups) <= MOST_KEYS and next_power(k) * group <= MOST_KEYS


def select(scores: torch.Tensor, maxima: torch.Tensor, *, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return columns and values of the k best of each row of scores (B, width), given the maxima of their groups.

    The number of groups is at least k. Of equal scores the lower column comes first; −inf becomes -1 and NaN.
    """
    count, width = scores.shape
    groups = maxima.shape[1]
    ids = torch.empty(count, k, dtype=torch.int64, device=scores.device)
    best = torch.empty(count, k, device=scores.device)
    lists = max(2, next_power(k))
    _select[(count,)](
        scores,
        maxima,
        ids,
        best,
        groups,
        width,
        k,
        GROUP=width // groups,
        LISTS=lists,
        MAXIMA=max(lists, next_power(groups)),
        num_warps=4 if max(next_power(groups), lists * (width // groups)) <= 2048 else 8,
    )
    return ids, best
