"""What ranking needs of a fitted model: one value, built once and kept.

`recommend`, `evaluate`, `explain`, `similar_items`, `fold_in` and exports use a `Ranker` and nothing else. A model from
outside the library takes part by having a property `ranker`:

>>> from taylorank.data import planted
>>> from taylorank.ranking import evaluate
>>> class Newest:
...     def fit(self, train):
...         rows = np.arange(train.n_items, dtype=np.float32)
...         scores = lambda users: np.tile(rows, (len(users), 1))
...         self.ranker = Ranker(train.users, train.items, seen=train, scores=scores)
...         return self
>>> train, test = planted(50, 30, interactions=500).split((0.8, 0.2))
>>> sorted(evaluate(Newest().fit(train), test, k=10, metrics="recall"))
['recall@10']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import CSR, Ids, Interactions
from taylorank.errors import DataError, ParameterError, warn_caller
from taylorank.kernels import ItemVectors
from taylorank.kernels.arrays import like, to_numpy
from taylorank.kernels.dispatch import is_tensor
from taylorank.ranking.rows import are_consecutive, take_rows

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scores = NDArray[Any]
Best = tuple[NDArray[np.int64], NDArray[np.float32]]


class Rankable(Protocol):
    """A fitted model that can be ranked."""

    @property
    def ranker(self) -> Ranker:
        """The model as ranking sees it."""
        ...


class FoldIn(Protocol):
    """How the vector of a user is computed from a history, for given item vectors."""

    def rows(self, histories: Interactions) -> NDArray[Any]:
        """Return u of each user of `histories`, (B, K); 0 for one without history."""
        ...

    def contributions(self, history: Interactions, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each item of the history of one user adds to u · `vector`, (n,)."""
        ...


class RanksOnDevice(Protocol):
    """Ranks rows of user vectors on a device, and marks the rows that the CPU must decide (ties, not a number)."""

    def __call__(
        self, rows: NDArray[Any], *, k: int, seen: CSR | None, allowed: Mask | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], Mask]:
        """Return (columns (B, k), scores (B, k), undecided (B,))."""
        ...


@dataclass(frozen=True, eq=False)
class Vectors:
    """score_xy = a_y (u_x · v_y) + b_y.

    Parameters
    ----------
    users, items
        u (M, K) and v (N, K), both in host memory or both tensors on a device, where inner products are then ranked. A
        user without history has u = 0.
    scales, offsets
        a and b, (N,); 1 and 0 by default.
    score_rows, probability_rows
        From rows of u, (B, K), to (B, N): the scores where they are no inner products, and p(y | x) where the model
        gives probabilities.
    fold_in
        How u is computed from a history, where the model can.
    """

    users: NDArray[Any]
    items: ItemVectors
    scales: NDArray[np.float32] | None = None
    offsets: NDArray[np.float32] | None = None
    score_rows: Callable[[NDArray[Any]], Scores] | None = None
    probability_rows: Callable[[NDArray[Any]], Scores] | None = None
    fold_in: FoldIn | None = None

    @property
    def are_products(self) -> bool:
        """Whether scores are inner products, up to scale and offset of the item."""
        return self.score_rows is None

    @property
    def are_on_device(self) -> bool:
        """Whether the vectors are tensors on a device."""
        return is_tensor(self.users)

    def kept_rows(self, users: Positions) -> Any:
        """Return u of these users, (B, K), where the vectors are; a view if they follow each other."""
        return self.users[users[0] : users[-1] + 1] if are_consecutive(users) else self.users[users]

    def rows(self, users: Positions) -> NDArray[Any]:
        """Return u of these users, (B, K), in host memory."""
        return to_numpy(self.kept_rows(users))

    def scores(self, users: Positions) -> Scores:
        """Return the scores of all items, (B, N)."""
        rows = self.rows(users)
        if self.score_rows is not None:
            return self.score_rows(rows)
        with np.errstate(invalid="ignore", over="ignore"):  # callers check for NaN
            return self.finished(rows @ self.items.factors.T, slice(None))

    def finished(self, products: Scores, items: Any) -> Scores:
        """Return a_y · product + b_y for products with these items."""
        if self.scales is not None:
            products = products * self.scales[items]
        return products if self.offsets is None else products + self.offsets[items]

    def export(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (users, items) whose inner product is the score: [u_x, 1] and [a_y v_y, b_y] where there is a b."""
        items = self.items.factors if self.scales is None else self.items.factors * self.scales[:, None]
        users = to_numpy(self.users)
        if self.offsets is None:
            return users, items
        ones = np.ones((len(users), 1), dtype=users.dtype)
        return np.hstack((users, ones)), np.hstack((items, self.offsets[:, None]))

    @cached_property
    def user_index(self) -> ItemVectors:
        """The vectors of the users, laid out to be searched."""
        return ItemVectors(to_numpy(self.users))


@dataclass(frozen=True, eq=False)
class HistoryScores:
    """Scores computed directly from histories, rows of R (B, N): those of item-based models."""

    score: Callable[[sparse.csr_array], Scores]  # (B, N)
    is_cold: Callable[[sparse.csr_array], Mask]  # (B,): the history gives no scores
    are_needed: bool = True  # False: there are scores without histories too


@dataclass(frozen=True, eq=False)
class Ranker:
    """A fitted model as ranking sees it. Users and items are positions in `users` and `items`.

    Parameters
    ----------
    users, items
        The users it knows and the items it ranks.
    seen
        The interactions of each user, which recommendations leave out.
    scores, vectors, histories
        One of the three, from which scores are computed: a function from B users to (B, N); vectors whose inner
        products they are; or a function of histories. With the last two the model can fold in new users.
    popularity
        Σ_x r_xy of the training data, (N,): that of `seen` by default.
    rankable
        Which items can be ranked at all, (N,); all by default.
    cold_scores
        Scores of all items for a cold user, (N,): shares of the popularity by default.
    probabilities
        From users to p(y | x), (B, N), for models without vectors that give probabilities.
    similarities, contributions
        For models without vectors: how close all items are to some, (B, N); and, from the history of one user and an
        item, (items of the history, what each adds to the score, what is there without them).
    cold_users
        For models that are a function of users: which of them the model knows nothing of; by default none.
    on_device
        Ranks rows of user vectors on an accelerator, if one is used.
    name
        The model's name in errors.
    num_threads
        Of kernels; None: all that the process may use.
    """

    users: Ids
    items: Ids
    seen: Interactions
    scores: Callable[[Positions], Scores] | None = None
    vectors: Vectors | None = None
    histories: HistoryScores | None = None
    popularity: NDArray[np.float64] | None = None
    rankable: Mask | None = None
    cold_scores: NDArray[np.float32] | None = None
    probabilities: Callable[[Positions], Scores] | None = None
    similarities: Callable[[Positions], Scores] | None = None
    contributions: Callable[[Interactions, int], tuple[Positions, NDArray[np.float64], float]] | None = None
    cold_users: Callable[[Positions], Mask] | None = None
    on_device: RanksOnDevice | None = None
    name: str = "the model"
    num_threads: int | None = None

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if sum(part is not None for part in (self.scores, self.vectors, self.histories)) > 1:
            raise ParameterError(f"the ranker of {self.name} scores in two ways", "give scores, vectors or histories")
        if self.vectors is not None:
            found = (len(self.vectors.users), len(self.vectors.items))
            if found != (len(self.users), len(self.items)):
                raise ParameterError(
                    f"{self.name} has vectors of {found[0]:,} users and {found[1]:,} items, and ids of "
                    f"{len(self.users):,} and {len(self.items):,}",
                    "give one row for each",
                )

    @property
    def ranker(self) -> Ranker:
        """Itself, so that it can be given wherever a model can."""
        return self

    def scores_of(self, users: Positions) -> Scores:
        """Return the scores of all items for users by position, (B, N); higher ranks first."""
        if self.vectors is not None:
            return self.vectors.scores(users)
        if self.histories is not None:
            return self.histories.score(self._history_rows(users))
        if self.scores is None:
            raise ParameterError(f"{self.name} gives no scores", "give its ranker scores, vectors or histories")
        return self.scores(users)

    def probabilities_of(self, users: Positions) -> Scores:
        """Return p(y | x) of all items for users by position, (B, N)."""
        self.check_probabilities()
        if self.vectors is not None and self.vectors.probability_rows is not None:
            return self.vectors.probability_rows(self.vectors.rows(users))
        assert self.probabilities is not None
        return self.probabilities(users)

    def check_probabilities(self) -> None:
        """Refuse a model that gives no probabilities."""
        if self.probabilities is None and (self.vectors is None or self.vectors.probability_rows is None):
            raise ParameterError(
                f"{self.name} gives no probabilities", "leave ece out, or use a model that does, such as RG2"
            )

    def is_cold(self, users: Positions) -> Mask:
        """Return which users, by position, have no history to rank by; none if scores are a plain function."""
        if self.vectors is not None:
            return to_numpy((self.vectors.kept_rows(users) == 0).all(1))
        if self.histories is not None:
            return self.histories.is_cold(self._history_rows(users))
        return np.zeros(len(users), dtype=bool) if self.cold_users is None else self.cold_users(users)

    def _history_rows(self, users: Positions) -> sparse.csr_array:
        assert self.histories is not None
        if self.histories.are_needed and not self.seen.nnz:
            raise DataError("the model has no histories of its users", "fold_in their histories")
        return take_rows(self.seen.by_user, users).to_scipy()

    @cached_property
    def item_popularity(self) -> NDArray[np.float64]:
        """Σ_x r_xy of every item, (N,)."""
        return self.seen.relative_popularity if self.popularity is None else self.popularity

    @cached_property
    def popular_scores(self) -> NDArray[np.float32]:
        """Scores of all items for a cold user, (N,); pop_y / Σ pop is comparable with the scores of models."""
        if self.cold_scores is not None:
            return self.cold_scores
        share: NDArray[np.float32] = (self.item_popularity / (self.item_popularity.sum() or 1)).astype(np.float32)
        return share

    def ranks(self, allowed: Mask | None) -> Mask | None:
        """Return which of the allowed items can be ranked; None for all."""
        if self.rankable is None or allowed is None:
            return allowed if self.rankable is None else self.rankable
        return self.rankable & allowed

    def for_histories(self, histories: Interactions) -> Ranker:
        """Return the ranker of other users, given their histories over these items; nothing is fitted."""
        vectors = self.vectors
        if vectors is not None and vectors.fold_in is not None:
            rows = vectors.fold_in.rows(histories)
            vectors = replace(vectors, users=like(vectors.users, rows) if vectors.are_on_device else rows)
        elif self.histories is None:
            raise ParameterError(f"{self.name} cannot fold in new users", "choose another model, or fit it again")
        popularity = self.item_popularity  # that of the training data goes on counting
        return replace(self, users=histories.users, seen=histories, vectors=vectors, popularity=popularity)


def ranker_of(model: Rankable) -> Ranker:
    """Return the ranker of a model."""
    if not (hasattr(type(model), "ranker") or "ranker" in getattr(model, "__dict__", ())):
        return _of_scorer(model)
    ranker = model.ranker
    if not isinstance(ranker, Ranker):
        raise DataError(f"{type(model).__name__}.ranker is no Ranker", "build one with taylorank.ranking.Ranker")
    return ranker


def _of_scorer(model: Any) -> Ranker:
    name = type(model).__name__
    if not all(hasattr(model, part) for part in ("users", "items", "seen", "scores")):
        raise ParameterError(f"{name} cannot be ranked", "give it a property `ranker`, see taylorank.ranking.Ranker")
    warn_caller(
        f"{name} is ranked by its users, items, seen and scores alone; give it a property `ranker` instead",
        DeprecationWarning,
    )
    return Ranker(model.users, model.items, model.seen, scores=model.scores, name=name)
