"""Where a student begins: the directions that the teacher finds most important."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Ids, Interactions
from taylorank.models.rg import RG2
from taylorank.models.rg_family import RGFamily
from taylorank.ranking.rows import select_entries

Singles = NDArray[np.float32]
NOISE = 0.1  # length of what is drawn at random where the teacher has no direction to give


def student_start(teacher: Any, lists: CSR, *, factors: int, random_state: int) -> tuple[Singles, Singles]:
    """Return unit vectors of users (M, K) and of items (N, K).

    RG² by its SVD has its factors in the order of the singular values: the first K of them, each row at unit length.
    For any other teacher those of an RG² without threshold, fitted to what is above the mean of each list.
    """
    if not (isinstance(teacher, RGFamily) and teacher.has_path):
        teacher = _of_lists(lists, factors)
    rng = np.random.default_rng(random_state)
    users, items = (_directions(side, factors, rng) for side in (teacher.user_factors, teacher.item_factors))
    return users, items


def _of_lists(lists: CSR, factors: int) -> RG2:
    rank = min(factors, lists.n_rows, lists.n_columns)
    assert lists.weights is not None
    best = select_entries(lists, lists.weights * np.repeat(lists.row_lengths, lists.row_lengths) >= 1)
    users, items = Ids(np.arange(lists.n_rows)), Ids(np.arange(lists.n_columns))
    data = Interactions.from_positions(
        (users, best.row_of_entry()), (items, best.indices), strengths=np.asarray(best.weights)
    )
    return RG2(rank, regularization=0.0, tolerance=0.1).fit(data)


def _directions(given: NDArray[Any], factors: int, rng: np.random.Generator) -> Singles:
    """The first columns, each row at unit length; columns and rows that are missing or 0 are drawn."""
    vectors = np.zeros((len(given), factors))
    width = min(factors, given.shape[1])
    vectors[:, :width] = given[:, :width]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=vectors, where=norms > 0)
    dead = ~vectors.any(axis=0)
    vectors[:, dead] = NOISE * rng.standard_normal((len(given), int(dead.sum()))) / np.sqrt(factors)
    empty = ~vectors.any(axis=1)
    vectors[empty] = rng.standard_normal((int(empty.sum()), factors))
    unit: Singles = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
