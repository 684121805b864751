"""The k best items of each user, without the matrix of all scores."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference

REMEDY = "check the factors for values that are infinite or not a number"


def top_k(
    user_factors: NDArray[Any],
    item_factors: NDArray[Any],
    *,
    k: int,
    seen: CSR | None = None,
    allowed: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return item numbers and scores of the k largest P_x · Q_y of each row x, best first.

    Shapes: `user_factors` is P (B, K), `item_factors` is Q (N, K), the results are (B, k). Factors are float32;
    float64 is converted. Row x of `seen` holds the items to leave out for row x of P, ascending; `allowed` (N,)
    says which items may be ranked at all. Of equal scores the lower item number comes first; a score of −inf is
    left out; a score that is not a number is an error. Short lists are padded with -1 and NaN. Native kernels take
    numbers below 1e-38 for 0, which is a hundred times faster where a penalty has driven factors to nothing.

    No more than the scores of a few hundred pairs exist at a time, but Q is copied once. A score is a sum in the
    order of the columns, so native kernels give the same bits for any number of threads and any B and N. The levels
    avx2 and avx512 agree as well; baseline has no fused multiply-add and may differ in the last bits.

    >>> P, Q = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 1.0], [2.0, 5.0], [3.0, 0.0]])
    >>> top_k(P, Q, k=2)[0]
    array([[0, 2],
           [1, 0]])
    """
    P, Q = _checked_factors(user_factors, "user_factors"), _checked_factors(item_factors, "item_factors")
    if P.shape[1] != Q.shape[1]:
        raise ParameterError(
            f"users have {P.shape[1]} factors but items have {Q.shape[1]}", "pass the factors of one model"
        )
    k, threads = _checked_length(k), backend.thread_count(num_threads)
    if seen is not None and (seen.n_rows, seen.n_columns) != (len(P), len(Q)):
        raise ParameterError(
            f"seen is {seen.n_rows} × {seen.n_columns} but there are {len(P)} users and {len(Q)} items",
            "take the rows of these users",
        )
    may_rank = None if allowed is None else _checked_allowed(allowed, len(Q))
    if backend.native is None:
        return reference.top_k(P, Q, k=k, seen=seen, allowed=may_rank)
    ids, scores = _empty_lists(len(P), min(k, len(Q)))
    if ids.shape[1]:
        rows = (None, None) if seen is None else (_index(seen.indptr, np.int64), _index(seen.indices, np.int32))
        items = None if may_rank is None else np.flatnonzero(may_rank).astype(np.int32)
        try:
            backend.native.top_k(P, Q, *rows, items, ids, scores, level=backend.simd_level(), threads=threads)
        except ValueError as error:
            raise ParameterError(str(error), reference.REMEDY if "seen" in str(error) else REMEDY) from error
    return reference.pad_lists(ids, scores, k)


def top_k_scores(
    scores: NDArray[Any], k: int, *, num_threads: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return columns and values of the k largest of each row of scores (B, N), best first, (B, k).

    For models that score blocks of users themselves; `top_k` needs no such block. Of equal scores the lower column
    comes first; −inf is left out; NaN is an error. Short lists are padded with -1 and NaN.

    >>> top_k_scores(np.array([[1.0, 3.0, 3.0], [0.0, -np.inf, 1.0]], dtype=np.float32), 3)[0]
    array([[ 1,  2,  0],
           [ 2,  0, -1]])
    """
    given = _checked_factors(scores, "scores")
    k, threads = _checked_length(k), backend.thread_count(num_threads)
    if backend.native is None:
        return reference.top_k_scores(given, k)
    ids, best = _empty_lists(len(given), min(k, given.shape[1]))
    if ids.shape[1]:
        try:
            backend.native.top_k_scores(given, ids, best, level=backend.simd_level(), threads=threads)
        except ValueError as error:
            raise ParameterError(str(error), REMEDY) from error
    return reference.pad_lists(ids, best, k)


def _checked_factors(factors: NDArray[Any], name: str) -> NDArray[np.float32]:
    factors = np.asarray(factors)
    if factors.dtype not in (np.float32, np.float64):
        raise ParameterError(f"{name} are {factors.dtype}", "convert them with .astype(np.float32)")
    if factors.ndim != 2:
        raise ParameterError(f"{name} have shape {factors.shape}", "pass a matrix")
    return np.ascontiguousarray(factors, dtype=np.float32)


def _checked_length(k: int) -> int:
    try:
        length = operator.index(k)
    except TypeError:
        length = 0
    if length < 1:
        raise ParameterError(f"k is {k!r}", "give a whole number of at least 1")
    return length


def _checked_allowed(allowed: ArrayLike, n_items: int) -> NDArray[np.bool_]:
    mask = np.asarray(allowed)
    if mask.dtype != np.bool_ or mask.shape != (n_items,):
        raise ParameterError(
            f"allowed is {mask.dtype} {mask.shape} but there are {n_items} items", "pass one bool per item"
        )
    return mask


def _index(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.ndim != 1 or not np.can_cast(array.dtype, dtype, "safe"):
        raise ParameterError(
            f"an index array of seen is {array.dtype} with shape {array.shape}",
            f"make it one-dimensional and {np.dtype(dtype)}",
        )
    return np.ascontiguousarray(array, dtype=dtype)


def _empty_lists(users: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    return np.empty((users, k), dtype=np.int64), np.empty((users, k), dtype=np.float32)
