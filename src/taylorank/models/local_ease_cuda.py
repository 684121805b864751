"""EASE with few weights for each item, on a device of torch."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from taylorank.data import Interactions
from taylorank.models.ease_cuda import item_products
from taylorank.models.local_ease import ROUNDING, in_rows

SYSTEM_CELLS = 1 << 26  # of the systems that are solved at a time


@torch.no_grad()
def local_weights(data: Interactions, regularization: float, neighbours: int, device: str = "cuda") -> sparse.csr_array:
    """Return W as `local_ease.local_weights`; of equally like items at the end of a list any may stay."""
    likeness = item_products(data, device)
    scales = torch.sqrt(likeness.diagonal().double() + regularization)
    likeness = (likeness / scales / scales[:, None]).float()
    likeness.fill_diagonal_(0.0)
    count = max(1, min(neighbours, data.n_items - 1))  # of one item itself, with S = 0
    parts = []
    for start in range(0, data.n_items, size := max(1, SYSTEM_CELLS // count**2)):
        values, nearest = likeness[start : start + size].topk(count, dim=1)
        solved = _solved(likeness, nearest, values.clamp_min_(0.0))
        own = torch.arange(start, start + len(nearest), device=device)[:, None].expand_as(nearest)
        weights = solved * (scales[own] / scales[nearest])
        parts.append(tuple(part.cpu().numpy().ravel() for part in (weights.float(), nearest, own)))
    found, rows, columns = (np.concatenate(side) for side in zip(*parts, strict=True))
    return in_rows(found, rows, columns, data.n_items)


def _solved(likeness: torch.Tensor, nearest: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Solve S_CC x = S_Cj for each row, (B, k); items that are not like j have equations of their own, x = 0."""
    systems = likeness[nearest[:, :, None], nearest[:, None, :]]
    like = values > 0
    systems.mul_(like[:, :, None]).mul_(like[:, None, :])
    systems.diagonal(dim1=1, dim2=2).copy_(1.0 + like.sum(1, keepdim=True) * ROUNDING)
    lower, failed = torch.linalg.cholesky_ex(systems)
    solved: torch.Tensor = torch.cholesky_solve(values[:, :, None], lower)[:, :, 0]
    for row in failed.nonzero()[:, 0].tolist():
        system = likeness[nearest[row][:, None], nearest[row]].double() * like[row] * like[row][:, None]
        system.fill_diagonal_(1.0)
        solved[row] = (torch.linalg.pinv(system, hermitian=True) @ values[row].double()).float()
    return solved.mul_(like)
