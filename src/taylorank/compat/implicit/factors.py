"""Recommendations and neighbours from plain arrays of factors, with row and column numbers in the place of ids."""

from __future__ import annotations

import json
import os
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.compat.implicit.older import OlderMethods
from taylorank.compat.implicit.utils import Lists, check_numbers, check_rows, filled, rows_of
from taylorank.data import CSR
from taylorank.errors import DataError, NotFittedError, ParameterError
from taylorank.kernels import ItemVectors, top_k

Floats = NDArray[Any]
File = str | os.PathLike[str] | IO[bytes]


class FactorRecommender(OlderMethods):
    """What models with a vector per user and per item have in common.

    Subclasses give `fit`, and `recalculate_user` and `recalculate_item` where a model has them. What `kept` names goes
    into files.
    """

    item_factors: Floats | None = None
    user_factors: Floats | None = None
    num_threads: int = 0
    kept: tuple[str, ...] = ("user_factors", "item_factors")

    def recommend(
        self,
        userid: Any,
        user_items: Any,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: ArrayLike | None = None,
        recalculate_user: bool = False,
        items: ArrayLike | None = None,
    ) -> Lists:
        """Return item numbers and scores of the N best items: (N,) for one user, (len(userid), N) for several.

        `user_items` has one row for each user. Items that the user has there come last, `filter_items` too, with the
        lowest score a float has; `items` are the only ones to rank. `recalculate_user` folds in `user_items`.
        """
        if filter_already_liked_items or recalculate_user:
            user_items = check_rows(user_items, userid)
        vectors = self._user_vectors(userid, user_items, recalculate_user)
        index = ItemVectors(self._item_factors())
        candidates = _candidates(len(index), items, filter_items, "item")
        seen = rows_of(user_items, len(index)) if filter_already_liked_items else None
        lists = self._ranked(vectors, index, N, candidates=candidates, seen=seen)
        return _of_one(userid, lists)

    def similar_items(
        self,
        itemid: Any,
        N: int = 10,
        recalculate_item: bool = False,
        item_users: Any = None,
        filter_items: ArrayLike | None = None,
        items: ArrayLike | None = None,
    ) -> Lists:
        """Return numbers and cosines of the N nearest items, itself first: (N,) for one item, (len(itemid), N) else."""
        vectors = self._item_vectors(itemid, item_users, recalculate_item)
        return self._nearest(itemid, vectors, self._neighbour_vectors(), N, (items, filter_items), "item")

    def similar_users(
        self, userid: Any, N: int = 10, filter_users: ArrayLike | None = None, users: ArrayLike | None = None
    ) -> Lists:
        """Return numbers and cosines of the N nearest users, itself first."""
        factors = self._user_factors()
        vectors = factors[check_numbers(userid, len(factors), "user")]
        return self._nearest(userid, vectors, factors, N, (users, filter_users), "user")

    def recalculate_user(self, userid: Any, user_items: Any) -> Floats:
        """Return the vectors of users from their rows, without keeping them."""
        raise NotImplementedError(f"{type(self).__name__} cannot recalculate users")

    def recalculate_item(self, itemid: Any, item_users: Any) -> Floats:
        """Return the vectors of items from their rows, without keeping them."""
        raise NotImplementedError(f"{type(self).__name__} cannot recalculate items")

    @property
    def user_norms(self) -> Floats:
        """The length of each user's vector; 1e-10 where it is 0."""
        return _norms(self._user_factors())

    @property
    def item_norms(self) -> Floats:
        """The length of each item's vector; 1e-10 where it is 0."""
        return _norms(self._item_factors())

    def save(self, fileobj_or_path: File) -> None:
        """Write parameters and factors to an .npz file, or to a file object."""
        arrays = {name: array for name in self.kept if (array := getattr(self, name, None)) is not None}
        params = json.dumps({"class": type(self).__name__, **self._params()})
        np.savez(fileobj_or_path, params=np.array(params), **arrays)

    @classmethod
    def load(cls, fileobj_or_path: File) -> Self:
        """Read what `save` wrote."""
        if not hasattr(fileobj_or_path, "read") and not os.fspath(fileobj_or_path).endswith(".npz"):
            fileobj_or_path = f"{os.fspath(fileobj_or_path)}.npz"
        with np.load(fileobj_or_path, allow_pickle=False) as data:
            params = json.loads(str(data["params"])) if "params" in data else {}
            if params.pop("class", None) != cls.__name__:
                raise DataError(f"this is no file of {cls.__name__}", "give what its save wrote")
            model = cls(**params)
            for name in cls.kept:
                if name in data:
                    setattr(model, name, data[name])
        return model

    def _params(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON holds them."""
        return {}

    def _user_vectors(self, userid: Any, user_items: Any, recalculate: bool) -> Floats:
        if recalculate:
            return np.atleast_2d(self.recalculate_user(userid, user_items))
        factors = self._user_factors()
        return factors[check_numbers(userid, len(factors), "user")]

    def _item_vectors(self, itemid: Any, item_users: Any, recalculate: bool) -> Floats:
        if recalculate:
            return np.atleast_2d(self.recalculate_item(itemid, item_users))
        factors = self._neighbour_vectors()
        return factors[check_numbers(itemid, len(factors), "item")]

    def _neighbour_vectors(self) -> Floats:
        """The vectors by which items are compared."""
        return self._item_factors()

    def _user_factors(self) -> Floats:
        return self._fitted(self.user_factors)

    def _item_factors(self) -> Floats:
        return self._fitted(self.item_factors)

    def _fitted(self, factors: Floats | None) -> Floats:
        if factors is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted", "call fit(user_items) first")
        return factors

    def _nearest(self, ids: Any, vectors: Floats, factors: Floats, N: int, chosen: tuple[Any, Any], what: str) -> Lists:
        index = ItemVectors(factors)
        candidates = _candidates(len(index), *chosen, what)
        unit = vectors / _norms(vectors)[:, None]
        lists = self._ranked(unit, index, N, candidates=candidates, scales=index.inverse_norms)
        return _of_one(ids, _itself_first(np.atleast_1d(ids), lists, candidates))

    def _ranked(
        self,
        vectors: Floats,
        index: ItemVectors,
        N: int,
        *,
        candidates: NDArray[np.int64],
        seen: CSR | None = None,
        scales: Floats | None = None,
    ) -> Lists:
        """The best of the candidates; lists are as long as N and the candidates allow."""
        N = min(N, len(candidates))
        allowed = np.zeros(len(index), dtype=bool)
        allowed[candidates] = True
        threads = self.num_threads or None
        ids, scores = top_k(vectors, index, k=N, seen=seen, allowed=allowed, scales=scales, num_threads=threads)
        return filled(ids, scores, candidates)


def _candidates(count: int, only: ArrayLike | None, without: ArrayLike | None, what: str) -> NDArray[np.int64]:
    """Return the numbers that may be in a list, ascending."""
    if only is not None and without is not None and np.size(without):
        raise ParameterError(f"both {what}s and filter_{what}s are given", "give one of them")
    if only is not None:
        return np.unique(check_numbers(only, count, what))
    every = np.arange(count)
    return every if without is None else every[~np.isin(every, np.asarray(without))]


def _itself_first(ids: NDArray[Any], lists: Lists, candidates: NDArray[np.int64]) -> Lists:
    """Put each id at the head of its own list: rounding may put an equal vector there, and scripts skip the head."""
    columns, scores = lists
    for row in np.flatnonzero((columns[:, 0] != ids) & np.isin(ids, candidates)) if columns.size else ():
        place = np.flatnonzero(columns[row] == ids[row])
        stop = int(place[0]) if len(place) else columns.shape[1] - 1
        columns[row, 1 : stop + 1], scores[row, 1 : stop + 1] = columns[row, :stop].copy(), scores[row, :stop].copy()
        columns[row, 0], scores[row, 0] = ids[row], max(scores[row, 0], np.float32(1))
    return columns, scores


def _of_one(ids: Any, lists: Lists) -> Lists:
    """Return a single list where a single id was asked for."""
    return (lists[0][0], lists[1][0]) if np.isscalar(ids) else lists


def _norms(factors: Floats) -> Floats:
    norms: Floats = np.linalg.norm(factors, axis=-1)
    norms[norms == 0] = 1e-10
    return norms
