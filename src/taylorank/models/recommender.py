"""What every model offers once it is fitted: who it knows, lists for them, reasons, files."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels.threads import on_own_threads
from taylorank.models.estimator import Estimator
from taylorank.models.explain import Explanation, explain
from taylorank.models.training_record import TrainingRecord
from taylorank.ranking.cold import Cold, shares
from taylorank.ranking.recommend import recommend


class Recommender(Estimator):
    """A `ranking.Scorer` that learns `train_`; subclasses give `fit`, `scores` and `learned_shapes`."""

    train_: Interactions
    # Learned attributes that a file keeps, with their axes: "users", "items", or a name of the model's own.
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {}

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
        """A short hash that tells which data the model was fitted to."""
        return self._trained_on.fingerprint

    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items)."""
        raise AttributeError(f"{type(self).__name__} cannot be fitted")

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of all items for users by position, (len(users), N)."""
        raise AttributeError(f"{type(self).__name__} gives no scores")

    @on_own_threads
    def recommend(
        self,
        users: Sequence[Any] | NDArray[Any],
        n: int = 10,
        *,
        seen: Interactions | Sequence[Interactions] | None = None,
        items: Sequence[Any] | None = None,
        exclude: Sequence[Any] | None = None,
        cold: Cold | None = None,
    ) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the ids of the n best items of each user and their scores, (len(users), n).

        Items the user has in `seen` (the training data by default) are left out; `items` allows only these,
        `exclude` forbids those. Short lists are padded with -1 or "" and NaN. Items that nobody met in training are
        not recommended: nothing is known of them.

        `cold` says what users get of whom nothing is known, because the model does not know them or they met nothing
        in training: "popularity" lists the items by their share of the training interactions, which is the score;
        "nan" gives a row of padding; "error" names them. By default unknown users are an error, and known users
        without history get the popular items.
        """
        return recommend(self, users, n, seen=seen, items=items, exclude=exclude, cold=cold)

    def explain(self, user: Any, item: Any, n: int | None = 10) -> Explanation:
        """Return which of the items that `user` met carried the score of `item`, the n largest contributions first.

        score = base + Σ contributions, for an exact fold-in of the history: the score of `recommend` where the fit has
        converged (see `models.explain`). For a user without history the popularity of the item is the base.
        """
        return explain(self, user, item, n=n)

    def cold_users(self, users: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which users, by position, the model knows nothing of: those without history."""
        empty: NDArray[np.bool_] = self.seen.by_user.row_lengths[users] == 0
        return empty

    def cold_scores(self) -> NDArray[np.float32]:
        """Return the scores of all items for a user of whom nothing is known: shares of all interactions, (N,)."""
        return shares(self.item_popularity)

    def rankable_items(self) -> NDArray[np.bool_] | None:
        """Return which items can be ranked, those that somebody met in training; None for all."""
        met = self.item_popularity > 0
        return None if met.all() else met

    def save(self, path: str | os.PathLike[str], *, with_seen: bool = True) -> None:
        """Write the model to one file (safetensors with a JSON manifest, no pickle), atomically.

        Without the seen items the file is smaller, and recommendations may repeat what a user has met.
        """
        from taylorank.models.storage import save_model

        save_model(self, path, with_seen=with_seen)

    def _contributions(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[np.float64], float]:
        """Return (item positions of the history, what each adds to the score of `column`, what is there without)."""
        raise ParameterError(f"{type(self).__name__} cannot say what carried a score", "explain another model")

    def _history(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return what the user at `row` met: item positions and strengths."""
        start, stop = self.seen.by_user.indptr[row : row + 2]
        return self.seen.by_user.indices[start:stop], self.seen.strengths[start:stop].astype(np.float64)

    @property
    def _trained_on(self) -> TrainingRecord:
        """The record of the data that was fitted. It goes with one `train_`: a later fit brings another."""
        kept = self.__dict__.get("_record")
        if kept is None or kept[0] is not self.seen:
            kept = self._record = (self.seen, TrainingRecord(self.seen))
        record: TrainingRecord = kept[1]
        return record

    def _for_others(self, histories: Interactions, record: TrainingRecord | None = None) -> Self:
        """Return a copy that speaks for the users of `histories`, with the record of the data that was fitted."""
        model = copy.copy(self)
        model.train_ = histories
        model._record = (histories, record or self._trained_on)
        return model
