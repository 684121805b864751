"""BLAS on one thread at a time, and large products shared out among ours: the same bits on any number of CPUs.

OpenBLAS, which NumPy and SciPy bring along, has as many threads as there are CPUs that the process may use when it
starts, and cuts a product by their number: another cut, another rounding. Here a product is cut by its shape alone,
each piece is multiplied on one thread, and the pieces are added in order. Another BLAS is left as it is, and results
may depend on its threads.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 (loads the BLAS of SciPy)
from numpy.typing import NDArray

from taylorank.kernels import backend

MOST_PIECES = 32
PIECE_WORK = 1 << 24  # multiply-adds that are worth a thread
ENDINGS = ("64_", "", "_64")  # of the names of functions, by how the library was built
_lock = threading.Lock()
_users, _before = 0, [0]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Within the block OpenBLAS uses one thread, in the whole process; blocks may nest and overlap."""
    global _users, _before
    libraries = _libraries()
    with _lock:
        if _users == 0:
            _before = [get() for get, _ in libraries]
            _set(libraries, [1] * len(libraries))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _set(libraries, _before)


def _set(libraries: list[tuple[Any, Any]], counts: list[int]) -> None:
    for (_, put), count in zip(libraries, counts, strict=True):
        put(count)


@cache
def _libraries() -> list[tuple[Any, Any]]:
    """Return how to ask for and to set the number of threads of every OpenBLAS that this process has loaded."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # not Linux
        return []
    places = dict.fromkeys(line.split(maxsplit=5)[5] for line in lines if "openblas" in line)
    return [pair for place in places if (pair := _functions(place)) is not None]


def _functions(place: str) -> tuple[Any, Any] | None:
    try:
        library = ctypes.CDLL(place)
    except OSError:
        return None
    for start in ("scipy_openblas", "openblas"):
        for end in ENDINGS:
            get = getattr(library, f"{start}_get_num_threads{end}", None)
            put = getattr(library, f"{start}_set_num_threads{end}", None)
            if get is not None and put is not None:
                return get, put
    return None


def inner_product(A: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """Return Aᵀ Z of tall A (n, j) and Z (n, b): pieces of rows, added in order.

    >>> inner_product(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    pieces = _pieces(len(A), A.shape[1] * Z.shape[1], most=len(A) // max(1, Z.shape[1]))  # no more room than A takes
    products = _in_threads(lambda part: A[part].T @ Z[part], pieces)
    total: NDArray[Any] = products[0]
    for product in products[1:]:
        np.add(total, product, out=total)
    return total


def subtract_product(Z: NDArray[Any], A: NDArray[Any], C: NDArray[Any]) -> None:
    """Z ← Z − A C in place, of tall Z (n, b) and A (n, j).

    >>> Z = np.array([[5.0], [7.0]])
    >>> subtract_product(Z, np.array([[1.0], [2.0]]), np.array([[3.0]]))
    >>> Z.tolist()
    [[2.0], [1.0]]
    """

    def work(part: slice) -> None:
        Z[part] -= A[part] @ C

    _in_threads(work, _pieces(len(Z), A.shape[1] * Z.shape[1]))


def multiply_in_place(A: NDArray[Any], C: NDArray[Any], *, strip: int) -> None:
    """Put A C in the place of the first columns of A (n, j), `strip` rows at a time; C is (j, w) with w ≤ j.

    >>> A = np.array([[1.0, 2.0]])
    >>> multiply_in_place(A, np.array([[3.0], [4.0]]), strip=1)
    >>> A.tolist()
    [[11.0, 2.0]]
    """

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, strip):
            rows = A[start : min(start + strip, part.stop)]
            rows[:, : C.shape[1]] = rows @ C

    _in_threads(work, _pieces(len(A), C.shape[0] * C.shape[1]))


def _pieces(rows: int, work_of_a_row: int, *, most: int = MOST_PIECES) -> list[slice]:
    """Cut rows into pieces worth a thread; by the shape alone."""
    count = max(1, min(MOST_PIECES, most, rows * work_of_a_row // PIECE_WORK))
    ends = [rows * k // count for k in range(count + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def _in_threads(work: Callable[[slice], Any], pieces: list[slice]) -> list[Any]:
    threads = min(len(pieces), backend.thread_count())
    if threads == 1:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, pieces))
