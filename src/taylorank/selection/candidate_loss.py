"""Losses of scores over the items that a user could still choose.

For scores o of a user and its positives y, with q the proposal over the candidates (items in the user's history left
out, the rest scaled to sum to 1):

    softmax   −o_y + log Σ_j q_j e^o_j          RG×   −o_y + q·o + ½ (q·o² − (q·o)²)          RG²   −o_y + q·o + ½ q·o²

All are 0 at o = 0. An item of the history scores high and can no longer be a positive of held-out data: in the sum it
would count as a mistake of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError
from taylorank.models.logits import Logits
from taylorank.ranking.masks import Hidden, PartRows, hide
from taylorank.ranking.ranker import ranker_of
from taylorank.ranking.rows import select_entries, take_rows

Floats = NDArray[np.float64]
CELLS = 1 << 21  # scores held at a time


@dataclass(frozen=True)
class Pairs:
    """Positives of some users, and what is left out of the candidates of each; None: nothing is."""

    users: NDArray[np.int64]  # rows of the model
    positives: CSR  # one row per user, over the items of the model
    hidden: CSR | None
    repeated: int  # positives left out because they are in the histories


def pairs_of(model: Any, data: Interactions, seen: list[Interactions], users: int, random_state: int) -> Pairs:
    """Return the positives in `data` of at most `users` users; `seen` is hidden unless it holds all of them."""
    ranker = ranker_of(model)
    position = ranker.users.positions(data.user_ids)
    there = position[(position >= 0) & (data.by_user.row_lengths > 0)]
    if not len(there):
        raise DataError("the model knows none of the users with interactions here", "check that both use the same ids")
    some = np.sort(np.random.default_rng(random_state).permutation(there)[:users])
    positives = PartRows(ranker, data).of(some)
    hidden = Hidden(ranker, seen).of(some)
    fresh = np.ones(positives.nnz, dtype=bool) if hidden is None else ~np.isin(_keys(positives), _keys(hidden))
    if hidden is None or not fresh.any():
        return Pairs(some, positives, None, 0)
    left = select_entries(positives, fresh)
    rows = np.flatnonzero(left.row_lengths)
    return Pairs(some[rows], take_rows(left, rows), take_rows(hidden, rows), positives.nnz - left.nnz)


def _keys(rows: CSR) -> NDArray[np.int64]:
    return rows.row_of_entry().astype(np.int64) * rows.n_columns + rows.indices


def losses_of(logits: Logits, pairs: Pairs) -> dict[str, float]:
    """Sizes of o over all items, and the mean losses over the positives."""
    size, largest, beyond = 0.0, 0.0, 0
    sums, gaps = np.zeros(3), np.zeros(2)
    height = max(1, CELLS // len(logits.items))
    for start in range(0, len(pairs.users), height):
        rows = np.arange(start, min(start + height, len(pairs.users)))
        o = logits.users[pairs.users[rows]] @ logits.items.T  # (B, N)
        absolute = np.abs(o)
        size, largest = size + float(absolute.sum()), max(largest, float(absolute.max()))
        beyond += int((absolute > 1).sum())
        mine = take_rows(pairs.positives, rows)
        sums -= o[mine.row_of_entry(), mine.indices].sum()
        background = _backgrounds(o, logits.proposal, None if pairs.hidden is None else take_rows(pairs.hidden, rows))
        sums += background @ mine.row_lengths
        gaps += np.abs(background[0] - background[1:]) @ mine.row_lengths
    count, cells = pairs.positives.nnz, len(pairs.users) * len(logits.items)
    return {
        "mean |o|": size / cells,
        "max |o|": largest,
        "share of |o| > 1": beyond / cells,
        **dict(zip(("softmax loss", "RG× loss", "RG² loss"), sums / count, strict=True)),
        **dict(zip(("mean |softmax − RG×|", "mean |softmax − RG²|"), gaps / count, strict=True)),
    }


def _backgrounds(o: Floats, q: Floats, hidden: CSR | None) -> Floats:
    """log Σ q e^o, q·o + ½ (q·o² − (q·o)²), q·o + ½ q·o² over the candidates of every row, (3, B); `o` is altered."""
    mass = _mass(q, hidden, len(o))
    hide(o, hidden, value=-np.inf)
    top = o.max(axis=1)
    softmax = top + np.log(np.exp(o - top[:, None]) @ q / mass)
    hide(o, hidden, value=0.0)
    mean, square = o @ q / mass, (o * o) @ q / mass
    return np.stack((softmax, mean + 0.5 * (square - mean**2), mean + 0.5 * square))


def _mass(q: Floats, hidden: CSR | None, rows: int) -> Floats:
    """Σ q over the candidates of each row, (B,)."""
    if hidden is None:
        return np.full(rows, q.sum())
    gone = np.bincount(hidden.row_of_entry(), q[hidden.indices], minlength=rows)
    left: Floats = np.maximum(q.sum() - gone, q.min())  # a row with a positive has a candidate
    return left


def rg2_losses(pairs: Pairs, q: Floats, P: NDArray[Any], Q: NDArray[Any], scales: Floats) -> Floats:
    """Mean of −o_y + q·o + ½ q·o² over the pairs, for o = P diag(d) Qᵀ of every row d of `scales`, (S,).

    P has a row per user of the pairs. The sums over all items go through the Gram matrix Qᵀ diag(q) Q.
    """
    P, Q = P.astype(np.float64), Q.astype(np.float64)
    weighted = q[:, None] * Q
    linear, gram = weighted.sum(axis=0), weighted.T @ Q
    scaled = (P * d for d in scales)
    background = np.stack([Pd @ linear + 0.5 * np.sum((Pd @ gram) * Pd, axis=1) for Pd in scaled], axis=1)  # (B, S)
    if pairs.hidden is not None:
        background -= _sums_at(pairs.hidden, P, Q, scales, weights=q)
    background /= _mass(q, pairs.hidden, len(P))[:, None]
    counts = pairs.positives.row_lengths
    chosen = _sums_at(pairs.positives, P, Q, scales)
    losses: Floats = (counts @ background - chosen.sum(axis=0)) / counts.sum()
    return losses


def _sums_at(rows: CSR, P: Floats, Q: Floats, scales: Floats, *, weights: Floats | None = None) -> Floats:
    """Σ_y o_xy over the entries of each row, (B, S); with weights w, Σ_y w_y (o_xy + ½ o_xy²)."""
    sums = np.zeros((rows.n_rows, len(scales)))
    for x, (start, stop) in enumerate(pairwise(rows.indptr)):
        columns = rows.indices[start:stop]
        o = (Q[columns] * P[x]) @ scales.T  # (n, S)
        sums[x] = o.sum(axis=0) if weights is None else weights[columns] @ (o + 0.5 * o * o)
    return sums
