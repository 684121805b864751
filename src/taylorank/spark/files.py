"""The files of a fitted model: items and their vectors, the table of users, and the facts about them.

items             codes of all items, ascending (Arrow)
item_arrays       vectors (N, K), popularity, counts and, for RG², the proposal
item_vectors-0 …  vectors by ranges of items, where those of all items are too many for one file
users.parquet     user, vector, items seen in training, strengths
facts.json        types of the ids, sizes, numbers that the fit learned
"""

from __future__ import annotations

import atexit
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.spark.folder import Folder
from taylorank.spark.ids import IdType
from taylorank.spark.prepared import Prepared
from taylorank.spark.scoring import ARRAYS, VECTORS
from taylorank.spark.users import USERS, Rows, read_users, write_users

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FACTS = "facts.json"


class ModelFiles:
    """What all views of one fit share.

    Temporary files are removed when the process ends: a DataFrame that was made from them may outlive the model.
    """

    def __init__(self, folder: Folder, *, temporary: Folder | None = None) -> None:
        self.folder = folder
        self.facts: dict[str, Any] = folder.read_json(FACTS)
        self._temporary = temporary
        if temporary is not None:
            atexit.register(temporary.remove)

    def remove(self) -> None:
        """Remove temporary files now; those of a saved model stay."""
        if self._temporary is not None:
            self._temporary.remove()

    @property
    def user_type(self) -> IdType:
        """How user ids are encoded."""
        return IdType(self.facts["user_type"])

    @property
    def item_type(self) -> IdType:
        """How item ids are encoded."""
        return IdType(self.facts["item_type"])

    @property
    def width(self) -> int:
        """How many numbers a stored vector has."""
        return int(self.facts["width"])

    @property
    def shards(self) -> tuple[int, ...]:
        """Where the ranges of items begin and end whose vectors have files of their own; empty: one file has all."""
        return tuple(self.facts.get("shards", ()))

    def users(self, session: SparkSession) -> DataFrame:
        """Return the table of users, codes for ids."""
        return read_users(session, self.folder)

    def copy_to(self, session: SparkSession, target: Folder) -> None:
        """Write the same files to another folder."""
        target.make()
        self.users(session).write.mode("overwrite").parquet(target.address_of(USERS))
        for name in ("items", ARRAYS, *(f"{VECTORS}-{number}" for number in range(len(self.shards) - 1)), FACTS):
            target.write_bytes(name, self.folder.read_bytes(name))


def write_model(
    data: Prepared, rows: Rows, items: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], *, temporary: bool
) -> ModelFiles:
    """Write the files of a model fitted to `data`; remove what the fit left."""
    fit = data.folder
    folder = parent(fit).at(f"model-{uuid.uuid4().hex[:12]}")
    folder.make()
    popularity, counts = data.counts
    folder.write_arrays(ARRAYS, {"popularity": popularity / data.typical_strength, "counts": counts, **items})
    folder.write_bytes("items", fit.read_bytes("items"))
    for number in range(len(facts.get("shards", ())) - 1):
        folder.write_bytes(f"{VECTORS}-{number}", fit.read_bytes(f"vectors-{number}"))
    began = time.perf_counter()
    write_users(data, rows, folder)
    folder.write_json(
        FACTS,
        {
            "user_type": data.user_type.name,
            "item_type": data.item_type.name,
            **({"width": int(np.shape(items["vectors"])[1])} if "vectors" in items else {}),
            "n_users": data.n_users,
            "n_items": data.n_items,
            "interactions": data.interactions,
            "blocks": data.blocks,
            "prepare_seconds": data.seconds,
            "users_seconds": time.perf_counter() - began,
            **facts,
        },
    )
    fit.remove()
    return ModelFiles(folder, temporary=parent(fit) if temporary else folder)


def parent(folder: Folder) -> Folder:
    """Return the folder that holds this one."""
    return Folder(folder.address.rstrip("/").rsplit("/", 1)[0])
