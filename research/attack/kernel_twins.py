"""Every kernel beside its slow twin in NumPy, as callers call it: near results, or a refusal by both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from research.attack import Difference
from research.attack.arrays import SIZES, THREADS, WIDTHS, Array, numbers, odd, sparse_rows, with_nothing
from taylorank import kernels
from taylorank.data.csr import CSR
from taylorank.errors import TaylorankError
from taylorank.kernels import backend
from taylorank.kernels.screen import Screen

Rng = np.random.Generator
Work = Callable[[], Any]


def compare_with_reference(rng: Rng) -> str:
    """Call a kernel and its twin with the same arguments; return whether they gave a result."""
    make = MAKERS[rng.integers(len(MAKERS))]
    work = make(rng)
    fast = _outcome(work)
    kept, backend.native = backend.native, None
    try:
        slow = _outcome(work)
    finally:
        backend.native = kept
    name = make.__name__.strip("_")
    if (fast is None) != (slow is None):
        raise Difference(f"{name}: only {'NumPy' if fast is None else 'the native kernel'} gives a result")
    if fast is None or slow is None:
        return "refused"
    for got, expected in zip(fast, slow, strict=True):
        if not _near(got, expected):
            raise Difference(f"{name}: {got.shape} numbers, {np.abs(got - expected).max():.3g} apart")
    return "result"


def _outcome(work: Work) -> list[Array] | None:
    try:
        with np.errstate(all="ignore"):
            found = work()
    except TaylorankError:
        return None
    return [np.asarray(one) for one in found] if isinstance(found, tuple) else [np.asarray(found)]


def _near(got: Array, expected: Array) -> bool:
    if got.shape != expected.shape:
        return False
    finite = expected[np.isfinite(expected)]
    room = 1e-3 * float(np.abs(finite).max(initial=0.0)) + 1e-36  # below which native kernels take numbers for 0
    with np.errstate(all="ignore"):
        return bool(np.allclose(got, expected, rtol=1e-3, atol=room, equal_nan=True))


def _values(rng: Rng, *shape: int, dtype: Any = np.float32) -> Array:
    values = numbers(rng, shape, dtype)
    return odd(with_nothing(values, rng, infinite=False) if rng.random() < 0.05 else values, rng)


def _rows(rng: Rng, **sizes: int) -> CSR:
    indptr, indices, columns = sparse_rows(rng, **sizes)
    if len(indices) and rng.random() < 0.1:
        indices[rng.integers(len(indices))] = rng.choice([-1, columns, 2**31 - 1])
    if columns and rng.random() < 0.05:
        indptr[rng.integers(len(indptr))] += rng.choice([-1, 1, 2**40])
    return CSR(odd(indptr, rng), odd(indices, rng), None, columns)


def _how(rng: Rng) -> dict[str, Any]:
    return {"num_threads": int(rng.choice(THREADS))}


def _width(rng: Rng) -> int:
    return int(rng.choice(WIDTHS))


def _dtype(rng: Rng) -> Any:
    return np.dtype(str(rng.choice(["float32", "float64"])))


def _gather_sum(rng: Rng) -> Work:
    rows, dtype, how = _rows(rng), _dtype(rng), _how(rng)
    factors = _values(rng, rows.n_columns, _width(rng), dtype=dtype)
    weights = _values(rng, len(rows.indices), dtype=dtype) if rng.random() < 0.5 else None
    return lambda: kernels.gather_sum(rows, factors, weights=weights, **how)


def _nonzero_scores(rng: Rng) -> Work:
    rows, dtype, width, how = _rows(rng), _dtype(rng), _width(rng), _how(rng)
    users = _values(rng, len(rows.indptr) - 1, width, dtype=dtype)
    items = _values(rng, rows.n_columns, width, dtype=dtype)
    return lambda: kernels.nonzero_scores(rows, users, item_factors=items, **how)


def _top_k(rng: Rng) -> Work:
    n_users, n_items, width = int(rng.choice(SIZES)), int(rng.choice(SIZES)), _width(rng)
    users, items = _values(rng, n_users, width, dtype=_dtype(rng)), _values(rng, n_items, width)
    options: dict[str, Any] = {
        "k": int(rng.choice([1, 3, 20, 500])),
        "scales": _values(rng, n_items) if rng.random() < 0.3 else None,
        "offsets": _values(rng, n_items) if rng.random() < 0.3 else None,
        "allowed": odd(rng.random(n_items) < 0.5, rng) if rng.random() < 0.3 else None,
        "seen": _rows(rng, n_rows=n_users, n_columns=n_items) if rng.random() < 0.5 else None,
        **_how(rng),
    }
    return lambda: kernels.top_k(users, items, **options)[1]  # ties may fall either way, scores may not


def _top_k_scores(rng: Rng) -> Work:
    scores, how, k = (
        _values(rng, int(rng.choice(SIZES)), int(rng.choice(SIZES))),
        _how(rng),
        int(rng.choice([1, 3, 500])),
    )
    return lambda: kernels.top_k_scores(scores, k, **how)[1]


def _row_solve(rng: Rng) -> Work:
    rows, dtype, width = _rows(rng), _dtype(rng), min(_width(rng), 64)
    factors = odd(rng.standard_normal((rows.n_columns, width)).astype(dtype), rng)
    gram = odd((factors.T @ factors).astype(dtype), rng)
    n_rows = len(rows.indptr) - 1
    weights = odd(rng.random(len(rows.indices)).astype(dtype), rng) if rng.random() < 0.5 else 1.0
    ridge = with_nothing(np.ones(n_rows), rng) if rng.random() < 0.05 else odd(np.ones(n_rows), rng)
    system = kernels.RowSystem(rows, gram, background=0.1, regularization=ridge, weights=weights)
    how: dict[str, Any] = {"method": str(rng.choice(["auto", "cholesky", "cg", "blocks"])), **_how(rng)}
    return lambda: kernels.row_solve(system, factors, **how)


def _gram(rng: Rng) -> Work:
    block, how = _values(rng, int(rng.choice(SIZES)), _width(rng), dtype=_dtype(rng)), _how(rng)
    return lambda: kernels.gram(block, **how)


def _inverse(rng: Rng) -> Work:
    width, how = _width(rng), _how(rng)
    square = rng.standard_normal((width, 2 * width + 3))
    matrix = odd(square @ square.T + np.eye(width), rng)
    return lambda: kernels.inverse(matrix, **how)


def _small_product(rng: Rng) -> Work:
    rows, threads = _values(rng, int(rng.choice(SIZES)), _width(rng), dtype=_dtype(rng)), int(rng.choice(THREADS))
    basis = odd(rng.standard_normal((rows.shape[1],) * 2).astype(rows.dtype), rng)
    return lambda: kernels.small_product(rows, basis, threads=threads)


def _softmax_sums(rng: Rng) -> Work:
    width, how = _width(rng), _how(rng)
    rows, columns = (rng.standard_normal((int(rng.choice(SIZES)), width)).astype(np.float32) for _ in range(2))
    given = odd(with_nothing(rows, rng, infinite=False) if rng.random() < 0.2 else rows, rng)
    offsets, scale = odd(rng.standard_normal(len(columns)), rng), float(rng.choice([0.0, 0.1, -1.0]))
    return lambda: kernels.softmax_sums(given, columns, column_offsets=offsets, scale=scale, **how)


def _unit_adam(rng: Rng) -> Work:
    shape, how = (int(rng.choice(SIZES)), max(1, _width(rng))), _how(rng)
    arrays = [odd(rng.standard_normal(shape).astype(np.float32), rng) for _ in range(4)]
    arrays.append(odd(rng.random(shape).astype(np.float32), rng))

    def work() -> Any:
        raw, unit, gradient, first, second = (array.copy() if array.flags.owndata else array for array in arrays)
        raw, unit, first, second = (np.array(one) if one.flags.writeable else one for one in (raw, unit, first, second))
        kernels.unit_adam(raw, unit, gradient, (first, second), rate=0.1, epsilon=1e-3, **how)
        return raw, unit

    return work


def _code_products(rng: Rng) -> Work:
    """The codes of items, by which some can be among the best: whole numbers, so to the last bit."""
    items = numbers(rng, (max(1, int(rng.choice(SIZES))), max(1, _width(rng))))
    row, k, how = numbers(rng, (items.shape[1],)), int(rng.choice([1, 3, 20])), _how(rng)

    def work() -> Any:
        found = Screen(items).candidates(row, k, **how)
        return np.zeros(0) if found is None else found.astype(np.float64)

    return work


def _pair_products(rng: Rng) -> Work:
    rows, how = _rows(rng), _how(rng)
    n_rows = len(rows.indptr) - 1
    values = odd(rng.standard_normal(len(rows.indices)).astype(np.float32), rng)
    weighted = CSR(rows.indptr, rows.indices, values, rows.n_columns)
    items = odd(rng.integers(0, max(n_rows, 1), (int(rng.choice([1, 3, 40])) if n_rows else 0, 9)), rng)
    return lambda: kernels.pair_products(weighted, items, **how)


MAKERS: tuple[Callable[[Rng], Work], ...] = (
    *(_gather_sum, _nonzero_scores, _top_k, _top_k_scores, _row_solve),
    *(_gram, _inverse, _small_product, _softmax_sums, _unit_adam, _code_products, _pair_products),
)
