from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.errors import ParameterError
from taylorank.solvers import invert_in_place


def positive_definite(size, *, condition, seed=0):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return (basis * np.geomspace(1, condition, size)) @ basis.T


def in_strips(matrix, width):
    """The lower triangle, and above it what must not count."""
    starts = range(0, len(matrix), width)
    shown = np.tril(matrix) + np.triu(np.full_like(matrix, 7.5), 1)
    return [np.array(shown[start:, start : start + width], order="F") for start in starts]


def inverse_of(matrix, width=4, **given):
    strips = in_strips(matrix, width)
    invert_in_place(strips, **given)
    lower = np.zeros_like(matrix)
    for start, strip in zip(range(0, len(matrix), width), strips, strict=True):
        lower[start:, start : start + width] = strip
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).T


@given(st.integers(1, 40), st.integers(1, 41), st.integers(0, 9))
def test_strips_of_any_width_give_the_plain_inverse(size, width, seed):
    matrix = positive_definite(size, condition=1e3, seed=seed)
    np.testing.assert_allclose(inverse_of(matrix, width), np.linalg.inv(matrix), atol=1e-11)


def test_a_matrix_of_high_condition():
    matrix = positive_definite(500, condition=1e6)
    found = inverse_of(matrix, 200)
    scale = np.abs(found).max()
    np.testing.assert_allclose(found / scale, np.linalg.inv(matrix) / scale, atol=1e-10)  # condition × 1e-16
    np.testing.assert_allclose(found @ matrix, np.eye(len(matrix)), atol=1e-8)


def test_tells_how_far_it_is():
    heard = []
    inverse_of(np.eye(10), after_strip=heard.append)
    assert heard == [4, 8, 10]


@pytest.mark.parametrize("least", [1e-18, -1.0, 0.0, np.nan, 1e-310])
def test_refuses_what_has_no_inverse(least):
    with pytest.raises(ParameterError, match="singular"):
        inverse_of(np.diag([1.0] * 8 + [least]))


def test_the_condition_is_that_of_the_whole_matrix():
    """Every block of the diagonal has an inverse and so has the whole, but not one that doubles can represent."""
    matrix = np.eye(9)
    matrix[8, 0] = matrix[0, 8] = np.sqrt(1 - 2e-16)
    with pytest.raises(ParameterError, match="singular"):
        inverse_of(matrix)
    matrix[8, 0] = matrix[0, 8] = np.sqrt(1 - 1e-12)
    assert np.isfinite(inverse_of(matrix)).all()


def test_refuses_what_it_could_only_copy():
    matrix = positive_definite(5, condition=10.0)
    fixed = np.asfortranarray(matrix)
    fixed.flags.writeable = False
    for bad in (np.ascontiguousarray(matrix), np.asfortranarray(matrix, dtype=np.float32), fixed):
        with pytest.raises(ValueError, match="writeable doubles that lie in memory by columns"):
            invert_in_place([bad])


def test_refuses_what_is_no_triangle():
    tall, square = np.ones((3, 1), order="F"), np.eye(2, order="F")
    for bad in ([], [tall], [square, tall], [np.empty((0, 0), order="F")]):
        with pytest.raises(ValueError, match="lower triangle"):
            invert_in_place(bad)
