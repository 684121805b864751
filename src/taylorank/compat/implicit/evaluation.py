"""Splits and metrics with implicit's signatures.

`precision` divides hits by Σ min(K, relevant items), `map` and `ndcg` are means over users with test items (`map_min`
and `ndcg` of this library), `auc` takes what is not in the list of K as in random order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.compat.implicit.utils import check_random_state
from taylorank.errors import ParameterError
from taylorank.progress import shown_progress

BLOCK = 1000
Split = tuple[Any, Any]


def train_test_split(ratings: Any, train_percentage: float = 0.8, random_state: Any = None) -> Split:
    """Return (train, test): every entry is in train with this probability; entries below 0 are left out of test."""
    entries = sparse.coo_matrix(ratings)
    in_train = check_random_state(random_state).random(entries.nnz) < train_percentage
    return _part(entries, in_train), _part(entries, ~in_train & (entries.data > 0))


def leave_k_out_split(ratings: Any, K: int = 1, train_only_size: float = 0.0, random_state: Any = None) -> Split:
    """Return (train, test) with K random entries of every user who has more than K + 1 of them in test.

    `train_only_size` is the share of the users who have none there.
    """
    if K < 1:
        raise ParameterError(f"K={K}", "leave out at least 1")
    if not 0 <= train_only_size < 1:
        raise ParameterError(f"train_only_size={train_only_size} is no share", "give a number in [0, 1)")
    entries, rng = sparse.csr_matrix(ratings).tocoo(), check_random_state(random_state)
    counts = np.bincount(entries.row, minlength=entries.shape[0])
    tested = counts > K + 1
    users = np.flatnonzero(counts)
    tested[users[np.argsort(rng.random(len(users)))][: round(train_only_size * len(users))]] = False
    order = np.lexsort((rng.random(entries.nnz), entries.row))
    place = np.arange(entries.nnz) - np.repeat(np.cumsum(counts) - counts, counts)  # within the user, after shuffling
    in_test = np.zeros(entries.nnz, dtype=bool)
    in_test[order] = (place < K) & tested[entries.row[order]]
    return _part(entries, ~in_test), _part(entries, in_test)


def ranking_metrics_at_k(
    model: Any,
    train_user_items: Any,
    test_user_items: Any,
    K: int = 10,
    show_progress: bool = True,
    num_threads: int = 1,
) -> dict[str, float]:
    """Return {"precision", "map", "ndcg", "auc"} of the lists that `model.recommend` gives."""
    train, test = sparse.csr_matrix(train_user_items), sparse.csr_matrix(test_user_items)
    users = np.flatnonzero(np.diff(test.indptr))
    if not len(users):
        raise ParameterError("no user has test items", "check the split")
    sums = np.zeros(5)
    with shown_progress("evaluating", total=len(users), show=show_progress) as progress:
        for start in range(0, len(users), BLOCK):
            block = users[start : start + BLOCK]
            ids, _ = model.recommend(block, train[block], N=K)
            sums += _sums(ids, test[block], K)
            progress(min(start + BLOCK, len(users)), "")
    hits, possible, ap, ndcg, auc = sums
    count = len(users)
    return {"precision": hits / possible, "map": ap / count, "ndcg": ndcg / count, "auc": auc / count}


def precision_at_k(
    model: Any,
    train_user_items: Any,
    test_user_items: Any,
    K: int = 10,
    show_progress: bool = True,
    num_threads: int = 1,
) -> float:
    """Return the share of hits in the lists of K."""
    return ranking_metrics_at_k(model, train_user_items, test_user_items, K, show_progress, num_threads)["precision"]


def mean_average_precision_at_k(
    model: Any,
    train_user_items: Any,
    test_user_items: Any,
    K: int = 10,
    show_progress: bool = True,
    num_threads: int = 1,
) -> float:
    """Return MAP@K."""
    return ranking_metrics_at_k(model, train_user_items, test_user_items, K, show_progress, num_threads)["map"]


def ndcg_at_k(
    model: Any,
    train_user_items: Any,
    test_user_items: Any,
    K: int = 10,
    show_progress: bool = True,
    num_threads: int = 1,
) -> float:
    """Return NDCG@K."""
    return ranking_metrics_at_k(model, train_user_items, test_user_items, K, show_progress, num_threads)["ndcg"]


def AUC_at_k(  # noqa: N802
    model: Any,
    train_user_items: Any,
    test_user_items: Any,
    K: int = 10,
    show_progress: bool = True,
    num_threads: int = 1,
) -> float:
    """Return the area under the curve of the lists of K, the other items in random order."""
    return ranking_metrics_at_k(model, train_user_items, test_user_items, K, show_progress, num_threads)["auc"]


def _sums(ids: NDArray[Any], test: Any, K: int) -> NDArray[np.float64]:
    """Sums over users of hits, min(K, relevant), average precision, NDCG and AUC."""
    relevant = np.diff(test.indptr).astype(np.float64)
    keys = np.repeat(np.arange(test.shape[0]), np.diff(test.indptr)) * test.shape[1] + test.indices
    places = np.arange(test.shape[0])[:, None] * test.shape[1] + ids
    hit = np.isin(places, keys) & (ids >= 0)  # (users, ≤ K)
    found = hit.cumsum(axis=1)
    most = np.minimum(K, relevant)
    discount = 1 / np.log2(np.arange(2, K + 2))
    precision = (hit * found / np.arange(1, ids.shape[1] + 1)).sum(axis=1)
    ndcg = (hit * discount[: ids.shape[1]]).sum(axis=1) / discount.cumsum()[most.astype(int) - 1]
    irrelevant = test.shape[1] - relevant
    misses = (~hit).sum(axis=1)
    area = (~hit * found).sum(axis=1) + (hit.sum(axis=1) + relevant) / 2 * (irrelevant - misses)
    auc = area / (relevant * np.maximum(irrelevant, 1))
    return np.array([hit.sum(), most.sum(), (precision / most).sum(), ndcg.sum(), auc.sum()])


def _part(entries: Any, keep: NDArray[np.bool_]) -> Any:
    places = (entries.row[keep], entries.col[keep])
    return sparse.csr_matrix((entries.data[keep], places), shape=entries.shape)
