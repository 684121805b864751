"""What a teacher tells a student: of each user the best items and how likely each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import nonzero_scores, screened, top_k, top_k_scores
from taylorank.ranking import Ranker, Vectors
from taylorank.ranking.ranker import Best, Positions

Singles = NDArray[np.float32]
Part = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], int]
BLOCK_USERS = 4096  # whose lists are made at a time
BLOCK_CELLS = 1 << 24  # scores held at a time, of teachers without vectors


def teacher_lists(ranker: Ranker, *, top: int, sharpness: float, device: str = "cpu") -> CSR:
    """Return π (M, N), rows of at most `top` entries: π_xy ∝ max(p_xy, 0)^β on the best items of x, Σ_y π_xy = 1.

    p are the teacher's scores, β the sharpness. Items that x has seen are among them: they are what the teacher is
    surest of. A user of whom the teacher knows nothing, or whose scores are all ≤ 0, has an empty row. `device` is
    where scores are computed: "cpu", or what torch calls it.
    """
    lengths, items, shares, known = [], [], [], 0
    for part in _parts(ranker, min(top, len(ranker.items)), sharpness, device):
        lengths.append(part[0])
        items.append(part[1])
        shares.append(part[2])
        known += part[3]
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))) if lengths else np.zeros(1, dtype=np.int64)
    if known and not indptr[-1]:
        raise ParameterError(
            f"no score of the teacher {ranker.name} is above 0", "choose one whose scores are shares, such as RG2"
        )
    return CSR(indptr.astype(np.int64), np.concatenate(items), np.concatenate(shares), len(ranker.items))


def history_lists(histories: Interactions) -> CSR:
    """Return π_xy = r_xy / I_x: what is known of a user where there is no teacher to ask."""
    rows = histories.by_user
    totals = np.bincount(rows.row_of_entry(), weights=histories.strengths, minlength=rows.n_rows)
    shares = histories.strengths / totals[rows.row_of_entry()]
    return CSR(rows.indptr, rows.indices, shares.astype(np.float32), rows.n_columns)


def _sharpened(scores: NDArray[np.float32], sharpness: float) -> NDArray[np.float64]:
    """max(p, 0)^β over its sum, for rows of the best scores in order; padding (NaN) has none."""
    p = np.maximum(np.nan_to_num(scores.astype(np.float64)), 0.0)
    best = p[:, :1]
    p = np.divide(p, best, out=np.zeros_like(p), where=best > 0) ** sharpness
    p *= scores > 0  # 0⁰ is 1
    totals = p.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(p, totals, out=np.zeros_like(p), where=totals > 0)
    return shares


def _parts(ranker: Ranker, top: int, sharpness: float, device: str) -> Iterator[Part]:
    """Lengths of the lists, their items and shares, and how many users are known, block by block."""
    if device != "cpu" and ranker.vectors is not None and ranker.vectors.are_products:
        from taylorank.models.teacher_lists_torch import list_parts

        yield from list_parts(ranker, ranker.vectors, top=top, sharpness=sharpness, device=device)
        return
    for ids, scores in _best(ranker, top):
        order = np.argsort(ids, axis=1)  # ascending, as kernels like their rows
        weights = np.take_along_axis(_sharpened(scores, sharpness), order, axis=1)
        kept = weights > 0
        listed = np.take_along_axis(ids, order, axis=1)[kept].astype(np.int32)
        known = int(np.isfinite(scores).any(axis=1).sum())
        yield kept.sum(axis=1), listed, weights[kept].astype(np.float32), known


def _best(ranker: Ranker, top: int) -> Iterator[Best]:
    """The best items of all users and their scores, block by block; padding where the teacher knows nothing."""
    best_of, size = _best_of(ranker)
    for start in range(0, len(ranker.users), size):
        users = np.arange(start, min(start + size, len(ranker.users)))
        ids, scores = best_of(users, top)
        scores[ranker.is_cold(users)] = np.nan
        yield ids, scores


def _best_of(ranker: Ranker) -> tuple[Callable[[Positions, int], Best], int]:
    """What finds the best items of some users, and of how many at a time."""
    if ranker.vectors is None or not ranker.vectors.are_products:
        return partial(_by_scores, ranker), min(BLOCK_USERS, max(1, BLOCK_CELLS // len(ranker.items)))
    return _by_vectors(ranker, ranker.vectors), BLOCK_USERS


def _by_vectors(ranker: Ranker, vectors: Vectors) -> Callable[[Positions, int], Best]:
    """By inner products; coordinates that are 0 for every item, as a threshold leaves them, are left out."""
    live, items = vectors.items.used
    lines: dict[str, Any] = {"scales": vectors.scales, "offsets": vectors.offsets}

    def best_of(users: Positions, top: int) -> Best:
        rows = vectors.rows(users)[:, live]
        few = screened(rows, items, k=top, allowed=ranker.rankable, **lines)
        if len(rows) == 1 and few is not None and few is not ranker.rankable:
            return _of_few(rows, items.factors, np.flatnonzero(few), top, **lines)
        threads = None if few is ranker.rankable else 1
        return top_k(rows, items, k=top, allowed=few, num_threads=threads, **lines)

    return best_of


def _of_few(row: Singles, items: Singles, few: Positions, top: int, *, scales: Any, offsets: Any) -> Best:
    """The best of a few items for one user, without laying these out: there is no second user to gain by it."""
    pairs = CSR(np.array([0, len(few)]), few.astype(np.int32), None, len(items))
    scores = nonzero_scores(pairs, row, item_factors=items, num_threads=1)
    scores = scores if scales is None else scores * scales[few]
    places, best = top_k_scores((scores if offsets is None else scores + offsets[few])[None], top)
    return np.where(places >= 0, few[places], -1), best


def _by_scores(ranker: Ranker, users: Positions, top: int) -> Best:
    scores = np.array(ranker.scores_of(users), dtype=np.float32)
    if ranker.rankable is not None:
        scores[:, ~ranker.rankable] = -np.inf
    return top_k_scores(scores, top)
