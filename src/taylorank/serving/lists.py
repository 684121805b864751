"""The lists of queries of one group, ranked together: one pass over the items serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Ids, Interactions
from taylorank.kernels import top_k, top_k_scores
from taylorank.ranking.masks import dense_block, hide
from taylorank.ranking.ranker import Best
from taylorank.serving.query import Query

Queries = Sequence[Query]


def best_of(queries: Queries, *, num_threads: int | None = None) -> Best:
    """Return columns and scores of the best items of each query, (B, k), k the largest n; −1 and NaN where short."""
    first = queries[0]
    k = max(query.n for query in queries)
    unseen = csr_of([query.hide for query in queries], len(first.served.ranker.items))
    rows = user_rows(queries)
    if rows is None:
        columns, scores, cold = _by_scores(queries, unseen, k)
    else:
        scales, offsets = first.served.lines(first.discount)
        items = _items(first)
        columns, scores = top_k(
            rows, items, k=k, scales=scales, offsets=offsets, seen=unseen, allowed=first.allowed,
            num_threads=num_threads,
        )  # fmt: skip
        cold = ~rows.any(axis=1)
    if cold.any():
        columns[cold], scores[cold] = _popular([q for q, is_cold in zip(queries, cold, strict=True) if is_cold], k)
    return columns, scores


def csr_of(rows: Sequence[NDArray[np.int32]], n_columns: int, weights: NDArray[np.float32] | None = None) -> CSR:
    """Return rows of ascending columns as one matrix."""
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    indices = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    return CSR(indptr, indices.astype(np.int32, copy=False), weights, n_columns)


def histories_of(queries: Queries) -> Interactions:
    """Return the histories of queries as one matrix; those of known users are their training data."""
    ranker = queries[0].served.ranker
    rows, weights, binary = [], [], True
    for query in queries:
        items, strengths = history_of(query)
        rows.append(items)
        weights.append(np.ones(len(items), dtype=np.float32) if strengths is None else strengths)
        binary = binary and strengths is None
    matrix = csr_of(rows, len(ranker.items), None if binary else np.concatenate(weights))
    return Interactions(matrix, Ids(np.arange(len(queries))), ranker.items)


def history_of(query: Query) -> tuple[NDArray[np.int32], NDArray[np.float32] | None]:
    """Return the items of a history and their strengths, None if all are 1."""
    if query.user < 0:
        return query.history, query.strengths
    seen = query.served.ranker.seen.by_user
    part = slice(seen.indptr[query.user], seen.indptr[query.user + 1])
    return seen.indices[part], None if seen.weights is None else seen.weights[part]


def user_rows(queries: Queries) -> NDArray[np.float32] | None:
    """Return the vector of each query, (B, K), or None where scores are not inner products."""
    vectors = queries[0].served.ranker.vectors
    if vectors is None or not vectors.are_products:
        return None
    known = [place for place, query in enumerate(queries) if query.user >= 0]
    new = [place for place, query in enumerate(queries) if query.user < 0]
    rows = np.empty((len(queries), _items(queries[0]).factors.shape[1]), dtype=np.float32)
    if queries[0].point is not None:
        for place, query in enumerate(queries):
            rows[place] = _row_on_path(query)
        return rows
    if known:
        rows[known] = vectors.users[[queries[place].user for place in known]]
    if new and vectors.fold_in is None:  # histories are empty then
        rows[new] = 0
    elif new:
        assert vectors.fold_in is not None
        rows[new] = vectors.fold_in.rows(histories_of([queries[place] for place in new]))
    return rows


def _items(query: Query) -> Any:
    if query.point is not None:
        assert query.served.path is not None
        return query.served.path.items
    assert query.served.ranker.vectors is not None
    return query.served.ranker.vectors.items


def _row_on_path(query: Query) -> NDArray[np.float32]:
    path = query.served.path
    assert path is not None
    assert query.point is not None
    if query.user >= 0:
        rows = path.user_rows(np.array([query.user]), *query.point)
    else:
        rows = path.history_rows(histories_of([query]), *query.point)
    row: NDArray[np.float32] = rows[0]
    return row


def _by_scores(queries: Queries, unseen: CSR, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32], Any]:
    """Rank rows of all scores: for models of other kinds than vectors."""
    first = queries[0]
    scores, cold = dense_scores(queries)
    if first.discount is not None:
        scores *= first.served.discounts(first.discount).astype(np.float32)
    hide(scores, unseen)
    if first.allowed is not None:
        scores[:, ~first.allowed] = -np.inf
    return *top_k_scores(scores, k), cold


def dense_scores(queries: Queries) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return all scores of each query, (B, N), and which of them are of users without a history to rank by."""
    ranker = queries[0].served.ranker
    scores = np.zeros((len(queries), len(ranker.items)), dtype=np.float32)
    cold = np.array([query.user < 0 and not len(query.history) for query in queries])
    for is_new in (False, True):
        of_kind = np.array([(query.user < 0) == is_new for query in queries]) & ~cold
        places = np.flatnonzero(of_kind)
        if not len(places):
            continue
        chosen = [queries[place] for place in places.tolist()]
        own = ranker.for_histories(histories_of(chosen)) if is_new else ranker
        users = np.arange(len(chosen)) if is_new else np.array([query.user for query in chosen])
        scores[places], cold[places] = dense_block(own, users, own.scores_of(users)), own.is_cold(users)
    return scores, cold


def _popular(queries: Queries, k: int) -> Best:
    """Return the most popular items that are not hidden, for users without history."""
    first = queries[0]
    scores = first.served.popular_scores(first.discount)
    unseen = csr_of([query.hide for query in queries], len(scores))
    ones = np.ones((len(queries), 1), dtype=np.float32)
    return top_k(ones, scores[:, None], k=k, seen=unseen, allowed=first.allowed)
