"""Gather-sum: the native kernel against its plain twin, its promises about bits, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, gather_sum, reference

LEVELS = backend.native.simd_levels() if backend.native else []
WIDTHS = (1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 128, 129, 257, 300)
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def random_rows(lengths: Any, n_columns: int, *, weighted: bool = False, seed: int = 0) -> CSR:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = rng.integers(0, max(n_columns, 1), size=indptr[-1], dtype=np.int32)
    weights = rng.standard_normal(indptr[-1], dtype=np.float32) if weighted else None
    return CSR(indptr, indices, weights, n_columns)


def random_factors(n: int, width: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, width)).astype(dtype)


def run_native(
    rows: CSR, factors: np.ndarray, *, level: str = "", threads: int = 1, chunk_items: int = 0, band_rows: int = 0
) -> Any:
    assert backend.native is not None
    out = np.full((rows.n_rows, factors.shape[1]), np.nan, dtype=factors.dtype)
    weights = None if rows.weights is None else rows.weights.astype(factors.dtype)
    level = level or LEVELS[-1]
    backend.native.gather_sum(rows.indptr, rows.indices, factors, weights, out, level, threads, chunk_items, band_rows)
    return out


def exact(rows: CSR, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the twin's answer in double precision, and a bound on the rounding errors in `factors.dtype`."""
    weights = np.ones(rows.nnz) if rows.weights is None else rows.weights.astype(np.float64)
    answer = reference.gather_sum(rows, factors.astype(np.float64), weights=weights)
    sizes = reference.gather_sum(rows, np.abs(factors).astype(np.float64), weights=np.abs(weights))
    steps = rows.row_lengths.max(initial=0) + 2
    return answer, steps * np.finfo(factors.dtype).eps * sizes + np.finfo(factors.dtype).tiny


def assert_exact(result: np.ndarray, rows: CSR, factors: np.ndarray) -> None:
    answer, bound = exact(rows, factors)
    assert result.shape == answer.shape
    assert result.dtype == factors.dtype
    assert np.all(np.abs(result - answer) <= bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_agrees_with_the_twin(width, weighted, dtype):
    rows = random_rows([3, 0, 1, 40, 0, 0, 7, 120, 0], 50, weighted=weighted)
    factors = random_factors(50, width, dtype)
    assert_exact(gather_sum(rows, factors), rows, factors)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_simd_level_has_the_same_bits(level, weighted, dtype):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    rows = random_rows([3, 0, 1, 40, 0, 0, 7, 120, 0], 50, weighted=weighted)
    for width in WIDTHS:
        factors = random_factors(50, width, dtype)
        result = run_native(rows, factors, level=level, chunk_items=16)
        assert_exact(result, rows, factors)
        np.testing.assert_array_equal(result, run_native(rows, factors, level="baseline", chunk_items=16))


@needs_native
@pytest.mark.parametrize("weighted", [False, True])
def test_thread_count_never_changes_a_bit(weighted):
    lengths = np.random.default_rng(2).geometric(0.01, size=2500) - 1
    lengths[100] = 60_000  # one row far longer than a chunk of the default size
    rows = random_rows(lengths, 400, weighted=weighted)
    factors = random_factors(400, 64)
    single = run_native(rows, factors, threads=1)
    assert rows.nnz > 10 * 16384  # more than ten chunks of the default size
    for threads in (2, 3, 4, 5):
        assert single.tobytes() == run_native(rows, factors, threads=threads).tobytes()
    assert_exact(single, rows, factors)


@needs_native
@settings(deadline=None, max_examples=150)
@given(
    lengths=st.lists(st.integers(0, 12), max_size=30),
    width=st.integers(0, 40),
    weighted=st.booleans(),
    chunk_items=st.integers(1, 20),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_rows_cut_anywhere(lengths, width, weighted, chunk_items, dtype):
    rows = random_rows(lengths, 9, weighted=weighted)
    factors = random_factors(9, width, dtype)
    result = run_native(rows, factors, chunk_items=chunk_items)
    assert_exact(result, rows, factors)
    assert result.tobytes() == run_native(rows, factors, chunk_items=chunk_items, threads=3).tobytes()


@needs_native
@settings(deadline=None, max_examples=150)
@given(
    lengths=st.lists(st.integers(0, 12), max_size=30),
    width=st.integers(0, 40),
    weighted=st.booleans(),
    rising=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_bands_add_in_the_order_of_the_entries(lengths, width, weighted, rising, dtype):
    rows = random_rows(lengths, 9, weighted=weighted)
    if rising:
        sorted_rows = np.lexsort((rows.indices, rows.row_of_entry()))
        rows = dataclasses.replace(rows, indices=rows.indices[sorted_rows])
    factors = random_factors(9, width, dtype)
    whole = run_native(rows, factors, chunk_items=10**6)  # one chunk: nothing is carried
    for band_rows in (1, 2, 4, 9, 100):
        for threads in (1, 3):
            result = run_native(rows, factors, band_rows=band_rows, threads=threads)
            assert result.tobytes() == whole.tobytes()


@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_large_problems_run_in_bands_with_the_same_sums(level):
    rows = random_rows(np.full(100, 4000), 70_000, weighted=True)
    factors = random_factors(70_000, 40)  # 11 MB: eleven bands by default
    result = run_native(rows, factors, level=level)
    assert_exact(result, rows, factors)
    assert result.tobytes() == run_native(rows, factors, level=level, threads=3).tobytes()
    assert result.tobytes() == run_native(rows, factors, level=level, band_rows=26_000).tobytes()
    assert result.tobytes() != run_native(rows, factors, level=level, chunk_items=1000).tobytes()
    bad = dataclasses.replace(rows, indices=np.where(np.arange(rows.nnz) == 7, 70_000, rows.indices).astype(np.int32))
    with pytest.raises(ParameterError, match="index 70000 at position 7"):
        gather_sum(bad, factors)


@pytest.mark.parametrize(
    ("lengths", "n_columns"),
    [
        ([], 4),
        ([0], 4),
        ([0] * 1000, 4),
        ([5], 1),
        ([70_000], 30),
        ([0, 0, 70_000, 0], 30),
        ([], 0),
        ([0, 0], 0),
    ],
    ids=[
        "no rows",
        "an empty row",
        "empty rows",
        "one row",
        "all in one",
        "all in one of four",
        "nothing",
        "no columns",
    ],
)
@pytest.mark.parametrize("width", [0, 1, 7, 64])
def test_unusual_shapes(lengths, n_columns, width):
    rows = random_rows(lengths, n_columns)
    factors = random_factors(n_columns, width)
    assert_exact(gather_sum(rows, factors, num_threads=2), rows, factors)


def test_by_hand():
    rows = CSR(np.array([0, 2, 2, 3]), np.array([0, 2, 1], np.int32), np.array([2, 1, -1], np.float32), 3)
    factors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(gather_sum(rows, factors), [[7, 10], [0, 0], [-3, -4]])
    np.testing.assert_array_equal(gather_sum(rows, factors, weights=None), [[6, 8], [0, 0], [3, 4]])
    np.testing.assert_array_equal(gather_sum(rows, factors, weights=[0, 10, 1]), [[50, 60], [0, 0], [3, 4]])


def test_not_a_number_stays_in_its_row():
    rows = CSR(np.array([0, 1, 2]), np.array([0, 1], np.int32), None, 2)
    result = gather_sum(rows, np.array([[np.nan], [2.0]], dtype=np.float32))
    np.testing.assert_array_equal(result, [[np.nan], [2.0]])


def test_odd_layouts_give_the_same_result():
    rows = random_rows([3, 0, 8], 20, weighted=True)
    plain = random_factors(20, 6)
    expected = gather_sum(rows, plain)
    wide = np.zeros((20, 12), dtype=np.float32)
    wide[:, ::2] = plain
    frozen = plain.copy()
    frozen.flags.writeable = False
    for factors in (np.asfortranarray(plain), wide[:, ::2], plain[::-1][::-1], frozen):
        np.testing.assert_array_equal(gather_sum(rows, factors), expected)
    indptr = np.repeat(rows.indptr, 2)[::2]  # strided
    np.testing.assert_array_equal(gather_sum(dataclasses.replace(rows, indptr=indptr), plain), expected)
    small = dataclasses.replace(rows, indptr=rows.indptr.astype(np.int32))
    np.testing.assert_array_equal(gather_sum(small, plain), expected)


def test_out_receives_the_result():
    rows, factors = random_rows([3, 0, 8], 20), random_factors(20, 6)
    out = np.full((3, 6), np.nan, dtype=np.float32)
    assert gather_sum(rows, factors, out=out) is out
    np.testing.assert_array_equal(out, gather_sum(rows, factors))


BAD_CALLS = {
    "half precision": ({"factors": random_factors(20, 6, np.float16)}, "factors are float16"),
    "integers": ({"factors": np.ones((20, 6), dtype=np.int64)}, "factors are int64"),
    "foreign byte order": ({"factors": random_factors(20, 6).astype(">f4")}, "factors are >f4"),
    "a vector": ({"factors": np.ones(20, dtype=np.float32)}, "shape"),
    "too few factors": ({"factors": random_factors(19, 6)}, "20 rows are needed"),
    "short weights": ({"weights": [1.0]}, "11 entries"),
    "weights of text": ({"weights": "sorted"}, "weights are <U6"),
    "complex weights": ({"weights": np.ones(11, dtype=complex)}, "complex128"),
    "out of another shape": ({"out": np.empty((3, 5), dtype=np.float32)}, "out is"),
    "out of another type": ({"out": np.empty((3, 6))}, "out is"),
    "out not contiguous": ({"out": np.empty((6, 3), dtype=np.float32).T}, "C-contiguous"),
    "out read-only": ({"out": np.broadcast_to(np.float32(0), (3, 6))}, "read-only"),
    "no threads": ({"num_threads": 0}, "num_threads is 0"),
    "half a thread": ({"num_threads": 0.5}, r"num_threads is 0\.5"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_are_refused(name):
    arguments, cause = BAD_CALLS[name]
    arguments = {"rows": random_rows([3, 0, 8], 20), "factors": random_factors(20, 6)} | arguments
    with pytest.raises(ParameterError, match=cause) as caught:
        gather_sum(arguments.pop("rows"), arguments.pop("factors"), **arguments)
    assert caught.value.remedy


def test_out_must_not_overlap_factors():
    rows, factors = random_rows([3, 0, 8], 20), random_factors(20, 6)
    with pytest.raises(ParameterError, match="overlaps"):
        gather_sum(rows, factors, out=factors[:3])


BAD_ROWS = {
    "index too large": ({"indices": [0, 1, 20]}, "index 20 at position 2"),
    "index negative": ({"indices": [0, -1, 2]}, "index -1 at position 1"),
    "index huge": ({"indices": [2**31 - 1, -(2**31), 2]}, "index 2147483647 at position 0"),
    "indptr falls": ({"indptr": [0, 3, 1, 3]}, "falls after row 1"),
    "indptr dives": ({"indptr": [0, -5, 3, 3]}, "falls after row 0"),
    "indptr leaps": ({"indptr": [0, 99, 99, 3]}, "falls after row 2"),
    "indptr starts late": ({"indptr": [1, 2, 2, 3]}, "starts at 1"),
    "indptr ends early": ({"indptr": [0, 1, 2, 2]}, "ends at 2"),
    "indptr ends late": ({"indptr": [0, 1, 2, 4]}, "ends at 4"),
    "indptr empty": ({"indptr": []}, "indptr is empty"),
}


@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
@pytest.mark.parametrize("name", BAD_ROWS)
def test_broken_rows_are_refused(name, fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    arrays, cause = BAD_ROWS[name]
    arrays = {"indptr": [0, 1, 2, 3], "indices": [0, 1, 2]} | arrays
    rows = CSR(np.array(arrays["indptr"], np.int64), np.array(arrays["indices"], np.int32), None, 20)
    with pytest.raises(ParameterError, match=cause):
        gather_sum(rows, random_factors(20, 6))


@needs_native
def test_a_bad_index_is_found_in_any_chunk():
    rows = random_rows([10] * 20, 20)
    for position in range(rows.nnz):
        indices = rows.indices.copy()
        indices[position] = 20
        with pytest.raises(ValueError, match=f"at position {position} "):
            run_native(dataclasses.replace(rows, indices=indices), random_factors(20, 3), threads=2, chunk_items=7)


def test_wide_index_arrays_are_refused():
    rows = random_rows([3, 0, 8], 20)
    with pytest.raises(ParameterError, match="int64"):
        gather_sum(dataclasses.replace(rows, indices=rows.indices.astype(np.int64)), random_factors(20, 6))


def test_without_the_native_module_the_result_agrees(monkeypatch):
    rows, factors = random_rows([3, 0, 8], 20, weighted=True), random_factors(20, 6)
    monkeypatch.setattr("taylorank.kernels.backend.native", None)
    out = np.empty((3, 6), dtype=np.float32)
    assert gather_sum(rows, factors, out=out) is out
    assert_exact(out, rows, factors)
