"""Row-solve: every method against dense solves in double precision, its promises, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import RowSystem, Tilt, backend, row_solve

LEVELS = backend.native.simd_levels() if backend.native else []
TOLERANCE = {np.float32: 1e-4, np.float64: 1e-10}
WIDTHS = (1, 7, 16, 64, 129)
METHODS = ("cholesky", "cg", "blocks")
LENGTHS = (3, 0, 1, 40, 0, 64, 65, 300, 7, 8, 9)
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


@pytest.fixture(params=["native", "twin"])
def kernels(request, monkeypatch):
    """Run a test with the native kernels, and without."""
    if request.param == "twin":
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    elif backend.native is None:
        pytest.skip("the native kernels are not built")
    return request.param


def random_problem(
    lengths: Any = LENGTHS, width: int = 7, *, dtype: Any = np.float32, tilt: bool = False, seed: int = 0
) -> tuple[RowSystem, np.ndarray]:
    """Return a well-conditioned system with every part present, and factors."""
    rng = np.random.default_rng(seed)
    n, columns = len(lengths), 50
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = CSR(indptr, rng.integers(0, columns, indptr[-1], dtype=np.int32), None, columns)
    factors = (rng.standard_normal((columns, width)) / np.sqrt(width)).astype(dtype)
    part = Tilt(0.3 * rng.standard_normal((n, width)) / width, rng.random(width) / width, rng.random(n))
    system = RowSystem(
        rows,
        factors.T @ factors,
        background=0.1 + rng.random(n),
        regularization=1 + rng.random(n),
        weights=rng.random(rows.nnz),
        targets=rng.standard_normal(rows.nnz),
        offsets=rng.standard_normal(n),
        direction=rng.standard_normal(width),
        tilt=part if tilt else None,
    )
    return system, factors


def dense(system: RowSystem, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all H_x and b_x in double precision, as the formula says."""
    rows, Q, K = system.rows, factors.astype(float), factors.shape[1]
    a, ridge = (np.broadcast_to(v, rows.n_rows) for v in (system.background, system.regularization))
    w, t = (np.broadcast_to(v, rows.nnz) for v in (system.weights, system.targets))
    H, b = np.empty((rows.n_rows, K, K)), np.zeros((rows.n_rows, K))
    for x in range(rows.n_rows):
        entries = slice(rows.indptr[x], rows.indptr[x + 1])
        R = Q[rows.indices[entries]]
        H[x] = a[x] * system.gram.astype(float) + (R.T * w[entries]) @ R + ridge[x] * np.eye(K)
        b[x] = t[entries] @ R
        if system.offsets is not None:
            b[x] += system.offsets[x] * system.direction
        if system.tilt is not None:
            f, m = system.tilt.rows[x], system.tilt.mean
            H[x] -= np.outer(f, m) + np.outer(m, f) + system.tilt.scales[x] * np.outer(m, m)
    return H, b


def exact(system: RowSystem, factors: np.ndarray) -> np.ndarray:
    H, b = dense(system, factors)
    return np.linalg.solve(H, b[..., None])[..., 0]


def objective(system: RowSystem, factors: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return ½ pᵀ H p − bᵀ p of every row: what all methods minimise."""
    H, b = dense(system, factors)
    P = P.astype(float)
    return np.einsum("xi,xij,xj->x", P, H, P) / 2 - np.einsum("xi,xi->x", b, P)


def solve_fully(system: RowSystem, factors: np.ndarray, method: Any, **options: Any) -> np.ndarray:
    """Run a method until it has converged."""
    if method == "cg":
        return row_solve(system, factors, method="cg", steps=3 * factors.shape[1] + 20, **options)
    result = row_solve(system, factors, method=method, block=32, **options)
    for _ in range(60 if method == "blocks" and factors.shape[1] > 32 else 0):
        result = row_solve(system, factors, method=method, block=32, start=result, **options)
    return result


def assert_solves(result: np.ndarray, system: RowSystem, factors: np.ndarray) -> None:
    expected = exact(system, factors)
    assert result.shape == expected.shape
    assert result.dtype == factors.dtype
    scale = np.abs(expected).max(initial=1e-3)
    np.testing.assert_allclose(result, expected, rtol=0, atol=TOLERANCE[factors.dtype.type] * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tilt", [False, True], ids=["plain", "tilt"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_method_finds_the_solution(width, method, tilt, dtype):
    system, factors = random_problem(width=width, dtype=dtype, tilt=tilt)
    assert_solves(solve_fully(system, factors, method), system, factors)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_the_native_module_the_result_agrees(method, dtype, monkeypatch):
    monkeypatch.setattr("taylorank.kernels.backend.native", None)
    system, factors = random_problem(width=20, dtype=dtype, tilt=True)
    assert_solves(solve_fully(system, factors, method), system, factors)


@needs_native
@pytest.mark.parametrize("method", ["cg", "blocks"])
@pytest.mark.parametrize("rows", [4, 40], ids=["few rows", "many rows"])
def test_the_twin_makes_the_same_steps(method, rows, monkeypatch):
    system, factors = random_problem([5] * rows, 20, dtype=np.float64, tilt=True)
    start = np.random.default_rng(3).standard_normal((rows, 20))
    native = row_solve(system, factors, method=method, start=start, steps=2, block=16)
    monkeypatch.setattr("taylorank.kernels.backend.native", None)
    twin = row_solve(system, factors, method=method, start=start, steps=2, block=16)
    assert np.abs(native - exact(system, factors)).max() > 1e-6  # not yet converged
    np.testing.assert_allclose(native, twin, rtol=1e-9, atol=1e-11)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_simd_level(level, method, dtype, monkeypatch):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    monkeypatch.setattr("taylorank.kernels.backend.simd_level", lambda: level)
    for width in WIDTHS:
        system, factors = random_problem(width=width, dtype=dtype, tilt=True)
        assert_solves(solve_fully(system, factors, method), system, factors)


@needs_native
@pytest.mark.parametrize("method", METHODS)
def test_thread_count_never_changes_a_bit(method):
    lengths = np.random.default_rng(2).geometric(0.02, size=1500) - 1
    lengths[100] = 5000
    system, factors = random_problem(lengths, 64, tilt=True)
    single = row_solve(system, factors, method=method, num_threads=1)
    for threads in (2, 3, 4):
        assert single.tobytes() == row_solve(system, factors, method=method, num_threads=threads).tobytes()


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 12), max_size=12),
    width=st.integers(1, 40),
    method=st.sampled_from(METHODS),
    tilt=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 99),
)
def test_any_problem(lengths, width, method, tilt, dtype, seed):
    system, factors = random_problem(lengths, width, dtype=dtype, tilt=tilt, seed=seed)
    assert_solves(solve_fully(system, factors, method, num_threads=2), system, factors)


@pytest.mark.parametrize("method", ["cg", "blocks"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_call_raises_the_objective(method, dtype, kernels):
    system, factors = random_problem(width=40, dtype=dtype, tilt=True)
    result = np.random.default_rng(4).standard_normal((len(LENGTHS), 40)).astype(dtype)
    before = objective(system, factors, result)
    for _ in range(8):
        result = row_solve(system, factors, method=method, start=result, steps=1, block=16)
        after = objective(system, factors, result)
        assert np.all(after <= before + TOLERANCE[dtype] * (1 + np.abs(before)))
        before = after


def test_shared_values_equal_one_per_row_and_entry(kernels):
    system, factors = random_problem(width=20, dtype=np.float64)
    plain = RowSystem(system.rows, system.gram, background=0.5, regularization=2.0, weights=3.0, targets=1.5)
    n, nnz = system.rows.n_rows, system.rows.nnz
    spelled = dataclasses.replace(
        plain,
        background=np.full(n, 0.5),
        regularization=np.full(n, 2.0),
        weights=np.full(nnz, 3.0),
        targets=np.full(nnz, 1.5),
    )
    for method in METHODS:
        one, other = (row_solve(s, factors, method=method) for s in (plain, spelled))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert_solves(row_solve(plain, factors), plain, factors)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lengths", [[], [0], [0] * 50, [5], [100_000], [0, 0, 30_000]], ids=str)
def test_unusual_shapes(lengths, method):
    system, factors = random_problem(lengths, 5, dtype=np.float64)
    assert_solves(solve_fully(system, factors, method, num_threads=2), system, factors)


@pytest.mark.parametrize("method", METHODS)
def test_no_columns_no_factors(method, kernels):
    system, _ = random_problem([3, 2], 4)
    system = dataclasses.replace(system, gram=np.zeros((0, 0)), direction=np.zeros(0))
    assert row_solve(system, np.zeros((50, 0)), method=method).shape == (2, 0)


@needs_native
def test_hundreds_of_factors():
    system, factors = random_problem([700, 0, 2], 300, tilt=True)
    assert_solves(row_solve(system, factors, method="cholesky"), system, factors)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_at_all_is_solved_by_zero(method, kernels):
    rows = CSR(np.zeros(4, dtype=np.int64), np.zeros(0, dtype=np.int32), None, 5)
    system = RowSystem(rows, np.zeros((3, 3)), background=1.0, regularization=0.0)
    np.testing.assert_array_equal(row_solve(system, np.ones((5, 3)), method=method), np.zeros((3, 3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_singular_row_is_named(dtype, kernels):
    system, factors = random_problem([30] * 20, 10, dtype=dtype)
    factors[:3] = 1.0
    indices = system.rows.indices.copy()
    indices[30 * 12 : 30 * 13] %= 3  # row 12: thirty times the same vector
    rows = dataclasses.replace(system.rows, indices=indices)
    system = dataclasses.replace(system, rows=rows, background=0.0, regularization=0.0, weights=1.0)
    with pytest.raises(ParameterError, match="row 12 is not positive definite; raise regularization"):
        row_solve(system, factors, method="cholesky")


@pytest.mark.parametrize("method", METHODS)
def test_an_indefinite_row_is_named(method, kernels):
    system, factors = random_problem([30] * 20, 10)
    ridge = np.ones(20)
    ridge[7] = -100.0
    system = dataclasses.replace(system, regularization=ridge)
    with pytest.raises(ParameterError, match="row 7 is not positive definite; raise regularization"):
        row_solve(system, factors, method=method)


def test_pivots_too_small_for_single_precision():
    # One direction has curvature 1e-6 beside 1e4: lost in float32, plain in float64.
    rows = CSR(np.array([0, 40]), np.zeros(40, dtype=np.int32), None, 1)
    system = RowSystem(rows, np.zeros((2, 2)), background=0.0, regularization=1e-4, weights=1.0, targets=1.0)
    factors = np.array([[10.0, 10.0]], dtype=np.float32)
    np.testing.assert_allclose(row_solve(system, factors, method="cholesky"), [[0.05, 0.05]], rtol=1e-4)


def finite_or_refused(system: RowSystem, factors: np.ndarray, method: Any) -> np.ndarray | None:
    try:
        return row_solve(system, factors, method=method)
    except ParameterError:
        return None


@pytest.mark.parametrize("method", METHODS)
def test_huge_values_never_give_nan(method, kernels):
    system, factors = random_problem(width=8)
    factors *= np.float32(1e25)
    system = dataclasses.replace(system, gram=np.eye(8))
    with np.errstate(all="ignore"):
        result = finite_or_refused(system, factors, method)
    assert result is None or np.isfinite(result).all()


@pytest.mark.parametrize("width", [16, 144])
def test_auto_is_one_of_the_methods(width):
    system, factors = random_problem(width=width)
    start = np.zeros((len(LENGTHS), width), dtype=np.float32)
    named = "cholesky" if width <= 128 else "cg"
    np.testing.assert_array_equal(
        row_solve(system, factors, start=start), row_solve(system, factors, start=start, method=named)
    )
    assert_solves(row_solve(system, factors), system, factors)
