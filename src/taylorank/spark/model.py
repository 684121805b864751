"""Fitted models on a cluster: scores and ranks of pairs, best items of users, best users of items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pyspark.ml import Model
from pyspark.ml.util import MLReadable, MLWritable
from pyspark.sql import functions as F

from taylorank.errors import ParameterError
from taylorank.models.rg_parameters import check_ranking
from taylorank.spark.files import ModelFiles
from taylorank.spark.frames import as_positions, decoded_lists, distinct_codes, hidden_items
from taylorank.spark.ids import quoted
from taylorank.spark.params import IALSParams, ModelParams, RG2Params, accessors, check_path_share
from taylorank.spark.persistence import ModelReader, ModelWriter
from taylorank.spark.scoring import View, stored_vectors
from taylorank.spark.session import active_session, map_arrow
from taylorank.spark.sharded_lists import Lists
from taylorank.spark.transforming import PairScores
from taylorank.spark.user_lists import best_users

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TRAIN = "train"  # what `seen` is by default
REGULARIZATION = (0.0, 0.1, 0.2, 0.3, 0.4)


class FactorsModel(Model, ModelParams, MLWritable, MLReadable):
    """What all fitted models share. Scores are those by which `taylorank` ranks on one machine.

    `seen` in the methods that recommend: what to leave out, the training data by default; a DataFrame with `userCol`
    and `itemCol`; or None to rank all items, as MLlib's ALS does.
    """

    def __init__(self, files: ModelFiles | None = None) -> None:
        super().__init__()
        self.files: Any = files

    def view(self) -> View:
        """Return how tasks read the files."""
        width = self.files.width
        return View(self.files.folder, width, (1.0,) * width, "product", shards=self.files.shards)

    @property
    def userFactors(self) -> DataFrame:
        """The factors P as a DataFrame of `id` and `features`."""
        root = F.array(*(F.lit(float(value)) for value in self.view().root))
        users, kind = self.files.users(active_session()), self.files.user_type
        scaled = F.zip_with(F.slice("vector", 1, len(self.view().root)), root, lambda a, b: (a * b).cast("float"))
        return users.select(kind.decoded(F.col("user")).alias("id"), scaled.alias("features"))

    @property
    def itemFactors(self) -> DataFrame:
        """The factors Q as a DataFrame of `id` and `features`."""
        import pyarrow as pa

        from taylorank.spark.blocks import item_codes
        from taylorank.spark.users import lists

        folder, kind = self.files.folder, self.files.item_type
        vectors = self.view().factors(stored_vectors(folder, self.files.shards))
        table = pa.table({"item": item_codes(folder), "features": lists(vectors)})
        frame = active_session().createDataFrame(table)
        return frame.select(kind.decoded(F.col("item")).alias("id"), "features")

    def _transform(self, dataset: DataFrame) -> DataFrame:
        self._check_model()
        return PairScores(self).of(dataset)

    def recommendForAllUsers(self, numItems: int, seen: Any = TRAIN) -> DataFrame:
        """Return the best `numItems` items of each user: `userCol`, `recommendations` of (`itemCol`, rating)."""
        return self._lists(self.files.users(active_session()), numItems, seen)

    def recommendForUserSubset(self, dataset: DataFrame, numItems: int, seen: Any = TRAIN) -> DataFrame:
        """Return the best items of the users in `dataset`; users whom the model does not know have no row."""
        wanted = distinct_codes(dataset, self.value("userCol"), self.files.user_type, "user")
        users = self.files.users(dataset.sparkSession).join(wanted, "user", "left_semi")
        return self._lists(users, numItems, seen)

    def _lists(self, users: DataFrame, length: int, seen: Any) -> DataFrame:
        _check_length(length)
        name, item_type = self.value("itemCol"), self.files.item_type
        user_type = self.files.user_type
        chosen = hidden_items(self, users, seen)
        pair = f"struct<{quoted(name)}: {item_type.code_type}, rating: float>"
        schema = f"user {user_type.code_type}, recommendations array<{pair}>"
        found = map_arrow(chosen, Lists(self.view(), length, name), schema)
        return decoded_lists(found, "user", user_type, self.value("userCol"), name, item_type)

    def recommendForAllItems(self, numUsers: int, seen: Any = TRAIN) -> DataFrame:
        """Return the best `numUsers` users of each item: `itemCol`, `recommendations` of (`userCol`, rating)."""
        return best_users(self, numUsers, hidden_items(self, self.files.users(active_session()), seen), None)

    def recommendForItemSubset(self, dataset: DataFrame, numUsers: int, seen: Any = TRAIN) -> DataFrame:
        """Return the best users of the items in `dataset`; items that the model does not know have no row."""
        wanted = as_positions(self, distinct_codes(dataset, self.value("itemCol"), self.files.item_type, "item"))
        users = hidden_items(self, self.files.users(dataset.sparkSession), seen)
        return best_users(self, numUsers, users, wanted)

    def evaluate(self, test: DataFrame, **options: Any) -> Any:
        """Return the metrics of the whole ranking for the users of `test`; `taylorank.spark.evaluate` has options."""
        from taylorank.spark.evaluation import evaluate

        return evaluate(self, test, **options)

    def to_local(self) -> Any:
        """Return the model as one of `taylorank`, with everything in the memory of the driver."""
        from taylorank.spark.local import to_local

        return to_local(self)

    def unpersist(self) -> None:
        """Remove the files of a model that was not loaded; neither it nor its DataFrames can be used again."""
        self.files.remove()

    def write(self) -> ModelWriter:
        """Return a writer, for `model.write().overwrite().save(path)`."""
        return ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader, for `RG2Model.read().load(path)`."""
        return ModelReader(cls)

    @property
    def facts(self) -> dict[str, Any]:
        """What the fit left: sizes, seconds and whatever the model learned beside its factors."""
        return dict(self.files.facts)


@accessors
class RG2Model(FactorsModel, RG2Params):
    """A fitted `RG2`. `rank`, `regParam`, `ranking` and `popularityDiscount` can be set anew, without another fit."""

    def __init__(self, files: ModelFiles | None = None) -> None:
        super().__init__(files)

    def view(self) -> View:
        """Return how tasks read the files at this rank and penalty: √(σ − τ)₊ times U and V."""
        rank, share = self.value("rank"), self.value("regParam")
        check_path_share(share)
        check_ranking(self.value("ranking"), self.value("popularityDiscount"))
        values = np.array(self.files.facts["values"])
        if not 1 <= rank <= len(values):
            raise ParameterError(f"rank={rank}", f"choose 1 to {len(values)}, what was fitted")
        root = np.sqrt(np.maximum(values[:rank] - share * values[0], 0.0))
        ranking, discount = self.value("ranking"), self.value("popularityDiscount")
        return View(self.files.folder, self.files.width, tuple(root.tolist()), ranking, discount, self.files.shards)

    def path(self, ranks: Sequence[int] | None = None, regParams: Sequence[float] = REGULARIZATION) -> Iterator[Self]:
        """Yield the fitted model for every K of `ranks` and every λ of `regParams`, without refitting."""
        for rank in (self.value("rank"),) if ranks is None else ranks:
            for share in regParams:
                model = self.copy()
                model._set(rank=int(rank), regParam=float(share))
                model.view()  # refuses what was not fitted
                yield model


@accessors
class IALSModel(FactorsModel, IALSParams):
    """A fitted `IALS`."""

    def __init__(self, files: ModelFiles | None = None) -> None:
        super().__init__(files)


def _check_length(length: int) -> None:
    if not isinstance(length, int) or length < 1:
        raise ParameterError(f"a list of {length!r}", "give a whole number of at least 1")
