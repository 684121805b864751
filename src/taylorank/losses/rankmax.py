"""Rankmax: only items that come within 1 of the positive's score count.

    ℓ(o; y) = −log p_y = log Σ_j [o_j − o_y + 1]₊        p_j = [o_j − o_y + 1]₊ / Σ

The positive itself counts 1 in the sum S, whatever its score, so ℓ ≥ 0, and ℓ = 0 where it leads all others by 1.
With A the items above the threshold t = o_y − 1, y among them, and 1 = o_y − t not moving with o_y:

    ∂ℓ/∂o_k = 1/S for k ∈ A but y        ∂ℓ/∂o_y = −(|A| − 1)/S        0 elsewhere

which sums to 0 (adding a constant to all scores changes nothing) but is not p − e_y: rankmax is no Fenchel-Young
loss, and not convex. Kong, Krichene, Mayoraz, Rendle, Zhang: Rankmax, an adaptive projection alternative to the
softmax function (2020).

The value depends on y beyond −o_y, so a row with m positives has m sums. They share one pass: every item falls
between two of the row's sorted thresholds, and S_i = S_{i+1} + (excess over t_i of the items between) + (t_{i+1} −
t_i) · (items above), all terms ≥ 0.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from taylorank.losses.exact import State, row_loss


class Rankmax:
    """Rankmax for several positives per row, O(N log m) per row."""

    shift_invariant: ClassVar[bool] = True

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return log S for every positive."""
        thresholds, slot = _sorted_thresholds(z, rows, columns)  # (B, m), padded by +inf; (P,)
        bucket = torch.searchsorted(thresholds, z)  # (B, N): how many thresholds lie below the item
        finite = torch.where(thresholds.isinf(), 0.0, thresholds)
        below = torch.cat((torch.zeros_like(finite[:, :1]), finite), 1).gather(1, bucket)
        excess = torch.where(bucket > 0, z - below, 0.0)
        table = torch.zeros(len(z), thresholds.shape[1] + 1, dtype=z.dtype, device=z.device)
        count = table.scatter_add(1, bucket, torch.ones_like(z))[:, 1:]
        above = count.flip(1).cumsum(1).flip(1)  # (B, m): |A| of every threshold
        terms = table.scatter_add(1, bucket, excess)[:, 1:]
        terms[:, :-1] += (finite[:, 1:] - finite[:, :-1]) * above[:, 1:]
        sums = terms.flip(1).cumsum(1).flip(1)
        sums = sums[rows, slot].clamp_min(1.0)  # the positive's own 1, but for rounding
        return sums.log(), (bucket, above[rows, slot], sums, slot)

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return Σ_p w_p ∇ℓ_p: 1/S for every item above the threshold, −|A|/S more for the positive."""
        bucket, above, sums, slot = state
        shares = weights / sums
        width = int(slot.max()) + 2 if len(slot) else 1
        steps = torch.zeros(len(bucket), width, dtype=sums.dtype, device=sums.device)
        steps[rows, slot + 1] = shares
        gradient = steps.cumsum(1).gather(1, bucket.clamp_max(width - 1))
        gradient.view(-1).index_add_(0, rows * bucket.shape[1] + columns, -shares * above)
        return gradient


RANKMAX = Rankmax()


def _sorted_thresholds(z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Return t = z_y − 1 sorted by row, padded by +inf, and where each positive's stands."""
    t = z[rows, columns] - 1
    order = torch.argsort(t, stable=True)
    order = order[torch.argsort(rows[order], stable=True)]
    counts = torch.bincount(rows, minlength=len(z))
    place = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows[order]]
    padded = torch.full((len(z), max(int(counts.max()), 1)), torch.inf, dtype=z.dtype, device=z.device)
    padded[rows[order], place] = t[order]
    slot = torch.empty_like(place)
    slot[order] = place
    return padded, slot


def rankmax(scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """ℓ = log Σ_j [o_j − o_y + 1]₊, for scores (B, N) and positives (rows, columns), (P,) each → (P,).

    >>> import torch
    >>> rankmax(torch.tensor([[1.0, 0.5, -3.0]]), torch.tensor([0]), torch.tensor([0]))
    tensor([0.4055])
    """
    return row_loss(RANKMAX, scores, rows, columns, mask=mask)
