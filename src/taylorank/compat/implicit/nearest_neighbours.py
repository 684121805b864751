"""Item neighbours with implicit's signatures: the K most similar items of each item, scores summed over a history."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from taylorank.compat.implicit.factors import File
from taylorank.compat.implicit.older import OlderMethods
from taylorank.compat.implicit.utils import LAST, Lists, check_numbers, check_rows
from taylorank.compat.implicit.weights import bm25_weight, normalize, tfidf_weight
from taylorank.errors import NotFittedError, ParameterError
from taylorank.progress import shown_progress

__all__ = [
    "BM25Recommender",
    "CosineRecommender",
    "ItemItemRecommender",
    "TFIDFRecommender",
    "bm25_weight",
    "normalize",
    "tfidf_weight",
]
BLOCK = 512


class ItemItemRecommender(OlderMethods):
    """S = XᵀX, of each row the K largest, itself among them; scores of a history r are r S."""

    def __init__(self, K: int = 20, num_threads: int = 0) -> None:
        self.K, self.num_threads = K, num_threads
        self.similarity: Any = None

    def fit(self, weighted: Any, show_progress: bool = True, callback: Any = None) -> Self:
        """Compute the similarities of the columns of a matrix of users × items."""
        if callback is not None:
            raise NotImplementedError(f"{type(self).__name__} is fitted in one step, without callback")
        X = sparse.csc_array(weighted).astype(np.float64)
        parts = []
        with shown_progress("comparing items", total=X.shape[1], show=show_progress) as progress:
            for start in range(0, X.shape[1], BLOCK):
                rows = sparse.csr_array(X[:, start : start + BLOCK].T @ X)
                parts.append(_largest(rows, self.K))
                progress(min(start + BLOCK, X.shape[1]), "")
        self.similarity = sparse.csr_matrix(sparse.vstack(parts, format="csr"))
        return self

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
        """Return item numbers and scores of the N best items for the rows of `user_items`.

        The list of one user holds only items with a score; those of several are filled up with -1. With `items` all of
        these are in the list, and those without a score last.
        """
        history = sparse.csr_array(check_rows(user_items, userid)).astype(np.float64)
        scores = history @ sparse.csr_array(self._similarity())
        if filter_already_liked_items:
            liked = history.copy()
            liked.data = np.ones_like(liked.data)
            scores = scores - scores.multiply(liked)
        return _lists(sparse.csr_array(scores), userid, N, items, filter_items)

    def similar_items(
        self,
        itemid: Any,
        N: int = 10,
        recalculate_item: bool = False,
        item_users: Any = None,
        filter_items: ArrayLike | None = None,
        items: ArrayLike | None = None,
    ) -> Lists:
        """Return numbers and similarities of the nearest items, itself first."""
        if recalculate_item:
            raise NotImplementedError(f"{type(self).__name__} cannot recalculate items")
        similarity = self._similarity()
        rows = sparse.csr_array(similarity)[check_numbers(itemid, similarity.shape[0], "item")]
        return _lists(rows, itemid, N, items, filter_items)

    def similar_users(
        self, userid: Any, N: int = 10, filter_users: ArrayLike | None = None, users: ArrayLike | None = None
    ) -> Lists:
        """Not there: it knows no users."""
        raise NotImplementedError(f"{type(self).__name__} compares items alone")

    def save(self, fileobj_or_path: File) -> None:
        """Write to an .npz file, or to a file object."""
        m = self.similarity
        arrays = {} if m is None else {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
        np.savez(fileobj_or_path, K=self.K, **arrays)

    @classmethod
    def load(cls, fileobj_or_path: File) -> Self:
        """Read what `save` wrote."""
        if not hasattr(fileobj_or_path, "read") and not os.fspath(fileobj_or_path).endswith(".npz"):
            fileobj_or_path = f"{os.fspath(fileobj_or_path)}.npz"
        model = cls()
        with np.load(fileobj_or_path, allow_pickle=False) as data:
            model.K = int(data["K"])
            if "data" in data:
                parts = (data["data"], data["indices"], data["indptr"])
                model.similarity = sparse.csr_matrix(parts, shape=tuple(data["shape"]))
        return model

    def _similarity(self) -> Any:
        if self.similarity is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted", "call fit(user_items) first")
        return self.similarity


class CosineRecommender(ItemItemRecommender):
    """Similarity is the cosine of two columns."""

    def fit(self, counts: Any, show_progress: bool = True, callback: Any = None) -> Self:
        """Compute the similarities of the columns of a matrix of users × items."""
        return super().fit(normalize(counts.T).T, show_progress, callback)


class TFIDFRecommender(ItemItemRecommender):
    """Similarity is the cosine of two columns after tf-idf weighting."""

    def fit(self, counts: Any, show_progress: bool = True, callback: Any = None) -> Self:
        """Compute the similarities of the columns of a matrix of users × items."""
        return super().fit(normalize(tfidf_weight(counts.T)).T, show_progress, callback)


class BM25Recommender(ItemItemRecommender):
    """Similarity is the inner product of two columns after BM25 weighting."""

    def __init__(self, K: int = 20, K1: float = 1.2, B: float = 0.75, num_threads: int = 0) -> None:
        super().__init__(K, num_threads)
        self.K1, self.B = K1, B

    def fit(self, counts: Any, show_progress: bool = True, callback: Any = None) -> Self:
        """Compute the similarities of the columns of a matrix of users × items."""
        return super().fit(bm25_weight(counts.T, self.K1, self.B).T, show_progress, callback)


def _largest(rows: Any, K: int) -> Any:
    """Keep the K largest entries of each row."""
    keep = np.zeros(rows.nnz, dtype=bool)
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        order = np.argsort(-rows.data[start:stop], kind="stable")[:K]
        keep[start + order] = True
    kept = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
    return sparse.csr_array((rows.data[keep], rows.indices[keep], kept), shape=rows.shape)


def _lists(rows: Any, ids: Any, N: int, only: ArrayLike | None, without: ArrayLike | None) -> Lists:
    """Return the best entries of each row: (N,) or fewer for one id, (rows, N) filled up with -1 for several."""
    if only is not None and without is not None:
        raise ParameterError("both items and filter_items are given", "give one of them")
    wanted = None if only is None else np.unique(check_numbers(only, rows.shape[1], "item"))
    found = [_best(rows, row, N, wanted, without) for row in range(rows.shape[0])]
    if np.isscalar(ids):
        return found[0]
    width = N if wanted is None else len(wanted)
    columns, scores = np.full((len(found), width), -1, dtype=np.int32), np.full((len(found), width), float(LAST))
    for row, (best, values) in enumerate(found):
        columns[row, : len(best)], scores[row, : len(best)] = best, values
    return columns, scores


def _best(rows: Any, row: int, N: int, wanted: NDArray[Any] | None, without: ArrayLike | None) -> Lists:
    start, stop = rows.indptr[row : row + 2]
    columns, scores = rows.indices[start:stop], rows.data[start:stop]
    keep = scores != 0
    if wanted is not None:
        keep &= np.isin(columns, wanted)
    if without is not None:
        keep &= ~np.isin(columns, np.asarray(without))
    columns, scores = columns[keep], scores[keep]
    order = np.lexsort((columns, -scores))[: N if wanted is None else None]
    columns, scores = columns[order].astype(np.int32), scores[order]
    if wanted is None:
        return columns, scores
    missing = wanted[~np.isin(wanted, columns)].astype(np.int32)
    return np.append(columns, missing), np.append(scores, np.full(len(missing), float(LAST)))
