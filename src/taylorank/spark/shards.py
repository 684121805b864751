"""Item vectors spread over files by ranges of items, for catalogues whose vectors no machine should hold as a whole.

A shard is a range of items. A tall matrix (N, k) called `name` lies in the files `name-0`, `name-1`, …, one per shard;
a job over shards reads and writes those of its own shard alone, and small sums come back. The interactions of a block
of users with the items of a shard are a piece, in a compact numbering of the users who have any of these items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels import gather_sum
from taylorank.kernels.thread_limit import threads
from taylorank.spark.folder import Arrays, Folder
from taylorank.spark.item_blocks import part_of_items
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import Batches, map_arrow, numbered, setting, task_threads, to_arrow
from taylorank.system import memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARD_BYTES = 1 << 26  # of a basis that one task works on
UNKNOWN_MEMORY = 1 << 32
SHARE = 4  # item vectors may take a quarter of memory
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
ROW = "number int, sums binary, digest string"
Floats = NDArray[np.float32]
Small = tuple[NDArray[np.float64], str]  # what comes back of a shard: numbers to add, a digest


def item_limit(session: SparkSession, megabytes: float) -> float:
    """Return how many bytes of item vectors the driver, and each task, may hold; 0 MB: a quarter of the memory.

    That is the memory of this machine or, on a cluster, of an executor if it has less.
    """
    if megabytes:
        return megabytes * (1 << 20)
    room = memory("MemTotal") or UNKNOWN_MEMORY
    master = setting(session, "spark.master", "local")
    if not master.startswith("local") or master.startswith("local-cluster"):
        room = min(room, bytes_of(setting(session, "spark.executor.memory", "1g")))
    return room / SHARE


def bytes_of(text: str) -> int:
    """Return the number of bytes that Spark means by such as "4g".

    >>> bytes_of("4g") == 4 * 2**30
    True
    """
    digits = text.strip().lower().removesuffix("b")
    unit = UNITS.get(digits[-1:], 0)
    return int(digits[:-1]) * unit if unit else int(digits)


@dataclass(frozen=True)
class Shards:
    """Ranges of items and the folder where their files lie."""

    folder: Folder
    bounds: tuple[int, ...]

    @classmethod
    def of(cls, data: Prepared, columns: int) -> Shards:
        """Cut the items so that `columns` numbers for each of a shard's take no more than `SHARD_BYTES`."""
        count = max(2, -(-4 * columns * data.n_items // SHARD_BYTES))
        return cls(data.folder, tuple(int(b) for b in np.linspace(0, data.n_items, min(count, data.n_items) + 1)))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bounds) - 1

    def part(self, number: int) -> slice:
        """Return the items of a shard."""
        return slice(self.bounds[number], self.bounds[number + 1])

    def scatter(self, name: str, matrix: Floats) -> None:
        """Write a matrix that the driver has."""
        for number in range(self.count):
            self.folder.write_arrays(f"{name}-{number}", {"X": matrix[self.part(number)]})

    def gather(self, name: str) -> Floats:
        """Return a matrix as a whole."""
        return np.concatenate([read_shard(self.folder, name, number) for number in range(self.count)])

    def each(self, session: SparkSession, function: Callable[[int], Small]) -> Small:
        """Run a job over all shards; return the sum of what came back, added in order, and all digests."""
        table = to_arrow(map_arrow(numbered(session, self.count), partial(_each, function), ROW)).sort_by("number")
        parts = [np.frombuffer(part, np.float64) for part in table["sums"].to_pylist()]
        return np.sum(parts, axis=0), "".join(table["digest"].to_pylist())


def read_shard(folder: Folder, name: str, number: int) -> Floats:
    """Return the rows of a tall matrix that lie in one shard."""
    arrays = folder.read_arrays(f"{name}-{number}")
    return arrays["X"] if "X" in arrays else arrays["sum"]


def _each(function: Callable[[int], Small], batches: Batches) -> Iterator[Any]:
    import pyarrow as pa

    for number in (value for batch in batches for value in batch.column(0).to_pylist()):
        with threads(task_threads()):
            sums, digest = function(number)
        row = [pa.array([number], pa.int32()), pa.array([sums.astype(np.float64).tobytes()], pa.binary())]
        yield pa.record_batch([*row, pa.array([digest])], names=["number", "sums", "digest"])


@dataclass(frozen=True, eq=False)
class Piece:
    """The interactions of some `users` of a block with the items of a shard, in both orders."""

    users: NDArray[np.int32]
    by_user: CSR
    by_item: CSR


def build_pieces(data: Prepared, shards: Shards) -> None:
    """Cut every block of users by shards, unless an earlier run of the fit has."""
    if data.folder.has("pieces.json"):
        return
    to_arrow(map_arrow(numbered(data.session, data.blocks), partial(_cut, shards), "number bigint"))
    data.folder.write_json("pieces.json", shards.bounds)


def _cut(shards: Shards, batches: Batches) -> Iterator[Any]:
    for batch in batches:
        for block in batch.column(0).to_pylist():
            for shard in range(shards.count):
                _write_piece(shards, block, shard)
        yield batch


def _write_piece(shards: Shards, block: int, shard: int) -> None:
    part = part_of_items(shards.folder, block, *shards.bounds[shard : shard + 2])
    users = np.unique(part.indices).astype(np.int32)
    place = np.searchsorted(users, part.indices).astype(np.int32)
    by_item = CSR(part.indptr, place, part.weights, len(users))
    by_user = by_item.transpose()
    arrays: Arrays = {
        "users": users,
        "indptr": by_user.indptr,
        "indices": by_user.indices,
        "item_indptr": by_item.indptr,
        "item_indices": by_item.indices,
    }
    if by_user.weights is not None and by_item.weights is not None:
        arrays |= {"weights": by_user.weights, "item_weights": by_item.weights}
    shards.folder.write_arrays(f"piece-{block}-{shard}", arrays)


@lru_cache(maxsize=4)
def read_piece(folder: Folder, block: int, shard: int) -> Piece:
    """Read a piece."""
    arrays = folder.read_arrays(f"piece-{block}-{shard}")
    users, n_items = arrays["users"], len(arrays["item_indptr"]) - 1
    return Piece(
        users,
        CSR(arrays["indptr"], arrays["indices"], arrays.get("weights"), n_items),
        CSR(arrays["item_indptr"], arrays["item_indices"], arrays.get("item_weights"), len(users)),
    )


def rows_times(shards: Shards, block: int, n_users: int, name: str) -> Floats:
    """Return R X of one block for a tall X, (users, k): the shards of X come one after the other."""
    total: Any = None
    for shard in range(shards.count):
        piece, X = read_piece(shards.folder, block, shard), read_shard(shards.folder, name, shard)
        if total is None:
            total = np.zeros((n_users, X.shape[1]), np.float32)
        if len(piece.users):
            total[piece.users] += gather_sum(piece.by_user, X)
    return total  # type: ignore[no-any-return]
