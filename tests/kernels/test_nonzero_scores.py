"""Scores of the stored pairs: the native kernel against its plain twin, its promises about bits, what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, nonzero_scores, reference

LEVELS = backend.native.simd_levels() if backend.native else []
WIDTHS = (0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100, 128, 129, 300)
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def random_rows(lengths: Any, n_columns: int, *, seed: int = 0) -> CSR:
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = np.random.default_rng(seed).integers(0, max(n_columns, 1), size=indptr[-1], dtype=np.int32)
    return CSR(indptr, indices, None, n_columns)


def factors(n: int, width: int, dtype: Any = np.float32, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, width)).astype(dtype)


def run_native(rows: CSR, P: np.ndarray, Q: np.ndarray, *, level: str = "", threads: int = 1, chunk: int = 0) -> Any:
    assert backend.native is not None
    out = np.full(rows.nnz, np.nan, dtype=P.dtype)
    backend.native.nonzero_scores(rows.indptr, rows.indices, P, Q, out, level or LEVELS[-1], threads, chunk)
    return out


def assert_exact(result: np.ndarray, rows: CSR, P: np.ndarray, Q: np.ndarray) -> None:
    answer = reference.nonzero_scores(rows, P.astype(np.float64), Q.astype(np.float64))
    sizes = reference.nonzero_scores(rows, np.abs(P).astype(np.float64), np.abs(Q).astype(np.float64))
    assert result.shape == answer.shape
    assert result.dtype == P.dtype
    assert np.all(np.abs(result - answer) <= (P.shape[1] + 2) * np.finfo(P.dtype).eps * sizes)


def test_by_hand():
    rows = CSR(np.array([0, 2, 2, 3]), np.array([0, 2, 1], np.int32), np.array([9, 9, 9], np.float32), 3)
    P, Q = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]]), np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(nonzero_scores(rows, P, item_factors=Q), [1, 3, 5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_agrees_with_the_twin(width, dtype):
    rows = random_rows([3, 0, 1, 40, 0, 0, 7, 120, 0], 50)
    P, Q = factors(9, width, dtype), factors(50, width, dtype, seed=1)
    assert_exact(nonzero_scores(rows, P, item_factors=Q), rows, P, Q)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_simd_level_has_the_same_bits(level, dtype):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    rows = random_rows([3, 0, 1, 40, 0, 0, 7, 120, 0], 50)
    for width in WIDTHS:
        P, Q = factors(9, width, dtype), factors(50, width, dtype, seed=1)
        result = run_native(rows, P, Q, level=level, chunk=16)
        assert_exact(result, rows, P, Q)
        assert result.tobytes() == run_native(rows, P, Q, level="baseline").tobytes()


@needs_native
def test_thread_count_never_changes_a_bit():
    lengths = np.random.default_rng(2).geometric(0.01, size=2000) - 1
    lengths[100] = 60_000  # one row far longer than a chunk of the default size
    rows, P, Q = random_rows(lengths, 400), factors(2000, 64), factors(400, 64, seed=1)
    single = run_native(rows, P, Q)
    for threads in (2, 3, 4):
        assert single.tobytes() == run_native(rows, P, Q, threads=threads).tobytes()
    assert_exact(single, rows, P, Q)


@needs_native
@settings(deadline=None, max_examples=100)
@given(
    lengths=st.lists(st.integers(0, 12), max_size=30),
    width=st.integers(0, 40),
    chunk=st.integers(1, 20),
    threads=st.integers(1, 4),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_rows_cut_anywhere(lengths, width, chunk, threads, dtype):
    rows = random_rows(lengths, 9)
    P, Q = factors(len(lengths), width, dtype), factors(9, width, dtype, seed=1)
    result = run_native(rows, P, Q, chunk=chunk, threads=threads)
    assert_exact(result, rows, P, Q)
    assert result.tobytes() == run_native(rows, P, Q).tobytes()


@pytest.mark.parametrize(("lengths", "n_columns"), [([], 4), ([0], 4), ([], 0), ([0, 0], 0), ([70_000], 3)])
def test_unusual_shapes(lengths, n_columns):
    rows, P, Q = random_rows(lengths, n_columns), factors(len(lengths), 3), factors(n_columns, 3, seed=1)
    assert_exact(nonzero_scores(rows, P, item_factors=Q, num_threads=2), rows, P, Q)


def test_infinite_and_not_a_number_stay_in_their_entry():
    rows = CSR(np.array([0, 3]), np.array([0, 1, 2], np.int32), None, 3)
    Q = np.array([[np.nan], [np.inf], [2.0]], dtype=np.float32)
    result = nonzero_scores(rows, np.ones((1, 1), dtype=np.float32), item_factors=Q)
    np.testing.assert_array_equal(result, [np.nan, np.inf, 2.0])


def test_out_and_odd_layouts():
    rows, P, Q = random_rows([3, 0, 8], 20), factors(3, 6), factors(20, 6, seed=1)
    expected, out = nonzero_scores(rows, P, item_factors=Q), np.empty(11, dtype=np.float32)
    assert nonzero_scores(rows, np.asfortranarray(P), item_factors=Q, out=out) is out
    np.testing.assert_array_equal(out, expected)
    small = dataclasses.replace(rows, indptr=rows.indptr.astype(np.int32))
    np.testing.assert_array_equal(nonzero_scores(small, P, item_factors=Q), expected)


BAD_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "integers": ({"user_factors": np.ones((3, 6), dtype=np.int64)}, "user_factors are int64"),
    "too few users": ({"user_factors": factors(2, 6)}, "3 rows are needed"),
    "too few items": ({"item_factors": factors(19, 6)}, "20 rows are needed"),
    "a vector": ({"item_factors": np.ones(20)}, "shape"),
    "other widths": ({"item_factors": factors(20, 5)}, "6 factors but items are float32 with 5"),
    "two types": ({"item_factors": factors(20, 6, np.float64)}, "float32 with 6 factors but items are float64"),
    "out of another length": ({"out": np.empty(10, dtype=np.float32)}, "out is"),
    "out of another type": ({"out": np.empty(11)}, "out is"),
    "out not contiguous": ({"out": np.empty(22, dtype=np.float32)[::2]}, "C-contiguous"),
    "no threads": ({"num_threads": 0}, "num_threads is 0"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_are_refused(name):
    arguments, cause = BAD_CALLS[name]
    arguments = {"user_factors": factors(3, 6), "item_factors": factors(20, 6)} | arguments
    with pytest.raises(ParameterError, match=cause) as caught:
        nonzero_scores(random_rows([3, 0, 8], 20), arguments.pop("user_factors"), **arguments)
    assert caught.value.remedy


def test_out_must_not_overlap_the_factors():
    P, Q = factors(1, 6), factors(20, 6)
    with pytest.raises(ParameterError, match="overlaps"):
        nonzero_scores(random_rows([6], 20), P, item_factors=Q, out=Q[0])


@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
@pytest.mark.parametrize(
    ("arrays", "cause"),
    [
        ({"indices": [0, 1, 20]}, "index 20 at position 2"),
        ({"indices": [0, -1, 2]}, "index -1 at position 1"),
        ({"indptr": [0, 3, 1, 3]}, "falls after row 1"),
        ({"indptr": [0, 1, 2, 4]}, "ends at 4"),
    ],
)
def test_broken_rows_are_refused(arrays, cause, fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    arrays = {"indptr": [0, 1, 2, 3], "indices": [0, 1, 2]} | arrays
    rows = CSR(np.array(arrays["indptr"], np.int64), np.array(arrays["indices"], np.int32), None, 20)
    with pytest.raises(ParameterError, match=cause):
        nonzero_scores(rows, factors(3, 6), item_factors=factors(20, 6))


def test_without_the_native_module_the_result_agrees(monkeypatch):
    rows, P, Q = random_rows([3, 0, 8], 20), factors(3, 6), factors(20, 6, seed=1)
    monkeypatch.setattr("taylorank.kernels.backend.native", None)
    assert_exact(nonzero_scores(rows, P, item_factors=Q), rows, P, Q)
