"""Blocks of items: the interactions of a range of items, by item, with the users that they need in a compact numbering.

They are put together from the files of the user blocks, with no shuffle, and cut so that every block has about as many
interactions as the others; an item that alone has more stays whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.data.csr import sort_pairs
from taylorank.spark.blocks import read_block
from taylorank.spark.folder import Arrays, Folder
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import Batches, map_arrow, numbered, to_arrow


@dataclass(frozen=True, eq=False)
class ItemBlock:
    """`rows` (items × needed users); of user block i the users `needed[i]` come one after the other."""

    rows: CSR
    needed: tuple[NDArray[np.int32], ...]

    def gathered(self, folder: Folder, name: str) -> NDArray[np.float32]:
        """Return the factors of the needed users from the files `name-0`, …, (needed users, K)."""
        parts = [
            folder.read_arrays(f"{name}-{block}")["P"][users] for block, users in enumerate(self.needed) if len(users)
        ]
        return np.concatenate(parts)


def item_bounds(counts: NDArray[np.float64], blocks: int) -> list[int]:
    """Cut the items where their interactions reach 1/blocks, 2/blocks, … of all."""
    ends = np.cumsum(counts)
    wanted = ends[-1] * np.arange(1, blocks) / blocks
    inner = np.searchsorted(ends, wanted, side="left") + 1
    return [0, *np.unique(inner[inner < len(counts)]).tolist(), len(counts)]


def build_item_blocks(data: Prepared, bounds: list[int]) -> None:
    """Write the blocks of items to the files `items-0`, … unless they are there."""
    if data.folder.has("item-blocks.json"):
        return
    job = numbered(data.session, len(bounds) - 1)
    to_arrow(map_arrow(job, partial(_build, data.folder, bounds, data.blocks), "number bigint"))
    data.folder.write_json("item-blocks.json", bounds)


def _build(folder: Folder, bounds: list[int], blocks: int, batches: Batches) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            ends = bounds[number : number + 2]
            _write(folder, number, [part_of_items(folder, block, *ends) for block in range(blocks)])
        yield batch


def part_of_items(folder: Folder, block: int, start: int, stop: int) -> CSR:
    """Return the interactions of a block of users with a range of items, by item."""
    rows = read_block(folder, block).by_item
    part = slice(rows.indptr[start], rows.indptr[stop])
    weights = None if rows.weights is None else rows.weights[part]
    return CSR(rows.indptr[start : stop + 1] - rows.indptr[start], rows.indices[part], weights, rows.n_columns)


def _write(folder: Folder, number: int, parts: list[CSR]) -> None:
    needed = [np.unique(part.indices).astype(np.int32) for part in parts]
    offsets = np.concatenate(([0], np.cumsum([len(users) for users in needed])))
    columns = [
        np.searchsorted(users, part.indices) + first for users, part, first in zip(needed, parts, offsets, strict=False)
    ]
    owners = np.concatenate([part.row_of_entry() for part in parts])
    has_weights = any(part.weights is not None for part in parts)
    shape = (parts[0].n_rows, int(offsets[-1]))
    indptr, indices, order = sort_pairs(owners, np.concatenate(columns).astype(np.int32), shape, want_order=has_weights)
    arrays: Arrays = {"indptr": indptr, "indices": indices, "needed": np.concatenate(needed), "offsets": offsets}
    if has_weights:
        arrays["weights"] = np.concatenate([_weights(part) for part in parts])[order]
    folder.write_arrays(f"items-{number}", arrays)


def _weights(part: CSR) -> NDArray[np.float32]:
    return np.ones(part.nnz, np.float32) if part.weights is None else part.weights


@lru_cache(maxsize=2)
def read_item_block(folder: Folder, number: int) -> ItemBlock:
    """Read a block of items."""
    arrays = folder.read_arrays(f"items-{number}")
    offsets = arrays["offsets"]
    rows = CSR(arrays["indptr"], arrays["indices"], arrays.get("weights"), int(offsets[-1]))
    return ItemBlock(rows, tuple(np.split(arrays["needed"], offsets[1:-1])))
