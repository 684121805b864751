"""Gram matrices and small inverses: native against NumPy, their promises about bits, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.errors import ParameterError
from taylorank.kernels import backend, gram, inverse, small_product
from taylorank.kernels.grams import WIDEST

LEVELS = backend.native.simd_levels() if backend.native else []
WIDTHS = (1, 2, 7, 8, 15, 16, 17, 33, 64, 100, 128, 255, 256, 300)
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def block_of(n, width, dtype=np.float32):
    return np.random.default_rng(n + width).standard_normal((n, width)).astype(dtype)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_agrees_with_numpy(width, dtype, native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    for n in (0, 1, 255, 256, 257, 2049, 9000):
        block = block_of(n, width, dtype)
        exact = block.astype(np.float64).T @ block.astype(np.float64)
        result = gram(block)
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, exact, atol=20 * np.finfo(dtype).eps * max(n, 1), rtol=1e-6)
        np.testing.assert_array_equal(result, result.T)


@needs_native
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_agree_and_threads_do_not_show(dtype):
    block = block_of(20_000, 40, dtype)
    results = []
    for level in LEVELS:
        one, three = np.empty((40, 40)), np.empty((40, 40))
        backend.native.gram(block, one, level=level, threads=1)
        backend.native.gram(block, three, level=level, threads=3)
        assert one.tobytes() == three.tobytes()
        results.append(one)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=20_000 * np.finfo(dtype).eps)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_inverses_undo_their_matrix(width, native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    matrix = gram(block_of(3 * width, width, np.float64)) + 0.1 * np.eye(width)
    result = inverse(matrix, num_threads=3)
    np.testing.assert_allclose(result @ matrix, np.eye(width), atol=1e-9)
    np.testing.assert_allclose(result, result.T, rtol=1e-10, atol=1e-12)


@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_inverts(level):
    matrix = gram(block_of(200, 50, np.float64))
    out = np.empty_like(matrix)
    assert backend.native.inverse(matrix, out, level=level, threads=1)
    np.testing.assert_allclose(out @ matrix, np.eye(50), atol=1e-10)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("width", [3, 20, WIDEST + 4])
def test_a_singular_matrix_has_its_pseudo_inverse(width, native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    block = np.round(4 * block_of(width - 1, width, np.float64))
    block[:, -1] = 0.0  # an exact zero pivot, which rounding cannot hide
    matrix = block.T @ block
    result = inverse(matrix)
    np.testing.assert_allclose(matrix @ result @ matrix, matrix, atol=1e-6 * np.abs(matrix).max())
    np.testing.assert_allclose(result[-1], 0, atol=1e-12)


def test_turn_of_an_inverse_solves_rows():
    block = block_of(500, 30)
    system = gram(block) + np.eye(30)
    solved = small_product(block, inverse(system).astype(np.float32), threads=2)
    np.testing.assert_allclose(solved, np.linalg.solve(system, block.T.astype(np.float64)).T, rtol=1e-3, atol=1e-5)


def test_what_is_refused():
    for bad in (np.ones(3), np.ones((2, 2), dtype=np.int64), np.ones((2, 2), dtype=np.float16)):
        with pytest.raises(ParameterError, match="block"):
            gram(bad)
    with pytest.raises(ParameterError, match="square"):
        inverse(np.ones((2, 3)))
    with pytest.raises(ParameterError, match="infinite"):
        inverse(np.array([[np.nan]]))
    with pytest.raises(ParameterError, match="num_threads"):
        gram(np.ones((2, 2)), num_threads=0)
