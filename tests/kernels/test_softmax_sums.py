"""Softmax sums and Adam on directions: native against NumPy, numeric gradients, promises about bits, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.errors import ParameterError
from taylorank.kernels import SoftmaxColumns, backend, softmax_reference, softmax_sums, unit_adam

LEVELS = backend.native.simd_levels() if backend.native else []
SHAPES = [(1, 1, 1), (3, 5, 2), (14, 32, 16), (15, 33, 17), (30, 257, 7), (113, 700, 64), (29, 515, 40)]
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def problem(n, m, width, seed=0):
    rng = np.random.default_rng(seed + n + m + width)
    a, b = (rng.standard_normal((count, width)) for count in (n, m))
    a, b = (values / np.linalg.norm(values, axis=1, keepdims=True) for values in (a, b))
    return a, b, rng.standard_normal(n), rng.standard_normal(m)


def exact(a, b, alpha, beta, scale):
    e = np.exp(scale * a @ b.T + alpha[:, None] + beta)
    return e.sum(axis=1), e @ b


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_agrees_with_the_formula(shape, native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    a, b, alpha, beta = problem(*shape)
    totals, sums = softmax_sums(a, b, row_offsets=alpha, column_offsets=beta, scale=12.0)
    expected = exact(a, b, alpha, beta, 12.0)
    np.testing.assert_allclose(totals, expected[0], rtol=2e-5)
    np.testing.assert_allclose(sums, expected[1], atol=2e-5 * expected[0].max())
    kept = SoftmaxColumns(b, beta)
    for _ in range(2):
        again = softmax_sums(a, kept, row_offsets=alpha, scale=12.0)
        assert [part.tobytes() for part in again] == [totals.tobytes(), sums.tobytes()]
    without = softmax_sums(a, b)
    np.testing.assert_allclose(without[0], exact(a, b, np.zeros(len(a)), np.zeros(len(b)), 1.0)[0], rtol=1e-5)


@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_levels_agree_and_threads_and_other_rows_do_not_show(level):
    a, b, alpha, beta = (values.astype(np.float32) for values in problem(700, 600, 24))

    def run(rows, offsets, threads):
        out = np.empty(len(rows), np.float32), np.empty(rows.shape, np.float32)
        columns = backend.native.SoftmaxColumns(b, beta, level=level, threads=threads)
        backend.native.softmax_sums(rows, offsets, columns, 9.0, *out, threads=threads)
        return out

    one = run(a, alpha, 1)
    for got in (run(a, alpha, 2), run(a, alpha, 5)):
        assert [x.tobytes() for x in got] == [x.tobytes() for x in one]
    part = run(np.ascontiguousarray(a[50:61]), alpha[50:61].copy(), 1)
    np.testing.assert_array_equal(part[0], one[0][50:61])
    np.testing.assert_array_equal(part[1], one[1][50:61])
    np.testing.assert_allclose(one[0], exact(a, b, alpha, beta, 9.0)[0], rtol=2e-5)


@needs_native
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", [(1, 9000, 64), (2, 5000, 17), (3, 31, 5)])
def test_few_rows_go_through_the_columns_in_parts(level, shape):
    a, b, alpha, beta = (values.astype(np.float32) for values in problem(*shape))
    columns = backend.native.SoftmaxColumns(b, beta, level=level, threads=1)
    found = []
    for threads in (1, 2, 7):
        out = np.empty(len(a), np.float32), np.empty(a.shape, np.float32)
        backend.native.softmax_sums(a, alpha, columns, 9.0, *out, threads=threads)
        found.append(out)
    for got in found[1:]:
        assert [x.tobytes() for x in got] == [x.tobytes() for x in found[0]]
    expected = exact(a, b, alpha, beta, 9.0)
    np.testing.assert_allclose(found[0][0], expected[0], rtol=2e-5)
    np.testing.assert_allclose(found[0][1], expected[1], atol=2e-5 * expected[0].max())


@pytest.mark.parametrize("native", [True, False])
def test_the_exponential_is_accurate_far_from_zero_and_bounded_beyond(native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    offsets = np.linspace(-85, 87, 20_001).astype(np.float32)
    totals, _ = softmax_sums(np.zeros((len(offsets), 1)), np.zeros((1, 1)), row_offsets=offsets)
    np.testing.assert_allclose(totals, np.exp(offsets.astype(np.float64)), rtol=4e-7)
    beyond, _ = softmax_sums(np.zeros((2, 1)), np.zeros((1, 1)), row_offsets=np.array([-200.0, 88.0]))
    assert beyond[0] == 0
    assert 1e38 < beyond[1] < np.inf


def test_the_sums_are_the_gradients_of_the_log_sum_exp():
    """By rows, and with both sides exchanged by columns: against differences in double precision."""
    a, b, _, beta = problem(4, 9, 3)
    weights, scale, step = np.array([1.0, 0.5, 2.0, 3.0]), 5.0, 1e-6

    def loss(rows, columns, offsets):
        scores = scale * rows @ columns.T + offsets
        return weights @ np.log(np.exp(scores).sum(axis=1))

    totals, sums = softmax_sums(a, b, column_offsets=beta, scale=scale)
    by_rows = scale * weights[:, None] * sums / totals[:, None]
    shares = np.log(weights / totals)
    by_offsets, sums = softmax_sums(b, a, row_offsets=beta, column_offsets=shares, scale=scale)
    for values, gradient in ((a, by_rows), (b, scale * sums), (beta, by_offsets)):
        for place in np.ndindex(values.shape):
            original = values[place]
            values[place] = original + step
            above = loss(a, b, beta)
            values[place] = original - step
            below = loss(a, b, beta)
            values[place] = original
            assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-4)


@needs_native
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (600, 16), (1030, 37)])
def test_steps_of_adam_agree_with_numpy(level, shape):
    rng = np.random.default_rng(1)
    raw = rng.standard_normal(shape).astype(np.float32)
    arrays = [raw, raw / np.linalg.norm(raw, axis=1, keepdims=True), np.zeros_like(raw), np.zeros_like(raw)]
    twin = [array.astype(np.float64) for array in arrays]
    threaded = [array.copy() for array in arrays]
    for step in range(3):
        g = rng.standard_normal(shape).astype(np.float32)
        softmax_reference.unit_adam(twin[0], twin[1], g, (twin[2], twin[3]), rate=0.1, epsilon=1e-3, decays=(0.9, 0.99))
        for target, threads in ((arrays, 1), (threaded, 3)):
            w, u, m, s = target
            backend.native.unit_adam(w, u, g, m, s, 0.1, 1e-3, 0.9, 0.99, level=level, threads=threads)
        for got, same, expected in zip(arrays, threaded, twin, strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-4 * (step + 1))
            assert got.tobytes() == same.tobytes()


def test_a_step_keeps_directions_of_unit_length(monkeypatch):
    for native in (backend.native, None):
        monkeypatch.setattr(backend, "native", native)
        raw = np.random.default_rng(0).standard_normal((50, 9)).astype(np.float32)
        unit, moments = raw / np.linalg.norm(raw, axis=1, keepdims=True), (np.zeros_like(raw), np.zeros_like(raw))
        before = unit.copy()
        unit_adam(raw, unit, np.ones_like(raw), moments, rate=0.05)
        np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-6)
        assert (unit.sum(axis=1) < before.sum(axis=1)).all()  # downhill


def test_what_does_not_fit_is_refused():
    a, b, alpha, beta = problem(3, 4, 2)
    with pytest.raises(ParameterError, match="rows have 2 coordinates but columns 1"):
        softmax_sums(a, b[:, :1])
    with pytest.raises(ParameterError, match="row_offsets have shape"):
        softmax_sums(a, b, row_offsets=beta)
    with pytest.raises(ParameterError, match="column_offsets hold a value that is infinite"):
        softmax_sums(a, b, row_offsets=alpha, column_offsets=beta * np.inf)
    with pytest.raises(ParameterError, match="these columns have offsets of their own"):
        softmax_sums(a, SoftmaxColumns(b), column_offsets=beta)
    with pytest.raises(ParameterError, match="rows are int64"):
        softmax_sums(np.ones((2, 2), dtype=np.int64), b)


@pytest.mark.parametrize("rate", [1e39, np.inf, np.nan])
def test_a_rate_that_single_precision_does_not_hold(rate):
    w = np.ones((1, 2), dtype=np.float32)
    with pytest.raises(ParameterError, match=r"rate is .*no number of single precision"):
        unit_adam(w, w.copy(), w.copy(), (w * 0, w * 0), rate=rate)
