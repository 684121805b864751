"""What the modules share: matrices, random numbers, and lists that are as long as they are asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from taylorank.data import CSR
from taylorank.errors import ParameterError, TaylorankError, warn_caller

Lists = tuple[NDArray[Any], NDArray[Any]]
LAST = np.float32(np.finfo(np.float32).min)  # the score of items that only fill up a list


class ParameterWarning(UserWarning):
    """An argument can be used, after a conversion that takes time."""


class NumberError(TaylorankError, IndexError):
    """A row or column number beyond the matrix that was fitted."""


def nonzeros(matrix: Any, row: int) -> Iterator[tuple[int, float]]:
    """Yield (column, value) of the stored entries of a row of a CSR matrix.

    >>> list(nonzeros(sparse.csr_matrix([[0.0, 2.0, 3.0]]), 0))
    [(1, 2.0), (2, 3.0)]
    """
    for place in range(int(matrix.indptr[row]), int(matrix.indptr[row + 1])):
        yield int(matrix.indices[place]), matrix.data[place].item()


def check_csr(user_items: Any) -> Any:
    """Return a matrix to fit to as CSR; another format is converted, with a warning."""
    if not sparse.issparse(user_items):
        kind = type(user_items).__name__
        raise ParameterError(f"the matrix is a {kind}", "give a SciPy sparse matrix (users × items)")
    if user_items.format != "csr":
        message = f"a {user_items.format} matrix is converted to CSR, which takes a while"
        warn_caller(message, ParameterWarning)
    return user_items.tocsr()


def check_rows(user_items: Any, ids: Any, name: str = "user_items") -> Any:
    """Return a matrix with one row per id, or refuse it."""
    if not sparse.issparse(user_items) or user_items.format != "csr":
        raise ParameterError(f"{name} is not a CSR sparse matrix", f"give {name}.tocsr()")
    count = 1 if np.isscalar(ids) else len(ids)
    if user_items.shape[0] != count:
        raise ParameterError(f"{name} has {user_items.shape[0]} rows for {count} ids", "give one row for each")
    return user_items


def check_random_state(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers: of a seed, of nothing, or the one that is given."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def check_numbers(numbers: ArrayLike, count: int, what: str) -> NDArray[np.int64]:
    """Return row or column numbers as an array; refuse those outside [0, count)."""
    array = np.atleast_1d(np.asarray(numbers)).astype(np.int64)
    if array.size and (array.min() < 0 or array.max() >= count):
        wrong = array[(array < 0) | (array >= count)][0]
        raise NumberError(f"{what} {wrong} is not in the model", f"its numbers are 0 to {count - 1}")
    return array


def rows_of(matrix: Any, columns: int) -> CSR:
    """Return the pairs of a SciPy matrix over so many columns, sorted; columns beyond are left out."""
    plain = sparse.csr_array(matrix)
    if plain.shape[1] > columns:
        plain = plain[:, :columns]
    plain = plain.copy() if not plain.has_sorted_indices else plain
    plain.sort_indices()
    return CSR(plain.indptr.astype(np.int64), plain.indices.astype(np.int32), None, columns)


def filled(ids: NDArray[Any], scores: NDArray[Any], candidates: NDArray[np.int64]) -> Lists:
    """Fill up short lists with the candidates that are not in them, at the lowest score there is."""
    for row in np.flatnonzero((ids < 0).any(axis=1)):
        gap = ids[row] < 0
        ids[row, gap] = candidates[~np.isin(candidates, ids[row])][: gap.sum()]
        scores[row, gap] = LAST
    return ids.astype(np.int32), scores
