"""The kernels in plain NumPy and SciPy: the oracle of the tests, and what runs without the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data.csr import CSR, INDEX_LIMIT
from taylorank.errors import ParameterError

BLOCK_CELLS = 1 << 20  # scores held at a time
REMEDY = "build the rows with Interactions or from a SciPy matrix"


def gather_sum(rows: CSR, factors: NDArray[Any], *, weights: NDArray[Any] | None) -> NDArray[Any]:
    """Return P with P[x, :] = Σ_{y ∈ row x} w_xy Q[y, :] (weights None: all 1).

    >>> rows = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> gather_sum(rows, np.array([[1.0], [2.0]]), weights=np.array([1.0, 10.0]))
    array([[21.]])
    """
    check_rows(rows)
    values = np.ones(rows.nnz, dtype=factors.dtype) if weights is None else weights
    index_type = np.int32 if rows.nnz < INDEX_LIMIT else np.int64
    indices, indptr = (array.astype(index_type, copy=False) for array in (rows.indices, rows.indptr))
    matrix = sparse.csr_array((values, indices, indptr), shape=(rows.n_rows, rows.n_columns))
    product: NDArray[Any] = matrix @ factors
    return product


def nonzero_scores(rows: CSR, users: NDArray[Any], items: NDArray[Any]) -> NDArray[Any]:
    """Return s with s_j = P_x · Q_y for every entry j = (x, y), in blocks of entries.

    >>> rows = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> nonzero_scores(rows, np.array([[2.0]]), np.array([[1.0], [3.0]]))
    array([2., 6.])
    """
    check_rows(rows)
    scores, row_of = np.empty(rows.nnz, dtype=users.dtype), rows.row_of_entry()
    block = max(1, BLOCK_CELLS // max(1, users.shape[1]))
    for start in range(0, rows.nnz, block):
        part = slice(start, start + block)
        scores[part] = np.einsum("jk,jk->j", users[row_of[part]], items[rows.indices[part]])
    return scores


def pair_products(rows: CSR, items: NDArray[Any]) -> NDArray[np.float32]:
    """Return T with T[x, a, b] = r_i · r_j for i = items[x, a] and j = items[x, b], one list after the other.

    >>> rows = CSR(np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32), None, 2)
    >>> pair_products(rows, np.array([[0, 1]])).tolist()
    [[[1.0, 1.0], [1.0, 2.0]]]
    """
    check_rows(rows)
    matrix = rows.to_scipy()
    products = np.empty((*items.shape, items.shape[1]), dtype=np.float32)
    for place, chosen in enumerate(items):
        few = matrix[chosen]
        products[place] = (few @ few.T).toarray()
    return products


def top_k(
    users: NDArray[np.float32],
    items: NDArray[np.float32],
    *,
    k: int,
    scales: NDArray[np.float32] | None = None,
    offsets: NDArray[np.float32] | None = None,
    seen: CSR | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return items and scores of the k largest a_y (P_x · Q_y) + b_y of each row x, in blocks of users."""
    if seen is not None:
        check_seen(seen)
    ids = np.empty((len(users), k), dtype=np.int64)
    best = np.empty((len(users), k), dtype=np.float32)
    block = max(1, BLOCK_CELLS // max(1, len(items)))
    for start in range(0, len(users), block):
        part = slice(start, start + block)
        with np.errstate(invalid="ignore", over="ignore"):  # what comes of infinite factors is checked below
            scores = users[part] @ items.T  # (block, N)
            if scales is not None:
                scores *= scales
            if offsets is not None:
                scores += offsets
        if seen is not None:
            indptr = seen.indptr[start : start + block + 1]
            row_of = np.repeat(np.arange(len(scores)), np.diff(indptr))
            scores[row_of, seen.indices[indptr[0] : indptr[-1]]] = -np.inf
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        ids[part], best[part] = top_k_scores(scores, k, first_row=start)
    return ids, best


def top_k_scores(
    scores: NDArray[np.float32], k: int, *, first_row: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return columns and values of the k largest scores of each row, by falling score, then by rising column.

    −inf is left out, short lists are padded with -1 and NaN; an error counts rows from `first_row`.

    >>> top_k_scores(np.array([[1.0, 3.0, 3.0], [0.0, -np.inf, 1.0]], dtype=np.float32), 3)[0]
    array([[ 1,  2,  0],
           [ 2,  0, -1]])
    """
    if np.isnan(scores).any():
        row, item = np.argwhere(np.isnan(scores))[0]
        raise ParameterError(
            f"the score of row {first_row + row} and item {item} is not a number",
            "check the factors for values that are infinite or not a number",
        )
    length = min(k, scores.shape[1])
    keys = _falling_keys(scores)
    best = np.argpartition(keys, length - 1, axis=1)[:, :length] if length < scores.shape[1] else np.argsort(keys)
    order = np.argsort(np.take_along_axis(keys, best, axis=1), axis=1)
    ids = np.take_along_axis(best, order, axis=1)
    found = np.take_along_axis(scores, ids, axis=1) + np.float32(0)  # −0 becomes +0
    missing = found == -np.inf
    return pad_lists(np.where(missing, -1, ids), np.where(missing, np.float32(np.nan), found), k)


def _falling_keys(scores: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Map (score, column) to distinct integers in ranking order, so that no sort has ties to break its own way."""
    bits = (scores + np.float32(0)).view(np.uint32)
    sign = np.uint32(1 << 31)
    rising = np.where(bits & sign, ~bits, bits | sign)  # order of the floats as unsigned integers
    return (~rising).astype(np.uint64) << np.uint64(32) | np.arange(scores.shape[1], dtype=np.uint64)


def pad_lists(
    ids: NDArray[np.int64], scores: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Fill lists up to length k with -1 and NaN."""
    if (missing := k - ids.shape[1]) <= 0:
        return ids, scores
    more = ((0, 0), (0, missing))
    return np.pad(ids, more, constant_values=-1), np.pad(scores, more, constant_values=np.nan)


def check_seen(seen: CSR) -> None:
    """Raise unless `indptr` rises from 0 to nnz and the items of each row ascend within the columns."""
    check_indptr(seen)
    row_of = seen.row_of_entry()
    bad = (seen.indices < 0) | (seen.indices >= seen.n_columns)
    bad[1:] |= (np.diff(seen.indices) < 0) & (row_of[1:] == row_of[:-1])
    if bad.any():
        text = f"row {row_of[np.argmax(bad)]} of seen does not ascend within the {seen.n_columns} items"
        raise ParameterError(text, REMEDY)


def check_rows(rows: CSR) -> None:
    """Raise unless `indptr` rises from 0 to nnz and each index is a column; SciPy would read past the end."""
    check_indptr(rows)
    indices = rows.indices
    if indices.size and (indices.min() < 0 or indices.max() >= rows.n_columns):
        bad = np.flatnonzero((indices < 0) | (indices >= rows.n_columns))[0]
        text = f"index {indices[bad]} at position {bad} is outside the {rows.n_columns} rows of factors"
        raise ParameterError(text, REMEDY)


def check_indptr(rows: CSR) -> None:
    """Raise unless `indptr` rises from 0 to nnz."""
    indptr, indices = rows.indptr, rows.indices
    if len(indptr) == 0:
        raise ParameterError("indptr is empty", REMEDY)
    if indptr[0] != 0:
        raise ParameterError(f"indptr starts at {indptr[0]}", REMEDY)
    if (falls := np.flatnonzero(np.diff(indptr) < 0)).size:
        raise ParameterError(f"indptr falls after row {falls[0]}", REMEDY)
    if indptr[-1] != len(indices):
        raise ParameterError(f"indptr ends at {indptr[-1]} but there are {len(indices)} indices", REMEDY)
