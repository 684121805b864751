"""What a teacher of inner products tells a student, computed on a device of torch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank.models.student_torch import quick_products
from taylorank.ranking import Ranker, Vectors

BLOCK_CELLS = 1 << 27  # scores held at a time
Part = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], int]


@torch.no_grad()
def list_parts(ranker: Ranker, vectors: Vectors, *, top: int, sharpness: float, device: str) -> Iterator[Part]:
    """Yield block by block the lengths of the users' lists, their items and shares, and how many users are known.

    As `teacher_lists`, but of equal scores at the end of a list any may stay, and products round their factors (TF32).
    """
    live, used = vectors.items.used
    items = torch.as_tensor(used.factors, device=device)
    scales, offsets = (
        None if line is None else torch.as_tensor(line, device=device) for line in (vectors.scales, vectors.offsets)
    )
    hidden = None if ranker.rankable is None else torch.tensor(~ranker.rankable, device=device)
    size = max(1, BLOCK_CELLS // len(items))
    for start in range(0, len(ranker.users), size):
        users = np.arange(start, min(start + size, len(ranker.users)))
        rows = torch.as_tensor(vectors.rows(users)[:, live], device=device, dtype=items.dtype)
        with quick_products():
            scores = rows @ items.T  # (B, N)
        if scales is not None:
            scores *= scales
        if offsets is not None:
            scores += offsets
        if hidden is not None:
            scores.masked_fill_(hidden, -torch.inf)
        known = torch.tensor(~ranker.is_cold(users), device=device)
        yield _part(scores, known, top, sharpness)


def _part(scores: torch.Tensor, known: torch.Tensor, top: int, sharpness: float) -> Part:
    values, places = scores.topk(top, dim=1)
    p = values.double().clamp_min_(0.0).mul_(known[:, None])
    p = (p / p[:, :1].clamp_min(torch.finfo(p.dtype).tiny)).pow_(sharpness).mul_(p > 0)  # 0⁰ is 1
    shares = (p / p.sum(dim=1, keepdim=True).clamp_min(torch.finfo(p.dtype).tiny)).float()
    places, order = places.int().sort(dim=1)  # ascending, as kernels like their rows
    shares = shares.gather(1, order)
    kept = shares > 0
    found = (kept.sum(dim=1), places[kept], shares[kept])
    lengths, items, weights = (part.cpu().numpy() for part in found)
    return lengths, items, weights, int(known.sum())
