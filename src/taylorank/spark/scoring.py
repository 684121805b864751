"""Scores and lists inside tasks: a_y (P_x · Q_y) + b_y for users who come in batches, all items in one file.

The items of a model are laid out once in each worker process and kept for the batches and jobs that follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import ItemVectors, top_k
from taylorank.models.rg_parameters import discounts
from taylorank.spark.blocks import item_codes
from taylorank.spark.folder import Folder
from taylorank.spark.users import matrix_of

ARRAYS, VECTORS = "item_arrays", "item_vectors"
Best = tuple[NDArray[np.int64], NDArray[np.float32]]


@dataclass(frozen=True)
class View:
    """A model's files and how they are read: vectors of `width` numbers, of which those in `root` count, times it.

    `ranking` is "product" (P · Q), "lift" (the same) or "probability" (w_y (1 + P · Q), w_y = q_y / popularity_y^δ).
    """

    folder: Folder
    width: int
    root: tuple[float, ...]
    ranking: str
    discount: float = 0.0
    shards: tuple[int, ...] = ()  # as in `ModelFiles`

    def rows(self, column: Any) -> NDArray[np.float32]:
        """Return P of a column of stored vectors, (B, K)."""
        return self.factors(matrix_of(column, self.width))

    def factors(self, stored: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the factors that stored vectors stand for."""
        return stored[:, : len(self.root)] * np.array(self.root, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a view: vectors, a and b, and which can be ranked (None: all)."""

    vectors: ItemVectors
    scales: NDArray[np.float32] | None
    offsets: NDArray[np.float32] | None
    popularity: NDArray[np.float64]
    counts: NDArray[np.float64]
    allowed: NDArray[np.bool_] | None
    codes: Any


@lru_cache(maxsize=2)
def items_of(view: View) -> Items:
    """Return all items of a view; the last two stay in each process."""
    return items_between(view, slice(None), None)


def items_between(view: View, part: slice, shard: int | None) -> Items:
    """Return a range of the items of a view: those of a shard, or all."""
    arrays = {name: array[part] for name, array in view.folder.read_arrays(ARRAYS).items() if name != "vectors"}
    vectors = stored_vectors(view.folder, view.shards) if shard is None else _vectors(view.folder, shard)
    weights = None
    if view.ranking == "probability":
        weights = (arrays["proposal"] * discounts(arrays["popularity"], view.discount)).astype(np.float32)
    known = arrays["popularity"] > 0
    return Items(
        ItemVectors(view.factors(vectors)),
        weights,
        weights,
        arrays["popularity"],
        arrays["counts"],
        None if known.all() else known,
        item_codes(view.folder)[part],
    )


def stored_vectors(folder: Folder, shards: tuple[int, ...]) -> NDArray[np.float32]:
    """Return the vectors of all items as they are stored, (N, width)."""
    if not shards:
        return folder.read_arrays(ARRAYS)["vectors"]
    return np.concatenate([_vectors(folder, number) for number in range(len(shards) - 1)])


def _vectors(folder: Folder, shard: int) -> NDArray[np.float32]:
    return folder.read_arrays(f"{VECTORS}-{shard}")["X"]


def best(
    items: Items, rows: NDArray[np.float32], hidden: Any, length: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return positions and scores of the best items of users with these vectors; short lists end with -1 and NaN."""
    return top_k(
        rows,
        items.vectors,
        k=min(length, len(items.vectors)),
        scales=items.scales,
        offsets=items.offsets,
        seen=hidden,
        allowed=items.allowed,
    )


def recommendations(codes: Any, positions: NDArray[np.int64], scores: NDArray[np.float32], name: str) -> Any:
    """Return lists as a column of array<struct<name, rating>>; padding is left out."""
    import pyarrow as pa

    there = positions >= 0
    ends = np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int32)
    ids = codes.take(pa.array(positions[there]))
    pairs = pa.StructArray.from_arrays([ids, pa.array(scores[there], pa.float32())], names=[name, "rating"])
    return pa.ListArray.from_arrays(pa.array(ends), pairs)


def pair_scores(items: Items, rows: NDArray[np.float32], positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the score of one item for each row; NaN where the position is -1."""
    known = positions >= 0
    at = np.where(known, positions, 0)
    scores = np.einsum("ij,ij->i", rows, items.vectors.factors[at])
    if items.scales is not None:
        scores = scores * items.scales[at]
    if items.offsets is not None:
        scores = scores + items.offsets[at]
    if items.allowed is not None:
        known = known & items.allowed[at]
    return np.where(known, scores, np.nan).astype(np.float32)
