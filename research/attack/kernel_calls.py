"""Calls of the native module with arguments that fit: each with its results, and the arrays that hold positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from research.attack.arrays import SIZES, THREADS, WIDTHS, numbers, sparse_rows
from taylorank.kernels import backend
from taylorank.kernels.screen import MOST, WHOLE

Rng = np.random.Generator
native: Any = backend.native


@dataclass
class Call:
    """A function of the native module and its arguments by name."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    results: tuple[str, ...]
    positions: dict[str, int] = field(default_factory=dict)  # arrays of positions, and how many there are
    pointers: tuple[str, ...] = ()


def random_call(rng: Rng) -> Call:
    """Return a call of one of the kernels."""
    makers = (
        *(_gather_sum, _nonzero_scores, _panels, _top_k, _top_k_scores, _row_solve),
        *(_small_product, _gram, _inverse, _softmax_sums, _softmax_columns, _unit_adam, _code_products, _pair_products),
    )
    return makers[rng.integers(len(makers))](rng)


def _how(rng: Rng) -> dict[str, Any]:
    return {"level": str(rng.choice(native.simd_levels())), "threads": int(rng.choice(THREADS))}


def _dtype(rng: Rng) -> Any:
    return np.dtype(str(rng.choice(["float32", "float64"])))


def _gather_sum(rng: Rng) -> Call:
    (indptr, indices, columns), width, dtype = sparse_rows(rng), int(rng.choice(WIDTHS)), _dtype(rng)
    given = {
        "indptr": indptr,
        "indices": indices,
        "factors": numbers(rng, (columns, width), dtype),
        "weights": numbers(rng, (len(indices),), dtype) if rng.random() < 0.5 else None,
        "out": np.empty((len(indptr) - 1, width), dtype=dtype),
        "chunk_items": int(rng.choice([0, 0, 1, 3, 50])),
        "band_rows": int(rng.choice([0, 0, -1, 1, 7])),
    }
    return Call(native.gather_sum, {**given, **_how(rng)}, ("out",), {"indices": columns}, ("indptr",))


def _nonzero_scores(rng: Rng) -> Call:
    (indptr, indices, columns), width, dtype = sparse_rows(rng), int(rng.choice(WIDTHS)), _dtype(rng)
    given = {
        "indptr": indptr,
        "indices": indices,
        "users": numbers(rng, (len(indptr) - 1, width), dtype),
        "items": numbers(rng, (columns, width), dtype),
        "out": np.empty(len(indices), dtype=dtype),
        "chunk_items": int(rng.choice([0, 0, 1, 3, 50])),
    }
    return Call(native.nonzero_scores, {**given, **_how(rng)}, ("out",), {"indices": columns}, ("indptr",))


def _chosen(rng: Rng, items: int) -> Any:
    some = np.flatnonzero(rng.random(items) < 0.5).astype(np.int32)
    return some if rng.random() < 0.5 else None


def _panels(rng: Rng) -> Call:
    factors = numbers(rng, (int(rng.choice(SIZES)), int(rng.choice(WIDTHS))))
    given = {"factors": factors, "chosen": _chosen(rng, len(factors))}
    return Call(native.ItemPanels, {**given, **_how(rng)}, (), {"chosen": len(factors)})


def _top_k(rng: Rng) -> Call:
    users, width, k = int(rng.choice(SIZES)), int(rng.choice(WIDTHS)), int(rng.choice([1, 2, 10, 70, 200]))
    factors, how = numbers(rng, (int(rng.choice(SIZES)), width)), _how(rng)
    panels = native.ItemPanels(factors, _chosen(rng, len(factors)), **how)
    indptr, indices, _ = sparse_rows(rng, n_rows=users, n_columns=len(factors))
    seen = rng.random() < 0.6
    given = {
        "users": numbers(rng, (users, width)),
        "items": panels,
        "scales": numbers(rng, (panels.count,)) if rng.random() < 0.5 else None,
        "offsets": numbers(rng, (panels.count,)) if rng.random() < 0.5 else None,
        "allowed": rng.integers(0, 2, panels.count).astype(np.uint8) if rng.random() < 0.5 else None,
        "seen_indptr": indptr if seen else None,
        "seen_items": indices if seen else None,
        "ids": np.empty((users, k), dtype=np.int64),
        "scores": np.empty((users, k), dtype=np.float32),
        "threads": how["threads"],
        "tile_users": int(rng.choice([0, 0, 1, 5])),
    }
    return Call(native.top_k, given, ("ids", "scores"), {"seen_items": len(factors)}, ("seen_indptr",))


def _top_k_scores(rng: Rng) -> Call:
    users, k = int(rng.choice(SIZES)), int(rng.choice([1, 2, 10, 70, 400]))
    given = {
        "given": numbers(rng, (users, int(rng.choice(SIZES)))),
        "ids": np.empty((users, k), dtype=np.int64),
        "scores": np.empty((users, k), dtype=np.float32),
    }
    return Call(native.top_k_scores, {**given, **_how(rng)}, ("ids", "scores"))


def _row_solve(rng: Rng) -> Call:
    (indptr, indices, columns), dtype = sparse_rows(rng), _dtype(rng)
    width = max(1, int(rng.choice(WIDTHS)))
    stride, rows = -(-width // 16) * 16, len(indptr) - 1
    factors, gram = np.zeros((columns, stride), dtype=dtype), np.zeros((stride, stride), dtype=dtype)
    factors[:, :width] = rng.standard_normal((columns, width))
    gram[:width, :width] = np.eye(width) if (diagonal := bool(rng.random() < 0.5)) else 1.0 + np.eye(width)

    def maybe(*shape: int) -> Any:
        return np.ones(shape, dtype=dtype) if rng.random() < 0.5 else None

    tilted, offsets = bool(rng.random() < 0.3), maybe(rows)
    given = {
        "indptr": indptr,
        "indices": indices,
        "weights": maybe(len(indices)),
        "weight": 1.0,
        "targets": maybe(len(indices)),
        "target": 1.0,
        "factors": factors,
        "gram": gram,
        "diagonal": diagonal,
        "background": np.ones(rows, dtype=dtype),
        "regularization": np.full(rows, float(rng.choice([0.0, 1e-3, 1.0, 1e6])), dtype=dtype),
        "offsets": offsets,
        "direction": None if offsets is None else np.ones(stride, dtype=dtype),
        "tilt_rows": np.full((rows, width), 1e-3, dtype=dtype) if tilted else None,
        "tilt_mean": np.full(stride, 1e-3, dtype=dtype) if tilted else None,
        "tilt_scales": np.full(rows, 1e-3, dtype=dtype) if tilted else None,
        "start": maybe(rows, width),
        "out": np.zeros((rows, width), dtype=dtype),
        "method": str(rng.choice(["cholesky", "cg", "blocks"])),
        "steps": int(rng.choice([0, 1, 3])),
        "block": int(rng.choice([16, 64, 256])),
    }
    return Call(native.row_solve, {**given, **_how(rng)}, ("out",), {"indices": columns}, ("indptr",))


def _small_product(rng: Rng) -> Call:
    count, width, out_width, dtype = (
        int(rng.choice(SIZES)),
        int(rng.choice(WIDTHS)),
        int(rng.choice(WIDTHS)),
        _dtype(rng),
    )
    given = {
        "rows": numbers(rng, (count, width), dtype),
        "basis": numbers(rng, (width + int(rng.integers(2)), -(-out_width // 16) * 16), dtype),
        "out": np.empty((count, out_width), dtype=dtype),
    }
    return Call(native.small_product, {**given, **_how(rng)}, ("out",))


def _gram(rng: Rng) -> Call:
    width = int(rng.choice(WIDTHS))
    rows = numbers(rng, (int(rng.choice([*SIZES, 3000])), width), _dtype(rng))
    return Call(native.gram, {"rows": rows, "out": np.empty((width, width)), **_how(rng)}, ("out",))


def _inverse(rng: Rng) -> Call:
    width = int(rng.choice(WIDTHS))
    square = rng.standard_normal((width, width + 3))
    matrix = square @ square.T + float(rng.choice([0.0, 1.0])) * np.eye(width)
    return Call(native.inverse, {"matrix": matrix, "out": np.zeros((width, width)), **_how(rng)}, ("out",))


def _softmax_columns(rng: Rng) -> Call:
    columns = numbers(rng, (int(rng.choice(SIZES)), int(rng.choice(WIDTHS))))
    given = {"columns": columns, "offsets": numbers(rng, (len(columns),))}
    return Call(native.SoftmaxColumns, {**given, **_how(rng)}, ())


def _softmax_sums(rng: Rng) -> Call:
    columns, how = numbers(rng, (int(rng.choice(SIZES)), int(rng.choice(WIDTHS)))), _how(rng)
    laid = native.SoftmaxColumns(columns, numbers(rng, (len(columns),)), **how)
    count = int(rng.choice(SIZES))
    given = {
        "rows": numbers(rng, (count, columns.shape[1])),
        "row_offsets": numbers(rng, (count,)),
        "columns": laid,
        "scale": float(rng.choice([0.0, 1.0, 30.0])),
        "totals": np.empty(count, dtype=np.float32),
        "sums": np.empty((count, columns.shape[1]), dtype=np.float32),
        "threads": how["threads"],
    }
    return Call(native.softmax_sums, given, ("totals", "sums"))


def _unit_adam(rng: Rng) -> Call:
    shape = (int(rng.choice(SIZES)), int(rng.choice(WIDTHS)))
    moments = {"first": numbers(rng, shape), "second": np.abs(numbers(rng, shape))}
    given = {"raw": numbers(rng, shape), "unit": numbers(rng, shape), "gradient": numbers(rng, shape), **moments}
    rates = {"rate": 0.1, "epsilon": 1e-12, "decay_first": 0.9, "decay_second": 0.999}
    return Call(native.unit_adam, {**given, **rates, **_how(rng)}, ("raw", "unit", "first", "second"))


def _code_products(rng: Rng) -> Call:
    count, width = int(rng.choice([*SIZES, 70_000])), WHOLE * int(rng.integers(3))
    most = min(2**15, 2**31 // (MOST * max(width, 1)))  # a sum of more does not fit
    given = {
        "codes": rng.integers(-MOST, MOST + 1, (count, width)).astype(np.int8),
        "row": rng.integers(1 - most, most, width).astype(np.int16),
        "out": np.empty(count, dtype=np.int32),
    }
    return Call(native.code_products, {**given, **_how(rng)}, ("out",))


def _pair_products(rng: Rng) -> Call:
    (indptr, indices, columns), count, length = (
        sparse_rows(rng),
        int(rng.choice([0, 1, 3, 70])),
        int(rng.choice([0, 1, 9])),
    )
    count = count if len(indptr) > 1 else 0
    given = {
        "indptr": indptr,
        "indices": indices,
        "values": numbers(rng, (len(indices),)),
        "columns": columns,
        "items": rng.integers(0, max(len(indptr) - 1, 1), (count, length)),
        "out": np.empty((count, length, length), dtype=np.float32),
        "threads": int(rng.choice(THREADS)),
    }
    return Call(native.pair_products, given, ("out",), {"indices": columns, "items": len(indptr) - 1}, ("indptr",))
