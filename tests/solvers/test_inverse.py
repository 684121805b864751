from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.errors import ParameterError
from taylorank.solvers import inverse, invert_in_place


def positive_definite(size, *, condition, seed=0):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return (basis * np.geomspace(1, condition, size)) @ basis.T


def inverse_of(matrix):
    """Of the lower triangle: what is above it must not count."""
    given = np.asfortranarray(np.tril(matrix) + np.triu(np.full_like(matrix, 7.5), 1))
    invert_in_place(given)
    lower = np.tril(given)
    return lower + np.tril(lower, -1).T


@given(st.integers(1, 40), st.integers(1, 41), st.integers(0, 9))
def test_any_panels_give_the_plain_inverse(size, panel, seed):
    matrix = positive_definite(size, condition=1e3, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverse, "PANEL", panel)
        np.testing.assert_allclose(inverse_of(matrix), np.linalg.inv(matrix), atol=1e-11)


def test_several_whole_panels_and_a_rest():
    matrix = positive_definite(2 * inverse.PANEL + 37, condition=1e6)
    found = inverse_of(matrix)
    scale = np.abs(found).max()
    np.testing.assert_allclose(found / scale, np.linalg.inv(matrix) / scale, atol=1e-10)  # condition × 1e-16
    np.testing.assert_allclose(found @ matrix, np.eye(len(matrix)), atol=1e-8)


def test_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr(inverse, "PANEL", 4)
    heard = []
    invert_in_place(np.asfortranarray(np.eye(10)), after_panel=heard.append)
    assert heard == [4, 8, 10]


@pytest.mark.parametrize("condition", [1e18, -1.0, np.inf])
def test_refuses_what_has_no_inverse(condition, monkeypatch):
    monkeypatch.setattr(inverse, "PANEL", 4)
    matrix = np.diag([1.0] * 8 + [1 / condition if condition > 0 else condition])
    with pytest.raises(ParameterError, match="singular"):
        inverse_of(matrix)
    with pytest.raises(ParameterError, match="singular"):
        inverse_of(np.full((9, 9), np.nan))


def test_refuses_what_it_could_only_copy():
    with pytest.raises(ValueError, match="by columns"):
        invert_in_place(np.ascontiguousarray(positive_definite(5, condition=10.0)))


def test_the_norm_is_that_of_the_whole_matrix(monkeypatch):
    monkeypatch.setattr(inverse, "PANEL", 3)
    matrix = positive_definite(8, condition=50.0) - 4
    assert inverse._norm(np.tril(matrix)) == pytest.approx(np.linalg.norm(matrix, 1))
