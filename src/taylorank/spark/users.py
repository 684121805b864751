"""The users of a fitted model as a Parquet table of Spark: id, vector, and the items seen in training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.spark.blocks import read_block
from taylorank.spark.folder import Folder
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import Batches, map_arrow, numbered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rows = Callable[[int], NDArray[np.float32]]  # from the number of a block to the vectors of its users
USERS = "users.parquet"
BATCH_USERS = 4096


def users_schema(code_type: str) -> str:
    """Return the columns of the table."""
    return f"user {code_type}, vector array<float>, items array<int>, strengths array<float>"


def write_users(data: Prepared, rows: Rows, target: Folder) -> None:
    """Write all users with the vectors that `rows` computes; no strengths where all are 1."""
    with_strengths = not data.is_binary
    job = map_arrow(
        numbered(data.session, data.blocks),
        UserTable(data.folder, rows, with_strengths),
        users_schema(data.user_type.code_type),
    )
    job.write.mode("overwrite").parquet(target.address_of(USERS))


def read_users(session: SparkSession, folder: Folder) -> DataFrame:
    """Return the table."""
    return session.read.parquet(folder.address_of(USERS))


@dataclass(frozen=True)
class UserTable:
    """The function of the tasks that make the table, a block each."""

    folder: Folder
    rows: Rows
    with_strengths: bool

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield the users of the blocks."""
        import pyarrow as pa

        for number in (value for batch in batches for value in batch.column(0).to_pylist()):
            block = read_block(self.folder, number)
            if not block.by_user.n_rows:
                continue
            codes = self.folder.read_table(f"users-{number}")["user"].combine_chunks()
            codes = codes.cast(pa.string()) if pa.types.is_large_string(codes.type) else codes
            vectors = self.rows(number)
            for start in range(0, len(vectors), BATCH_USERS):
                stop = min(start + BATCH_USERS, len(vectors))
                yield user_batch(
                    codes.slice(start, stop - start), vectors[start:stop], _slice(block.by_user, start, stop),
                    with_strengths=self.with_strengths,
                )  # fmt: skip


def _slice(rows: CSR, start: int, stop: int) -> CSR:
    part = slice(rows.indptr[start], rows.indptr[stop])
    weights = None if rows.weights is None else rows.weights[part]
    return CSR(rows.indptr[start : stop + 1] - rows.indptr[start], rows.indices[part], weights, rows.n_columns)


def user_batch(codes: Any, vectors: NDArray[np.float32], seen: CSR, *, with_strengths: bool) -> Any:
    """Return users as a batch of Arrow in the columns of `users_schema`."""
    import pyarrow as pa

    ends = pa.array(seen.indptr.astype(np.int32))
    if with_strengths:
        weights = np.ones(seen.nnz, np.float32) if seen.weights is None else seen.weights
        strengths = pa.ListArray.from_arrays(ends, pa.array(weights, pa.float32()))
    else:
        strengths = pa.nulls(len(codes), pa.list_(pa.float32()))
    return pa.record_batch(
        [codes, lists(vectors), pa.ListArray.from_arrays(ends, pa.array(seen.indices)), strengths],
        names=["user", "vector", "items", "strengths"],
    )


def lists(matrix: NDArray[np.float32]) -> Any:
    """Return the rows of a matrix as a column of lists."""
    import pyarrow as pa

    ends = np.arange(len(matrix) + 1, dtype=np.int32) * matrix.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.ascontiguousarray(matrix).reshape(-1)))


def matrix_of(column: Any, width: int) -> NDArray[np.float32]:
    """Return a column of lists of the same length as a matrix."""
    values: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    return values.astype(np.float32, copy=False).reshape(len(column), width)


def rows_of(column: Any, n_columns: int) -> CSR:
    """Return a column of lists of positions as sparse rows, ascending and unique; null is an empty row."""
    lengths = np.diff(column.offsets.to_numpy())
    indices = column.flatten().to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if column.null_count:
        lengths = np.where(column.is_null().to_numpy(zero_copy_only=False), 0, lengths)
    return CSR(np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), indices, None, n_columns)
