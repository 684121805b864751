"""DataFrames in and out of codes: what to hide, which users and items, lists with their original ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from taylorank.errors import DataError, ParameterError
from taylorank.spark.blocks import item_codes
from taylorank.spark.folder import Folder
from taylorank.spark.ids import IdType, quoted
from taylorank.spark.session import Batches, map_arrow, to_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def coded(dataset: DataFrame, column: str, kind: IdType, name: str, *, alias: str = "") -> Any:
    """Return a column of ids as codes called `name`; refuse ids of another kind, of which none would be found.

    `alias` is what the column is called in the DataFrame that is asked, where that is not `dataset`.
    """
    given = IdType.of(dataset, column)
    if given.code_type != kind.code_type or given.is_number != kind.is_number:
        raise DataError(
            f"column {column!r} is of type {given.name}, the model was fitted to ids of type {kind.name}",
            "cast it to the same type",
        )
    return given.encoded(F.col(quoted(alias or column))).alias(name)


def distinct_codes(dataset: DataFrame, column: str, kind: IdType, name: str) -> DataFrame:
    """Return the distinct codes of a column of ids."""
    return dataset.select(coded(dataset, column, kind, name)).where(F.col(name).isNotNull()).distinct()


def as_positions(model: Any, items: DataFrame) -> tuple[int, ...]:
    """Return the positions of items that the model knows, ascending."""
    import pyarrow.compute as pc

    found = pc.index_in(to_arrow(items).column(0), value_set=item_codes(model.files.folder))
    return tuple(sorted(found.drop_null().to_pylist()))


@dataclass(frozen=True)
class Positions:
    """The function of the tasks that turn item codes into positions; unknown items are left out, or null."""

    folder: Folder
    keep_unknown: bool = False

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """From (user, item, …) to (user, position, …)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = item_codes(self.folder)
        for batch in batches:
            found = pc.index_in(batch.column(1), value_set=known)
            names = [batch.schema.names[0], "position", *batch.schema.names[2:]]
            changed = pa.record_batch([batch.column(0), found, *batch.columns[2:]], names=names)
            yield changed if self.keep_unknown else changed.filter(pc.is_valid(found))


def positions_by_user(model: Any, dataset: DataFrame) -> DataFrame:
    """Return the known items of each user of `dataset` as `user`, `items`: positions, ascending and unique."""
    files = model.files
    pairs = dataset.select(
        coded(dataset, model.value("userCol"), files.user_type, "user"),
        coded(dataset, model.value("itemCol"), files.item_type, "item"),
    ).where(F.col("user").isNotNull() & F.col("item").isNotNull())
    found = map_arrow(pairs, Positions(files.folder), f"user {files.user_type.code_type}, position int")
    return found.groupBy("user").agg(F.sort_array(F.collect_set("position")).alias("items"))


def hidden_items(model: Any, users: DataFrame, seen: Any) -> DataFrame:
    """Return `user`, `vector` and, unless nothing is hidden, the items to hide."""
    if seen is None:
        return users.select("user", "vector")
    if isinstance(seen, str):
        if seen != "train":
            raise ParameterError(f"seen={seen!r} is unknown", 'give a DataFrame, "train" or None')
        return users.select("user", "vector", "items")
    others = positions_by_user(model, seen).withColumnRenamed("items", "hidden")
    return users.select("user", "vector").join(others, "user", "left")


def decoded_lists(found: DataFrame, key: str, key_type: IdType, key_name: str, name: str, kind: IdType) -> DataFrame:
    """Return lists of (`name`, rating) by `key` with original ids in place of codes."""
    lists = F.col("recommendations")
    if kind.name != kind.code_type:
        lists = F.transform(
            lists, lambda pair: F.struct(kind.decoded(pair[name]).alias(name), pair["rating"].alias("rating"))
        )
    return found.select(key_type.decoded(F.col(key)).alias(key_name), lists.alias("recommendations"))
