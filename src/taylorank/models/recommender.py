"""What every fitted model offers: its users and items, recommendations, explanations, files."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import typed
from taylorank.data import Ids, Interactions, read_interactions
from taylorank.data.frames import AsFrame
from taylorank.errors import NotFittedError
from taylorank.kernels.arrays import to_device, to_numpy
from taylorank.kernels.dispatch import is_tensor
from taylorank.kernels.thread_limit import on_own_threads
from taylorank.models import scikit
from taylorank.models.histories import over_items
from taylorank.models.html import model_html
from taylorank.models.missing import check_missing
from taylorank.models.parameters import parameters_of, set_parameters
from taylorank.models.training_record import TrainingRecord
from taylorank.progress import Show
from taylorank.ranking import Explanation, Ranker, explain, recommend
from taylorank.ranking.cold import Cold
from taylorank.ranking.list_table import list_table
from taylorank.torch_extra import on_device, torch_device

OF_THE_PROCESS = ("_ranker", "_unchanged", "_tensors")  # attributes that no copy in another process has


class Recommender:
    """A model by the conventions of scikit-learn whose fit leaves `train_` and what `learned_shapes` names.

    Subclasses give `fit` and `_build_ranker`, which makes a `ranking.Ranker` of the learned arrays, or just `scores`
    in its place. The ranker is built at its first use and kept until an attribute of the model changes, as by
    a new fit.
    """

    train_: Interactions
    history_: list[dict[str, float]]  # of fits that go step by step
    # Learned attributes that a file keeps, with their axes: "users", "items", or a name of the model's own.
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    score, predict, __sklearn_tags__ = scikit.score, scikit.predict, scikit.sklearn_tags
    n_features_in_ = property(scikit.columns_seen)
    _repr_html_ = model_html

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return parameters_of(self)

    def settled_params(self) -> dict[str, Any]:
        """Return the parameters with numbers in the place of "auto"."""
        return self.get_params()

    @classmethod
    def from_settled(cls, params: Mapping[str, Any]) -> Self:
        """Return the unfitted model that has these `settled_params`."""
        return cls(**params)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self."""
        set_parameters(self, params)
        return self

    def placed_on(self, device: str | None) -> Self:
        """Return this model with its parameter `device` set, sharing what was learned; itself if it has none."""
        return on_device(self, device)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({shown})"

    def __setattr__(self, name: str, value: Any) -> None:
        others = {key: kept for key, kept in self.__dict__.get("_tensors", {}).items() if key != name}
        if is_tensor(value):  # learned on a device, and kept there; `_learned` copies it when it is asked for
            self.__dict__["_tensors"] = {**others, name: value}
            self.__dict__.pop(name, None)
        else:
            self.__dict__["_tensors"] = others
            super().__setattr__(name, value)
        self._drop_ranker()

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_tensors", {}):
            return self._learned(name)
        check_missing(self, name)
        return object.__getattribute__(self, name)  # raises what a property has raised

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._drop_ranker()

    def _drop_ranker(self) -> None:
        self.__dict__.pop("_ranker", None)
        self.__dict__["_unchanged"] = object()

    def __getstate__(self) -> dict[str, Any]:
        for name in self.__dict__.get("_tensors", {}):
            self._learned(name)
        return {name: value for name, value in self.__dict__.items() if name not in OF_THE_PROCESS}

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_ranker"})
        other._drop_ranker()
        return other

    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items)."""
        raise AttributeError(f"{type(self).__name__} cannot be fitted")

    @property
    def users(self) -> Ids:
        """The users it knows."""
        return self.seen.users

    @property
    def items(self) -> Ids:
        """The items it ranks."""
        return self.seen.items

    @property
    def seen(self) -> Interactions:
        """The training data, which recommendations leave out; after `fold_in`, the histories given there."""
        data: Interactions = self._learned("train_")
        return data

    @property
    def item_popularity(self) -> NDArray[np.float64]:
        """Σ_x r_xy of every item in the training data, (N,); `fold_in` does not change it."""
        return self._trained_on.popularity

    @property
    def data_fingerprint(self) -> str:
        """A short hash of the data that the model was fitted to."""
        return self._trained_on.fingerprint

    @property
    def ranker(self) -> Ranker:
        """The fitted model as ranking sees it; built once."""
        kept: Ranker | None = self.__dict__.get("_ranker")
        if kept is None:
            before = self.__dict__.get("_unchanged")
            kept = self._build_ranker()
            if self.__dict__.get("_unchanged") is before:  # else another thread has changed the model meanwhile
                self.__dict__["_ranker"] = kept
        return kept

    def _build_ranker(self) -> Ranker:
        if type(self).scores is Recommender.scores:
            raise AttributeError(f"{type(self).__name__} gives no scores")
        lengths = self.seen.by_user.row_lengths
        return self._ranker_with(scores=self.scores, cold_users=lambda users: lengths[users] == 0)

    def _ranker_with(self, **parts: Any) -> Ranker:
        """Return a ranker of the users and items of this model; `parts` are the fields that differ between models."""
        is_known = self.item_popularity > 0
        common = {
            "popularity": self.item_popularity,
            "rankable": None if is_known.all() else is_known,
            "name": type(self).__name__,
            "num_threads": getattr(self, "num_threads", None) or None,  # in some libraries 0 means all
        }
        return Ranker(self.users, self.items, self.seen, **{**common, **parts})

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of all items for users by position, (len(users), N)."""
        scores: NDArray[np.float32] = self.ranker.scores_of(users).astype(np.float32, copy=False)
        return scores

    @on_own_threads
    @typed
    def recommend(
        self,
        users: Sequence[Any] | NDArray[Any],
        n: int = 10,
        *,
        seen: Interactions | Sequence[Interactions] | None = None,
        items: Sequence[Any] | None = None,
        exclude: Sequence[Any] | None = None,
        cold: Cold | None = None,
        device: str | None = None,
        as_frame: AsFrame = False,
        progress: Show = None,
    ) -> Any:
        """Return the ids of the n best items of each user and their scores, (len(users), n).

        Items the user has in `seen` (the training data by default) are left out; `items` allows only these,
        `exclude` forbids those. Short lists are padded with -1 or "" and NaN. Items without interactions in training
        are not recommended.

        `cold` is for users whom the model does not know or who have no history in training: "popularity" lists the
        items by their share of the training interactions, which is the score; "nan" gives a row of padding; "error"
        raises and names them. By default unknown users are an error, and known users
        without history get the popular items.

        `device` is where to rank this once, in place of the model's own `device`, if it has one. `as_frame` gives a
        table of user, rank, item and score, without padding: "polars", "pandas", "pyarrow", or True for the one in use.
        `progress` is as in `fit`.
        """
        model = self.placed_on(device)
        lists = recommend(model, users, n, seen=seen, items=items, exclude=exclude, cold=cold, progress=progress)
        return lists if as_frame is False else list_table(users, lists, as_frame)

    @on_own_threads
    @typed
    def explain(self, user: Any, item: Any, n: int | None = 10) -> Explanation:
        """Return which items of the history of `user` contributed to the score of `item`, the n largest first.

        score = base + Σ contributions, for an exact fold-in of the history: the score of `recommend` where the fit has
        converged (see `ranking.explanation`); where the score is no inner product, of the inner product behind it. For
        a user without history the popularity of the item is the base.
        """
        return explain(self, user, item, n=n)

    @on_own_threads
    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, given their histories: exact for the given items, nothing is refitted.

        `histories` is `Interactions`, or anything that `read_interactions` reads; unknown items are ignored.
        """
        data = over_items(read_interactions(histories), self.items)
        return self._for_others(data, ranker=self.ranker.for_histories(data))

    def distil(self, factors: int = 64, **others: Any) -> Any:
        """Return a `Distilled` model of `factors` numbers per user and item, taught by this fitted one."""
        from taylorank.models.distilled import Distilled

        return Distilled(self, factors, **others).fit(self.seen)

    def save(self, file: str | os.PathLike[str], /, *, with_seen: bool = True, path: bool = False) -> None:
        """Write the model to one file (safetensors with a JSON manifest, no pickle), atomically.

        Without the seen items the file is smaller, and recommendations may repeat items of a user's history. With
        `path` it also holds the SVD of a spectral fit, so that `path()` works after loading; it is then about twice
        as large.
        """
        from taylorank.models.storage import save_model

        save_model(self, file, with_seen=with_seen, with_path=path)

    def export(self, kind: str, target: Any, **options: Any) -> Exported:
        """Write the vectors to a store ("faiss", "usearch", "pgvector", "qdrant", "parquet"), and measure its recall.

        `taylorank.stores.export` has the options.
        """
        from taylorank.stores import export

        return export(self, kind, target, **options)

    def _check_learned(self, name: str) -> None:
        """Raise unless the model has this learned attribute, in host memory or on a device."""
        if name not in self.__dict__ and name not in self.__dict__.get("_tensors", {}):
            raise NotFittedError(f"this {type(self).__name__} is not fitted", "call fit(train) first")

    def _learned(self, name: str) -> Any:
        """Return a learned attribute; raise if the model is not fitted."""
        if name in self.__dict__:
            return self.__dict__[name]
        self._check_learned(name)
        return self.__dict__.setdefault(name, to_numpy(self.__dict__["_tensors"][name]))

    def _where_it_ranks(self, name: str) -> Any:
        """Return a learned array as a tensor on the device that `device` names, or in host memory without one."""
        device = torch_device(getattr(self, "device", "cpu"))
        kept = self.__dict__.get("_tensors", {}).get(name)
        if device is None or kept is not None:
            return self._learned(name) if device is None else kept
        tensor = to_device(self._learned(name), device)
        self.__dict__["_tensors"] = {**self.__dict__.get("_tensors", {}), name: tensor}
        return tensor

    @property
    def _trained_on(self) -> TrainingRecord:
        """The record of the data that was fitted. It belongs to one `train_`: a later fit makes another."""
        kept = self.__dict__.get("_record")
        if kept is None or kept[0] is not self.seen:
            kept = self.__dict__["_record"] = (self.seen, TrainingRecord(self.seen))
        record: TrainingRecord = kept[1]
        return record

    def _for_others(
        self, histories: Interactions, record: TrainingRecord | None = None, *, ranker: Ranker | None = None
    ) -> Self:
        """Return a copy for the users of `histories`, with the record of the data that was fitted."""
        model: Any = copy.copy(self)
        model.train_ = histories
        model.__dict__["_record"] = (histories, record or self._trained_on)
        if ranker is not None and ranker.vectors is not None:
            model.user_factors_ = ranker.vectors.users
        if ranker is not None:
            model.__dict__["_ranker"] = ranker
        return model  # type: ignore[no-any-return]


if TYPE_CHECKING:
    from taylorank.stores import Exported

    MixinBase = Recommender
else:
    MixinBase = object  # for type checkers a mixin is a recommender; at run time it adds no base class
