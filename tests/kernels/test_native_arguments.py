"""The native module checks its own arguments: nothing that Python passes ends the process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from taylorank import kernels
from taylorank.data.csr import CSR

native = pytest.importorskip("taylorank.kernels._native", reason="the native kernels are not built")

LEVEL = native.simd_levels()[0]
WIDTH = 64
POINTERS, PLACES = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)


def floats(*shape, dtype=np.float32):
    return np.ones(shape, dtype=dtype)


def misaligned(array):
    """The same numbers, one byte further in memory."""
    shifted = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    assert not shifted.flags.aligned
    return shifted


def calls():
    """Each kernel: its name, a function of (arrays, threads), and arrays that it takes."""
    panels = native.ItemPanels(floats(3, 4), None, LEVEL, 1)
    ids, scores = np.zeros((2, 2), dtype=np.int64), floats(2, 2)
    rows = floats(2, WIDTH)
    yield "gather_sum", lambda a, t: native.gather_sum(*a, LEVEL, t), [POINTERS, PLACES, rows, floats(2), rows.copy()]
    yield "nonzero_scores", lambda a, t: native.nonzero_scores(*a, LEVEL, t), [POINTERS, PLACES, rows, rows, floats(2)]
    yield "gram", lambda a, t: native.gram(*a, LEVEL, t), [rows, floats(WIDTH, WIDTH, dtype=np.float64)]
    square = np.eye(5)
    yield "inverse", lambda a, t: native.inverse(*a, LEVEL, t), [square, square.copy()]
    yield "small_product", lambda a, t: native.small_product(*a, LEVEL, t), [rows, floats(WIDTH, WIDTH), rows.copy()]
    yield "panels", lambda a, t: native.ItemPanels(*a, LEVEL, t), [floats(3, 4), PLACES]
    yield (
        "top_k",
        lambda a, t: native.top_k(a[0], panels, *a[1:], t),
        [floats(2, 4), floats(3), floats(3), np.ones(3, dtype=np.uint8), POINTERS, PLACES, ids, scores],
    )
    offsets, moments = floats(2), [floats(2, 4) for _ in range(5)]
    yield "softmax_columns", lambda a, t: native.SoftmaxColumns(*a, LEVEL, t), [floats(3, 4), floats(3)]
    columns = native.SoftmaxColumns(floats(3, 4), floats(3), LEVEL, 1)
    yield (
        "softmax_sums",
        lambda a, t: native.softmax_sums(a[0], a[1], columns, 1.0, a[2], a[3], t),
        [floats(2, 4), offsets, floats(2), floats(2, 4)],
    )
    yield "unit_adam", lambda a, t: native.unit_adam(*a, 0.1, 1e-8, 0.9, 0.99, LEVEL, t), moments
    codes, row = np.ones((2, WIDTH), dtype=np.int8), np.ones(WIDTH, dtype=np.int16)
    yield (
        "code_products",
        lambda a, t: native.code_products(*a, LEVEL, t),
        [codes, row, np.empty(2, dtype=np.int32)],
    )
    yield (
        "pair_products",
        lambda a, t: native.pair_products(a[0], a[1], a[2], 2, a[3], a[4], t),
        [POINTERS, PLACES, floats(2), np.array([[0, 1, 1]]), floats(1, 3, 3)],
    )
    yield "top_k_scores", lambda a, t: native.top_k_scores(*a, LEVEL, t), [floats(2, 3), ids, scores]
    yield (
        "row_solve",
        lambda a, t: native.row_solve(
            a[0], a[1], a[2], 1.0, a[3], 1.0, a[4], a[5], False, a[6], a[7], None, None, None, None, None, None, a[8],
            "cholesky", 0, WIDTH, LEVEL, t,
        ),
        [POINTERS, PLACES, floats(2), floats(2), rows, np.eye(WIDTH, dtype=np.float32), floats(2), floats(2),
         floats(2, WIDTH)],
    )  # fmt: skip


CALLS = {name: (call, arrays) for name, call, arrays in calls()}


@pytest.mark.parametrize("name", CALLS)
def test_they_work_with_these_arguments(name):
    call, arrays = CALLS[name]
    for threads in (1, 2, 64):
        call(arrays, threads)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("threads", [0, -1, -(2**31)])
def test_fewer_threads_than_one(name, threads):
    call, arrays = CALLS[name]
    with pytest.raises(ValueError, match="threads is less than 1"):
        call(arrays, threads)


@pytest.mark.parametrize("name", CALLS)
def test_threads_without_work_cost_nothing(name):
    call, arrays = CALLS[name]
    few, many = ([array.copy() for array in arrays] for _ in range(2))
    call(few, 1)
    call(many, 2**31 - 1)
    for one, other in zip(few, many, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_a_processor_may_not_read(name):
    call, arrays = CALLS[name]
    for place, array in enumerate(arrays):
        if array.itemsize > 1:
            with pytest.raises(ValueError, match="an array is not aligned"):
                call([*arrays[:place], misaligned(array), *arrays[place + 1 :]], 1)


def test_every_kernel_is_called_here():
    info = ("simd_levels",)
    assert {one for one in dir(native) if not one.startswith("_")} - {*info} == {
        {"panels": "ItemPanels", "softmax_columns": "SoftmaxColumns"}.get(name, name) for name in CALLS
    }


def test_half_of_the_seen_items_is_refused():
    call, arrays = CALLS["top_k"]
    for missing in (4, 5):
        with pytest.raises(ValueError, match="seen has one of its two parts only"):
            call([None if place == missing else array for place, array in enumerate(arrays)], 1)


@pytest.mark.parametrize("huge", [2**62, 2**63 - 1])
def test_pieces_of_any_size(huge):
    rows, out = floats(2, 3), np.zeros((2, 3), dtype=np.float32)
    for pieces in ({"chunk_items": huge}, {"band_rows": huge}):
        native.gather_sum(POINTERS, PLACES, rows, None, out, LEVEL, 2, **pieces)
        assert (out == 1).all()
        out[:] = 0
    panels = native.ItemPanels(rows, None, LEVEL, 1)
    ids, scores = np.zeros((2, 1), dtype=np.int64), floats(2, 1)
    native.top_k(rows, panels, None, None, None, None, None, ids, scores, 2, tile_users=huge)
    assert (scores == 3).all()


def test_public_kernels_copy_what_is_misaligned():
    rng = np.random.default_rng(0)
    rows = CSR(misaligned(POINTERS), misaligned(PLACES), None, 2)
    factors = rng.standard_normal((2, 5))
    np.testing.assert_array_equal(kernels.gather_sum(rows, misaligned(factors)), factors)
    np.testing.assert_allclose(kernels.gram(misaligned(factors)), factors.T @ factors)
    assert kernels.top_k(misaligned(factors), misaligned(factors), k=1, seen=rows)[0].tolist() == [[1], [0]]
    np.testing.assert_allclose(kernels.inverse(misaligned(np.eye(3) * 2)), np.eye(3) / 2)


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FC00001, 0x7FC00155, 0xFFFFFFFF])
@pytest.mark.parametrize("level", native.simd_levels())
def test_what_is_no_number_stays_none_in_softmax_sums(bits, level):
    rows = floats(1, 2)
    rows.view(np.uint32)[0, 0] = bits
    columns = native.SoftmaxColumns(floats(3, 2), floats(3), level, 1)
    totals, sums = floats(1), floats(1, 2)
    native.softmax_sums(rows, floats(1), columns, 1.0, totals, sums, 1)
    assert np.isnan(totals).all()
    assert np.isnan(sums).all()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of address space")
@pytest.mark.parametrize("threads", [1, 4])
def test_memory_that_runs_out_in_a_task_is_an_error(threads):
    """In bands each task takes memory for its rows; an exception in another thread would end the process."""
    code = f"""
import resource
import numpy as np
from taylorank.kernels import _native as native
rows = 8_000_000
indptr, factors, out = np.zeros(rows + 1, dtype=np.int64), np.ones((4, 1)), np.zeros((rows, 1))
indptr[-1:] = 1
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (48 << 20 if {threads} > 1 else 4 << 20),) * 2)
try:
    native.gather_sum(indptr, np.zeros(1, dtype=np.int32), factors, None, out, {LEVEL!r}, {threads}, band_rows=2)
except MemoryError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
