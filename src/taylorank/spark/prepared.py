"""From a DataFrame of interactions to blocks of users in files, and the facts about them that every model needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.data.assemble import LARGEST_STRENGTH, SMALLEST_STRENGTH
from taylorank.errors import DataError
from taylorank.spark.blocks import REPORT, BlockBuilder, Duplicates, item_codes, read_block, write_block
from taylorank.spark.folder import Folder
from taylorank.spark.ids import IdType, quoted
from taylorank.spark.reduction import Shape, sum_by_item
from taylorank.spark.session import Batches, map_arrow, numbered, slots, to_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BLOCK_ROWS = 1 << 24  # interactions of a block, about, unless there are fewer blocks than tasks
HALF = 1 << 16


@dataclass(frozen=True)
class Columns:
    """Which columns of a DataFrame to read, and how; `strength` is "" for 1 everywhere."""

    user: str
    item: str
    strength: str
    duplicates: Duplicates
    invalid: str  # "error" or "skip"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Interactions in blocks of users, in files of `folder`."""

    session: SparkSession
    folder: Folder
    user_type: IdType
    item_type: IdType
    block_users: tuple[int, ...]
    interactions: int
    n_items: int
    lowest: float
    highest: float
    ranges: int  # into which sums over items are cut
    seconds: float = 0.0  # that it took to read and cut the data

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return sum(self.block_users)

    @property
    def blocks(self) -> int:
        """How many blocks there are, empty ones included."""
        return len(self.block_users)

    @property
    def is_binary(self) -> bool:
        """Whether every strength is 1."""
        return self.lowest == self.highest == 1

    @cached_property
    def counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Σ_x r_xy and the number of users of every item, (N,) each."""
        shape = Shape(self.blocks, self.n_items, 2, "float64")
        sums = sum_by_item(self.session, self.folder, partial(_block_counts, self.folder), shape, self.ranges)
        return np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1])

    @cached_property
    def typical_strength(self) -> float:
        """The median strength, found by two counts of its 32 bits, 16 at a time."""
        if self.lowest == self.highest:
            return self.lowest
        middle = ((self.interactions - 1) // 2, self.interactions // 2)
        high = self._histogram(None)
        found = [self._value_at(rank, high) for rank in middle]
        return float(np.mean(np.array(found, dtype=np.float32)))

    def _value_at(self, rank: int, high: NDArray[np.int64]) -> np.float32:
        """The strength with this number in rising order."""
        ends = np.cumsum(high)
        upper = int(np.searchsorted(ends, rank, side="right"))
        within = rank - (int(ends[upper - 1]) if upper else 0)
        lower = int(np.searchsorted(np.cumsum(self._histogram(upper)), within, side="right"))
        return np.float32(np.array([upper * HALF + lower], dtype=np.uint32).view(np.float32)[0])

    def _histogram(self, upper: int | None) -> NDArray[np.int64]:
        """How many strengths have each upper half of bits; given one, each lower half."""
        job = map_arrow(numbered(self.session, self.blocks), partial(_half_counts, self.folder, upper), "counts binary")
        parts = to_arrow(job).column("counts").to_pylist()
        total: NDArray[np.int64] = np.sum([np.frombuffer(part, dtype=np.int64) for part in parts], axis=0)
        return total


def _block_counts(folder: Folder, number: int) -> NDArray[np.float64]:
    block = read_block(folder, number)
    counts = block.by_item.row_lengths.astype(np.float64)
    weights = block.by_item.weights
    sums = counts if weights is None else np.bincount(block.by_item.row_of_entry(), weights, block.by_item.n_rows)
    return np.column_stack((sums, counts))


def _half_counts(folder: Folder, upper: int | None, batches: Batches) -> Iterator[Any]:
    import pyarrow as pa

    for number in (value for batch in batches for value in batch.column(0).to_pylist()):
        weights = read_block(folder, number).strengths
        bits = np.zeros(0, np.uint32) if weights is None else weights.view(np.uint32)
        chosen = bits // HALF if upper is None else bits[bits // HALF == upper] % HALF
        counts = np.bincount(chosen, minlength=HALF).astype(np.int64)
        yield pa.record_batch([pa.array([counts.tobytes()], pa.binary())], names=["counts"])


def prepare(data: DataFrame, columns: Columns, folder: Folder, *, blocks: int, settings: dict[str, Any]) -> Prepared:
    """Read `data` twice: for its items, and into blocks in a folder of its own inside `folder`.

    A folder that an earlier fit to the same data with the same `settings` left half done is taken up again, with its
    number of blocks: a cluster may have fewer executors by then. `blocks` is that number; 0 chooses it.
    """
    session = data.sparkSession
    user_type, item_type = (IdType.of(data, column) for column in (columns.user, columns.item))
    pairs = _encoded(data, columns, user_type, item_type)
    items, facts = _items(pairs, columns)
    rows = facts["rows"]
    facts |= {"settings": settings, "types": [user_type.name, item_type.name], "blocks": blocks}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    own = folder.at(f"fit-{digest}")
    own.make()
    if not own.has("prepared.json"):
        parallel = slots(session)
        own.write_table("items", items)
        _build(pairs, columns, own, blocks or parallel * max(1, -(-rows // (parallel * BLOCK_ROWS))), parallel)
    found = own.read_json("prepared.json")
    users = tuple(found["users"])
    if not found["interactions"]:
        raise DataError("the training data has no interactions", "check the DataFrame and its filters")
    facts = {"n_items": len(items), **{name: found[name] for name in ("interactions", "lowest", "highest", "ranges")}}
    return Prepared(session, own, user_type, item_type, users, **facts)


def _encoded(data: DataFrame, columns: Columns, user_type: IdType, item_type: IdType) -> DataFrame:
    """Return the columns user, item and, if there is one, strength, encoded; strengths of 0 are no interactions."""
    from pyspark.sql import functions as F

    chosen = [
        user_type.encoded(F.col(quoted(columns.user))).alias("user"),
        item_type.encoded(F.col(quoted(columns.item))).alias("item"),
    ]
    if not columns.strength:
        return data.select(*chosen)
    if columns.strength not in data.columns:
        raise DataError(f"there is no column {columns.strength!r}", f"choose from {', '.join(data.columns)}")
    kind = data.schema[columns.strength].dataType.simpleString().split("(")[0]
    if kind not in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"):
        raise DataError(f"strengths of type {kind} are no numbers", "give a numeric column")
    strength = F.col(quoted(columns.strength)).cast("double")
    return data.select(*chosen, strength.alias("strength")).where(F.col("strength").isNull() | (F.col("strength") != 0))


def _bad_strength() -> Any:
    from pyspark.sql import functions as F

    value = F.col("strength")
    fits = value.between(SMALLEST_STRENGTH, LARGEST_STRENGTH) & ~F.isnan(value)
    return value.isNull() | ~fits


def _items(pairs: DataFrame, columns: Columns) -> tuple[Any, dict[str, Any]]:
    """Return the items, ascending, and what tells these data from others; refuse bad rows unless they are skipped."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import functions as F

    bad = F.lit(False) if not columns.strength else _bad_strength()
    found = to_arrow(
        pairs.groupBy("item").agg(
            F.count(F.lit(1)).alias("rows"),
            F.count_if(F.col("user").isNull()).alias("users"),
            F.count_if(bad).alias("strengths"),
            F.count_if(F.col("user").isNotNull() & ~bad).alias("good"),
            F.bit_xor(F.xxhash64(*pairs.columns)).alias("hash"),
        )
    )
    lost = pc.sum(found.filter(pc.is_null(found["item"]))["rows"]).as_py() or 0
    counts = {"item id": lost, "user id": pc.sum(found["users"]).as_py() or 0}
    counts["strength that can be used"] = pc.sum(found["strengths"]).as_py() or 0
    for what, count in counts.items():
        if count and columns.invalid == "error":
            raise DataError(f"{count:,} rows have no {what}", 'drop them, or set handleInvalid="skip"')
    kept = found.filter(pc.and_(pc.is_valid(found["item"]), pc.greater(found["good"], 0))).sort_by("item")
    total = int(np.bitwise_xor.reduce(found["hash"].to_numpy())) if len(found) else 0
    facts = {"rows": pc.sum(found["rows"]).as_py() or 0, "hash": total, "items": len(kept)}
    return pa.table({"item": kept["item"]}), facts


def _build(pairs: DataFrame, columns: Columns, folder: Folder, blocks: int, ranges: int) -> None:
    from pyspark.sql import functions as F

    keep = F.col("user").isNotNull() & F.col("item").isNotNull()
    if columns.strength:
        keep = keep & ~_bad_strength()
    rows = pairs.where(keep).repartition(blocks, "user")
    builder = BlockBuilder(folder, columns.duplicates, bool(columns.strength))
    report = {row["number"]: row for row in to_arrow(map_arrow(rows, builder, REPORT)).to_pylist()}
    for number in set(range(blocks)) - set(report):  # Spark may leave an empty partition out
        write_block(folder, number, CSR(np.zeros(1, np.int64), np.zeros(0, np.int32), None, len(item_codes(folder))))
    filled = [row for row in report.values() if row["interactions"]]
    folder.write_json(
        "prepared.json",
        {
            "users": [report[number]["users"] if number in report else 0 for number in range(blocks)],
            "interactions": sum(row["interactions"] for row in filled),
            "lowest": min((row["low"] for row in filled), default=1.0),
            "highest": max((row["high"] for row in filled), default=1.0),
            "ranges": ranges,
        },
    )
