"""The k best items of each user, without the matrix of all scores."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, reference
from taylorank.kernels.aligned import in_order
from taylorank.kernels.arrays import to_numpy
from taylorank.kernels.checked import checked_factors, checked_indices
from taylorank.kernels.dispatch import is_tensor, tensor_kernels
from taylorank.kernels.screen import Screen

LAYOUT_COST = 6  # passes over an item's vector that laying it out takes, next to one of scoring it for up to 8 users
FEW_USERS, LEAST_SIZE, LEAST_SHARE = 4, 1 << 22, 16  # where `screened` is worth its codes: N K, and N / k
REMEDY = "check the factors for values that are infinite or not a number"


class ItemVectors:
    """Q (N, K) in single precision, laid out for the native kernel at its first use and kept so for the next.

    That takes as much memory again as Q. One call of `top_k` reads Q once, however few its users are; laying it out
    anew each time would cost ten times that.

    >>> items = ItemVectors(np.array([[3.0, 1.0], [2.0, 5.0]]))
    >>> top_k(np.array([[0.0, 1.0]]), items, k=1)[0]
    array([[1]])
    """

    def __init__(self, factors: NDArray[Any]) -> None:
        self.given = factors if is_tensor(factors) else _matrix(factors, "item_factors")  # where they were made
        self._panels: Any = None

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def factors(self) -> NDArray[np.float32]:
        """Q in host memory."""
        return _matrix(to_numpy(self.given), "item_factors") if is_tensor(self.given) else self.given

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("used", "screen")}
        return {**kept, "given": self.factors, "_panels": None}

    @cached_property
    def inverse_norms(self) -> NDArray[np.float32]:
        """1 / |Q_y|, (N,); 0 where Q_y = 0."""
        norms = np.sqrt(np.einsum("ij,ij->i", self.factors, self.factors, dtype=np.float64))
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        limited: NDArray[np.float32] = np.minimum(inverse, np.finfo(np.float32).max).astype(np.float32)
        return limited

    @cached_property
    def used(self) -> tuple[NDArray[np.int64], ItemVectors]:
        """Return the coordinates that are not 0 for every item, and the vectors in these."""
        live = np.flatnonzero(self.factors.any(axis=0))
        return live, self if len(live) == self.factors.shape[1] else ItemVectors(self.factors[:, live])

    @cached_property
    def screen(self) -> Screen | None:
        """Codes of the vectors, a quarter of their memory; None where some are not finite."""
        return Screen(self.factors) if np.isfinite(self.factors).all() else None

    def panels(self, threads: int) -> Any:
        """Return what the native kernel reads."""
        if self._panels is None:
            self._panels = _laid_out(self.factors, None, threads)
        return self._panels


def _laid_out(factors: NDArray[np.float32], chosen: NDArray[np.int32] | None, threads: int) -> Any:
    assert backend.native is not None
    return backend.native.ItemPanels(factors, chosen, level=backend.simd_level(), threads=threads)


def top_k(
    user_factors: NDArray[Any],
    item_factors: NDArray[Any] | ItemVectors,
    *,
    k: int,
    scales: NDArray[Any] | None = None,
    offsets: NDArray[Any] | None = None,
    seen: CSR | None = None,
    allowed: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return item numbers and scores of the k largest a_y (P_x · Q_y) + b_y of each row x, best first.

    Shapes: `user_factors` is P (B, K), `item_factors` is Q (N, K), `scales` is a (N,) and 1 by default, `offsets` is b
    (N,) and 0 by default; the results are (B, k). Factors are float32; float64 is converted. Row x of `seen` holds the
    items to leave out for row x of P, ascending; `allowed` (N,) says which items may be ranked at all. Of equal scores
    the lower item number comes first; a score of −inf is left out; a score that is not a number is an error. Short
    lists are padded with -1 and NaN. Native kernels take numbers below 1e-38 for 0, which is a hundred times faster
    where a penalty has driven factors to nothing.

    No more than the scores of a few hundred pairs exist at a time, but Q is laid out anew; `ItemVectors` keeps that for
    the next call. A product is a sum in the order of the columns, so native kernels give the same bits for any number
    of threads and any B and N. The levels avx2 and avx512 agree as well; baseline has no fused multiply-add and may
    differ in the last bits.

    >>> P, Q = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 1.0], [2.0, 5.0], [3.0, 0.0]])
    >>> top_k(P, Q, k=2)[0]
    array([[0, 2],
           [1, 0]])
    """
    if is_tensor(user_factors):
        options = {"scales": scales, "offsets": offsets, "seen": seen, "allowed": allowed}
        lists = tensor_kernels().top_k(user_factors, item_factors, k=k, **options)
        return cast("tuple[NDArray[np.int64], NDArray[np.float32]]", lists)
    kept = isinstance(item_factors, ItemVectors)
    items = item_factors if isinstance(item_factors, ItemVectors) else ItemVectors(item_factors)
    P, Q = _matrix(user_factors, "user_factors"), items.factors
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
    a, b = (_checked_line(line, name, len(Q)) for line, name in ((scales, "scales"), (offsets, "offsets")))
    if backend.native is None:
        return reference.top_k(P, Q, k=k, scales=a, offsets=b, seen=seen, allowed=may_rank)
    ids, scores = _empty_lists(len(P), min(k, len(Q)))
    if ids.shape[1]:
        rows = (None, None) if seen is None else checked_indices(seen, name="seen")
        panels, lines = _chosen_panels(items, kept, may_rank, threads, users=len(P), lines=(a, b))
        try:
            backend.native.top_k(P, panels, *lines, *rows, ids, scores, threads=threads)
        except ValueError as error:
            raise ParameterError(str(error), reference.REMEDY if "seen" in str(error) else REMEDY) from error
    return reference.pad_lists(ids, scores, k)


def screened(
    rows: NDArray[Any],
    items: ItemVectors,
    *,
    k: int,
    scales: NDArray[np.float32] | None = None,
    offsets: NDArray[np.float32] | None = None,
    allowed: NDArray[np.bool_] | None = None,
    num_threads: int | None = None,
) -> NDArray[np.bool_] | None:
    """Return what to give `top_k` as `allowed` for few users: fewer items, with which the lists are the same.

    Codes of the items are made at the first call, where there is enough to gain, and kept (see `kernels.screen`).
    """
    small = len(items.factors) * items.factors.shape[1] < LEAST_SIZE or k * LEAST_SHARE > len(items)
    if backend.native is None or small or not 0 < len(rows) <= FEW_USERS or items.screen is None:
        return allowed
    found = np.zeros(len(items), dtype=bool)
    for row in rows:
        of_row = items.screen.candidates(
            row, k, scales=scales, offsets=offsets, allowed=allowed, num_threads=num_threads
        )
        if of_row is None:
            return allowed
        found |= of_row
    return found if LEAST_SHARE * np.count_nonzero(found) < 4 * len(items) else allowed


def _chosen_panels(
    items: ItemVectors,
    kept: bool,
    allowed: NDArray[np.bool_] | None,
    threads: int,
    *,
    users: int,
    lines: tuple[NDArray[np.float32] | None, ...],
) -> tuple[Any, tuple[Any, ...]]:
    """Return panels of the items to rank, and scales, offsets and mask of what is in them.

    A small part of a large catalogue is laid out by itself: most of what a pass over all would read is not wanted.
    """
    if allowed is None:
        return items.panels(threads), (*lines, None)
    if kept and len(items) * (1 + users / 8) <= np.count_nonzero(allowed) * (LAYOUT_COST + users / 8):
        return items.panels(threads), (*lines, allowed.view(np.uint8))
    chosen = np.flatnonzero(allowed).astype(np.int32)
    part = tuple(None if line is None else line[chosen] for line in lines)
    return _laid_out(items.factors, chosen, threads), (*part, None)


def _checked_line(line: NDArray[Any] | None, name: str, n_items: int) -> NDArray[np.float32] | None:
    if line is None:
        return None
    values = in_order(line, dtype=np.float32)
    if values.shape != (n_items,):
        raise ParameterError(f"{name} have shape {values.shape}", f"give one number for each of {n_items} items")
    return values


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
    given = _matrix(scores, "scores")
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


def _matrix(values: NDArray[Any], name: str) -> NDArray[np.float32]:
    return in_order(checked_factors(values, None, name=name), dtype=np.float32)


def _checked_length(k: int) -> int:
    try:
        length = operator.index(k)
    except TypeError:
        length = 0
    if length < 1:
        raise ParameterError(f"k is {k!r}", "give a whole number of at least 1")
    return length


def _checked_allowed(allowed: ArrayLike, n_items: int) -> NDArray[np.bool_]:
    mask = in_order(allowed)
    if mask.dtype != np.bool_ or mask.shape != (n_items,):
        raise ParameterError(
            f"allowed is {mask.dtype} {mask.shape} but there are {n_items} items", "pass one bool per item"
        )
    return mask


def _empty_lists(users: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    return np.empty((users, k), dtype=np.int64), np.empty((users, k), dtype=np.float32)
