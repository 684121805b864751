"""In which order and pieces the rows of a skewed matrix are summed: long rows first, in pieces of bounded length.

A row of a million entries beside rows of ten would keep one multiprocessor busy long after all others are done. Pieces
are summed apart, then their sums in the order of the row: always in the same order, so always to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, eq=False)
class Schedule:
    """Short rows by falling length; long rows with their pieces.

    Piece j of long rows covers entries starts[j], …, stops[j] − 1 of row owners[j]; long row i, which is row
    `long_rows[i]` of the matrix, has pieces firsts[i], …, firsts[i + 1] − 1.
    """

    short_rows: torch.Tensor
    long_rows: torch.Tensor
    firsts: torch.Tensor
    starts: torch.Tensor
    stops: torch.Tensor
    owners: torch.Tensor


def scheduled(indptr: torch.Tensor, *, longest: int, first: int, last: int) -> Schedule:
    """Return the schedule of rows first, …, last − 1; `longest` is the most entries of a piece.

    >>> plan = scheduled(torch.tensor([0, 1, 6, 9]), longest=3, first=0, last=3)
    >>> plan.short_rows.tolist(), plan.starts.tolist(), plan.stops.tolist()
    ([2, 0], [1, 4], [4, 6])
    """
    lengths = torch.diff(indptr[first : last + 1])
    order = torch.sort(lengths, descending=True, stable=True).indices
    n_long = int((lengths > longest).sum())
    rows = order + first
    long_rows = rows[:n_long]
    pieces = (lengths[order[:n_long]] + longest - 1) // longest
    firsts = torch.zeros(n_long + 1, dtype=torch.int64, device=indptr.device)
    torch.cumsum(pieces, 0, out=firsts[1:])
    owners = torch.repeat_interleave(long_rows, pieces)
    within = torch.arange(len(owners), device=indptr.device) - torch.repeat_interleave(firsts[:-1], pieces)
    starts = indptr[owners] + within * longest
    stops = torch.minimum(starts + longest, indptr[owners + 1])
    return Schedule(rows[n_long:].contiguous(), long_rows.contiguous(), firsts, starts, stops, owners)
