"""Sums over all blocks of arrays (N, width), one row per item: the one exchange of data that a pass needs.

Small sums go straight to the driver. Others are cut into ranges of items, brought together by one shuffle and summed by
as many tasks as there are ranges, which leave them in files. Parts are added in the order of their blocks, so that the
result has the same bits whichever task ends first, and however often one had to run again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels.thread_limit import threads
from taylorank.spark.folder import Folder
from taylorank.spark.session import Batches, by_number, map_arrow, numbered, task_threads, to_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Part = Callable[[int], NDArray[Any]]  # from the number of a block to (N, width)
Pieces = Callable[[int], Iterable[NDArray[Any]]]  # the same, one range of items after the other
Small = Callable[[int, NDArray[Any]], NDArray[np.float64]]  # from a range and its sum to a few numbers
DIRECT = 1 << 26  # bytes of all parts together that the driver takes without a shuffle
PIECE = 1 << 23  # bytes of one row of a shuffle
BATCH = 1 << 26  # bytes of one batch of Arrow
ROW = "range int, number int, rows binary, values binary"
RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"


@dataclass(frozen=True)
class Shape:
    """What is summed: `blocks` parts of (items, width)."""

    blocks: int
    items: int
    width: int
    dtype: str = "float32"

    @property
    def row_bytes(self) -> int:
        """Bytes of the row of one item."""
        return self.width * np.dtype(self.dtype).itemsize

    def bounds(self, ranges: int) -> list[int]:
        """Cut the items into at least `ranges` ranges, none with more than `PIECE` bytes."""
        count = max(ranges, -(-self.items * self.row_bytes // PIECE))
        return [int(b) for b in np.linspace(0, self.items, min(count, max(self.items, 1)) + 1)]


def sum_by_item(session: SparkSession, folder: Folder, part: Part, shape: Shape, ranges: int) -> NDArray[Any]:
    """Return Σ part(block) over all blocks, (N, width), on the driver."""
    if shape.blocks * shape.items * shape.row_bytes <= DIRECT:
        return _direct(session, part, shape)
    name = f"sum-{np.random.default_rng().integers(1 << 62)}"
    bounds = summed_ranges(session, folder, part, shape, ranges, name)
    total = np.empty((shape.items, shape.width), dtype=shape.dtype)
    for number, (start, stop) in enumerate(itertools.pairwise(bounds)):
        total[start:stop] = folder.read_arrays(f"{name}-{number}")["sum"]
        folder.remove(f"{name}-{number}")
    return total


def _direct(session: SparkSession, part: Part, shape: Shape) -> NDArray[Any]:
    bounds = shape.bounds(1)
    data = map_arrow(numbered(session, shape.blocks), partial(_emit, Sliced(part, tuple(bounds))), ROW)
    table = to_arrow(data).sort_by([("number", "ascending")])
    total = np.zeros((shape.items, shape.width), dtype=shape.dtype)
    for row in _rows(table.to_batches()):
        _add(total[bounds[row[0]] : bounds[row[0] + 1]], row, shape)
    return total


def summed_ranges(session: SparkSession, folder: Folder, part: Part, shape: Shape, ranges: int, name: str) -> list[int]:
    """Leave the sums of ranges of items in files `name-0`, …; return where the ranges begin and end."""
    bounds = shape.bounds(ranges)
    summed_pieces(session, folder, Sliced(part, tuple(bounds)), bounds, shape, ranges, name)
    return bounds


@dataclass(frozen=True)
class Sliced:
    """A part cut into ranges of items."""

    part: Part
    bounds: tuple[int, ...]

    def __call__(self, number: int) -> Iterator[NDArray[Any]]:
        """Yield the ranges of a block's part."""
        with threads(task_threads()):
            values = self.part(number)
        for start, stop in itertools.pairwise(self.bounds):
            yield values[start:stop]


def summed_pieces(
    session: SparkSession,
    folder: Folder,
    pieces: Pieces,
    bounds: Sequence[int],
    shape: Shape,
    ranges: int,
    name: str,
    small: Small | None = None,
) -> NDArray[np.float64]:
    """Leave the sum over blocks of each of their pieces in the files `name-0`, …; return the sum of `small` of them."""
    count = len(bounds) - 1
    with records_per_batch(session, max(1, BATCH // PIECE)):
        parts = map_arrow(numbered(session, shape.blocks), partial(_emit, pieces), ROW)
        ordered = by_number(parts, "range", min(count, 4 * ranges)).sortWithinPartitions("range", "number")
        write = partial(_write_sums, folder, name, list(bounds), shape, small)
        table = to_arrow(map_arrow(ordered, write, "range int, small binary")).sort_by("range")
    found: NDArray[np.float64] = np.sum([np.frombuffer(part) for part in table["small"].to_pylist()], axis=0)
    return found


def _emit(pieces: Pieces, batches: Batches) -> Iterator[Any]:
    """The pieces of each block as rows of the shuffle; rows of items that the block has nothing of are left out."""
    import pyarrow as pa

    for number in (value for batch in batches for value in batch.column(0).to_pylist()):
        for target, piece in enumerate(pieces(number)):
            filled = np.flatnonzero(piece.any(axis=1)).astype(np.int32)
            is_sparse = len(filled) < 0.7 * len(piece)
            yield pa.record_batch(
                [
                    pa.array([target], pa.int32()),
                    pa.array([number], pa.int32()),
                    pa.array([filled.tobytes() if is_sparse else None], pa.binary()),
                    pa.array([np.ascontiguousarray(piece[filled] if is_sparse else piece).tobytes()], pa.binary()),
                ],
                names=["range", "number", "rows", "values"],
            )


def _rows(batches: Any) -> Iterator[tuple[int, bytes | None, bytes]]:
    for batch in batches:
        for target, rows, values in zip(batch.column(0).to_pylist(), batch.column(2), batch.column(3), strict=True):
            yield target, rows.as_buffer(), values.as_buffer()


def _add(total: NDArray[Any], row: tuple[int, Any, Any], shape: Shape) -> None:
    _, rows, values = row
    block = np.frombuffer(values, dtype=shape.dtype).reshape(-1, shape.width)
    if rows is None:
        total += block
    else:
        total[np.frombuffer(rows, dtype=np.int32)] += block


def _write_sums(
    folder: Folder, name: str, bounds: list[int], shape: Shape, small: Small | None, batches: Batches
) -> Iterator[Any]:
    """Sum rows that come ordered by range and block; write a range when the next one begins."""
    import pyarrow as pa

    for target, rows in itertools.groupby(_rows(batches), key=lambda row: row[0]):
        total = np.zeros((bounds[target + 1] - bounds[target], shape.width), dtype=shape.dtype)
        for row in rows:
            _add(total, row, shape)
        folder.write_arrays(f"{name}-{target}", {"sum": total})
        with threads(task_threads()):
            sums = np.zeros(0) if small is None else small(target, total)
        columns = [pa.array([target], pa.int32()), pa.array([sums.tobytes()], pa.binary())]
        yield pa.record_batch(columns, names=["range", "small"])


_within: dict[int, tuple[int, str]] = {}  # by session: how many blocks it is within, and the setting before them
_lock = Lock()


@contextmanager
def records_per_batch(session: SparkSession, count: int) -> Iterator[None]:
    """Within the block batches of Arrow have at most `count` rows, which here may be large.

    Fits of several threads share the setting of their session: the last that leaves puts it back.
    """
    key = id(session)
    with _lock:
        inside, before = _within.get(key, (0, ""))
        _within[key] = (inside + 1, before if inside else str(session.conf.get(RECORDS)))
        session.conf.set(RECORDS, str(count))
    try:
        yield
    finally:
        with _lock:
            inside, before = _within.pop(key)
            if inside > 1:
                _within[key] = (inside - 1, before)
            else:
                session.conf.set(RECORDS, before)
