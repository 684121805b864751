"""Strengths that fade: by days, by places, of which user, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import Interactions, faded
from taylorank.errors import DataError, ParameterError

DAY = 86_400


def test_days_are_counted_from_the_last_moment_of_all():
    times = np.array([1_600_000_000, 1_600_000_000 + 10 * DAY, 1_600_000_000 + 5 * DAY])
    data = Interactions.from_arrays(["x", "x", "z"], ["a", "b", "a"], timestamps=times, strengths=[4, 1, 2])
    assert faded(data, 5).strengths.tolist() == pytest.approx([1, 1, 1])
    dates = Interactions.from_arrays(
        ["x", "x", "z"], ["a", "b", "a"], timestamps=times.astype("datetime64[s]"), strengths=[4, 1, 2]
    )
    assert faded(dates, 5).strengths.tolist() == pytest.approx([1, 1, 1])


def test_places_are_counted_from_the_last_of_each_user():
    data = Interactions.from_arrays([1, 1, 2, 2, 2], list("ababc"), timestamps=[1, 2, 1, 2, 5])
    assert faded(data, 2).strengths.tolist() == pytest.approx([2**-0.5, 1, 0.25, 2**-1.5, 1])


def test_nothing_is_forgotten_altogether_and_nothing_else_changes():
    data = Interactions.from_arrays([1, 1], ["a", "b"], timestamps=[0, 10_000])
    found = faded(data, 0.5)
    assert found.strengths.tolist() == [pytest.approx(2**-20), 1]
    assert found.items == data.items
    assert np.array_equal(found.timestamps, data.timestamps)
    assert faded(data, 1e12).strengths.tolist() == pytest.approx([1, 1])


def test_what_is_refused():
    data = Interactions.from_arrays([1], ["a"])
    with pytest.raises(DataError, match="no times; read with timestamp="):
        faded(data, 3)
    for value in (0, -1, float("nan"), "x"):
        with pytest.raises(ParameterError, match="half_life"):
            faded(data, value)


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_days_are_days_whatever_the_unit_of_the_clock(unit):
    times = np.array([10**9, 10**9 + 86_400 * 3]) * unit
    data = Interactions.from_arrays([1, 1], ["a", "b"], timestamps=times)
    np.testing.assert_allclose(faded(data, 3).strengths, [0.5, 1.0], rtol=1e-6)
