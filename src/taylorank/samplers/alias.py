"""The alias table: O(1) draws from any distribution (Walker 1977; Vose 1991), built without a loop over items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class AliasTable(NamedTuple):
    """Slot y keeps the item y with probability `keep[y]` and else stands for `alias[y]`.

    p_y = (keep_y + Σ_{z: alias_z = y} (1 − keep_z)) / N.
    """

    keep: NDArray[np.float64]  # (N,) in [0, 1]
    alias: NDArray[np.int64]  # (N,)


def alias_table(probabilities: NDArray[Any]) -> AliasTable:
    """Build the table of p, with w = N p, in O(N log N) array operations.

    Small slots (w < 1) lack d = 1 − w, large ones (w ≥ 1) have e = w − 1 to spare. Serve the small ones in order
    from the large ones in order; a large slot that falls below 1 is itself topped up by the next one. With running
    sums D of d and E of e, small slot i is served by the first large k with E_k ≥ D_{i−1}, and large slot k is
    drained by the first small i with D_i > E_k, which leaves it 1 + E_k − D_i: two binary searches instead of
    the usual loop (the sweep of Hübschle-Schneider and Sanders, "Parallel weighted random sampling", 2019).

    >>> alias_table(np.array([0.5, 0.25, 0.25]))
    AliasTable(keep=array([1.  , 0.75, 0.75]), alias=array([0, 0, 0]))
    """
    p = np.asarray(probabilities, dtype=np.float64)
    n = len(p)
    weights = p * (n / p.sum())
    small, large = np.flatnonzero(weights < 1), np.flatnonzero(weights >= 1)
    keep, alias = np.ones(n), np.arange(n)
    if not len(small) or not len(large):  # uniform, up to rounding
        return AliasTable(keep, alias)
    lacking, spare = np.cumsum(1 - weights[small]), np.cumsum(weights[large] - 1)  # D, E

    server = np.searchsorted(spare, np.concatenate(([0.0], lacking[:-1])), side="left")
    keep[small] = weights[small]
    alias[small] = large[np.minimum(server, len(large) - 1)]

    drained_by = np.searchsorted(lacking, spare, side="right")
    drained = np.flatnonzero((drained_by < len(small)) & (np.arange(len(large)) < len(large) - 1))
    keep[large[drained]] = np.clip(1 + spare[drained] - lacking[drained_by[drained]], 0, 1)
    alias[large[drained]] = large[drained + 1]
    return AliasTable(keep, alias)
