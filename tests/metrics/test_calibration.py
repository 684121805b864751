from __future__ import annotations

import math

import numpy as np
import pytest

from taylorank.errors import ParameterError
from taylorank.metrics import calibration_error, listed_probability, reliability


def test_bins_worked_by_hand():
    predicted = np.array([0.05, 0.1, 0.15, 0.9])
    outcome = np.array([False, True, False, True])
    curve = reliability(predicted, outcome, bins=2, binning="mass")
    np.testing.assert_allclose(curve.predicted, [0.075, 0.525])
    np.testing.assert_allclose(curve.observed, [0.5, 0.5])
    curve = reliability(predicted, outcome, bins=5, binning="width")  # three of them are empty
    np.testing.assert_allclose(curve.predicted, [0.1, 0.9])
    assert curve.size.tolist() == [3, 1]
    expected = 3 / 4 * abs(0.1 - 1 / 3) + 1 / 4 * abs(0.9 - 1)
    assert calibration_error(predicted, outcome, bins=5, binning="width") == pytest.approx(expected)
    assert reliability(np.array([0.0, 1.0]), np.array([False, True]), bins=3, binning="width").size.tolist() == [1, 1]


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_honest_predictions_have_no_error_and_doubled_ones_do(binning):
    rng = np.random.default_rng(0)
    p = rng.random(200_000) * 0.5
    outcome = rng.random(len(p)) < p
    assert calibration_error(p, outcome, binning=binning) < 0.01
    assert calibration_error(2 * p, outcome, binning=binning) == pytest.approx(0.25, abs=0.01)


def test_the_chance_to_be_among_several():
    p = np.array([0.0, 0.25, 1.0, 1e-12])
    n = np.array([3, 2, 5, 4])
    np.testing.assert_allclose(listed_probability(p, n), [0, 1 - 0.75**2, 1, 4e-12])


def test_bad_bins_are_refused_and_nothing_is_undefined():
    with pytest.raises(ParameterError, match="bins"):
        reliability(np.zeros(1), np.zeros(1, dtype=bool), bins=0)
    with pytest.raises(ParameterError, match="equal"):
        reliability(np.zeros(1), np.zeros(1, dtype=bool), binning="weight")
    assert math.isnan(calibration_error(np.zeros(0), np.zeros(0, dtype=bool)))
