"""Blocks of users: all interactions of a part of the users as sparse rows, in both orders, in one file.

A block is made once, by one task, from the rows that a shuffle by user has brought together, and read by every pass
(mapped into memory where the folder is local). Nothing in it depends on the order in which rows arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.data.assemble import encode_integers
from taylorank.data.csr import sort_pairs
from taylorank.errors import DataError
from taylorank.spark.folder import Arrays, Folder
from taylorank.spark.session import Batches, task_number

Duplicates = Literal["max", "sum"]
REPORT = "number int, users bigint, interactions bigint, low float, high float"


@dataclass(frozen=True, eq=False)
class Block:
    """Some users × all items: `by_user` and `by_item` hold the same strengths (None: all 1)."""

    by_user: CSR
    by_item: CSR
    totals: NDArray[np.float64]  # I_x = Σ_y r_xy, (users,)

    @property
    def strengths(self) -> NDArray[np.float32] | None:
        """r_xy in the order of `by_user`."""
        return self.by_user.weights


def write_block(folder: Folder, number: int, by_user: CSR) -> None:
    """Write a block; its transpose and totals are computed here, once."""
    by_item = by_user.transpose()
    arrays: Arrays = {
        "indptr": by_user.indptr,
        "indices": by_user.indices,
        "item_indptr": by_item.indptr,
        "item_indices": by_item.indices,
        "totals": _totals(by_user),
    }
    if by_user.weights is not None and by_item.weights is not None:
        arrays |= {"weights": by_user.weights, "item_weights": by_item.weights}
    folder.write_arrays(f"block-{number}", arrays)


def _totals(rows: CSR) -> NDArray[np.float64]:
    if rows.weights is None:
        return rows.row_lengths.astype(np.float64)
    return np.bincount(rows.row_of_entry(), rows.weights, minlength=rows.n_rows).astype(np.float64)


@lru_cache(maxsize=4)
def read_block(folder: Folder, number: int) -> Block:
    """Read a block; the last few stay open in each process."""
    arrays = folder.read_arrays(f"block-{number}")
    n_users, n_items = len(arrays["indptr"]) - 1, len(arrays["item_indptr"]) - 1
    return Block(
        CSR(arrays["indptr"], arrays["indices"], arrays.get("weights"), n_items),
        CSR(arrays["item_indptr"], arrays["item_indices"], arrays.get("item_weights"), n_users),
        arrays["totals"],
    )


@dataclass(frozen=True)
class BlockBuilder:
    """The function of the task that makes a block from batches of (user, item, strength), all encoded."""

    folder: Folder
    duplicates: Duplicates
    has_strengths: bool

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Write the block of this partition; yield one row about it."""
        import pyarrow as pa

        users, items, strengths = self._columns(batches)
        number = task_number()
        codes, rows = _encoded(users)
        by_user = _merged(rows, items, strengths, (len(codes), self._n_items), self.duplicates)
        self.folder.write_table(f"users-{number}", pa.table({"user": codes}))
        write_block(self.folder, number, by_user)
        weights = by_user.weights
        low, high = (1.0, 1.0) if weights is None or not len(weights) else (weights.min(), weights.max())
        yield pa.record_batch(
            [
                pa.array([number], pa.int32()),
                pa.array([by_user.n_rows], pa.int64()),
                pa.array([by_user.nnz], pa.int64()),
                pa.array([low], pa.float32()),
                pa.array([high], pa.float32()),
            ],
            names=["number", "users", "interactions", "low", "high"],
        )

    @property
    def _n_items(self) -> int:
        return len(item_codes(self.folder))

    def _columns(self, batches: Batches) -> tuple[Any, NDArray[np.int32], NDArray[np.float32] | None]:
        """All user codes, item positions and strengths of the partition."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = item_codes(self.folder)
        users, items, strengths = [], [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
        for batch in batches:
            positions = pc.index_in(batch.column(1), value_set=known)
            if positions.null_count:
                raise DataError("an item appeared that was not there at first", "persist the DataFrame before the fit")
            users.append(_large(batch.column(0)))
            items.append(positions.to_numpy())
            if self.has_strengths:
                strengths.append(batch.column(2).to_numpy().astype(np.float32, copy=False))
        all_users = pa.chunked_array(users).combine_chunks() if users else known.slice(0, 0)
        return all_users, np.concatenate(items), np.concatenate(strengths) if self.has_strengths else None


def _large(column: Any) -> Any:
    """Text with 64-bit offsets: a block may hold more than 2 GiB of it."""
    import pyarrow as pa

    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


@lru_cache(maxsize=2)
def item_codes(folder: Folder) -> Any:
    """Return the codes of all items, ascending."""
    return folder.read_table("items").column("item").combine_chunks()


def _encoded(users: Any) -> tuple[Any, NDArray[np.int32]]:
    """Return the distinct codes, ascending, and the position of each row's."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(users):
        return users, np.zeros(0, np.int32)
    if pa.types.is_integer(users.type):
        ids, rows = encode_integers(users.to_numpy(zero_copy_only=False).astype(np.int64, copy=False))
        return pa.array(ids.values), rows
    coded = users.dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return coded.dictionary.take(pa.array(order)), place[coded.indices.to_numpy()]


def _merged(
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    strengths: NDArray[np.float32] | None,
    shape: tuple[int, int],
    duplicates: Duplicates,
) -> CSR:
    """Return sorted rows in which every pair is there once, whatever the order of the input."""
    indptr, ordered, order = sort_pairs(rows, columns, shape, want_order=strengths is not None)
    if strengths is not None:
        strengths = strengths[order]
    repeated = np.zeros(len(ordered), dtype=bool)
    repeated[1:] = ordered[1:] == ordered[:-1]
    repeated[indptr[1:-1][indptr[1:-1] < len(ordered)]] = False
    if not repeated.any():
        return CSR(indptr, ordered, strengths, shape[1])
    starts = np.flatnonzero(~repeated)
    if strengths is not None:
        strengths = _combined(strengths, starts, duplicates)
    owner = np.repeat(np.arange(shape[0]), np.diff(indptr))[starts]
    lengths = np.bincount(owner, minlength=shape[0])
    return CSR(np.concatenate(([0], np.cumsum(lengths))), ordered[starts], strengths, shape[1])


def _combined(strengths: NDArray[np.float32], starts: NDArray[np.int64], duplicates: Duplicates) -> NDArray[np.float32]:
    if duplicates == "max":
        return np.maximum.reduceat(strengths, starts)
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(strengths))))
    order = np.lexsort((strengths, group))  # a sum depends on its order, which must not depend on the input's
    return np.add.reduceat(strengths[order].astype(np.float64), starts).astype(np.float32)
