from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from taylorank.errors import ParameterError
from taylorank.metrics import bootstrap as module
from taylorank.metrics import bootstrap_means, percentile_interval, weighted_mean


def test_scipy_finds_the_same_interval():
    values = np.random.default_rng(3).exponential(size=400)
    means = bootstrap_means(values[:, None], np.ones((400, 1)), resamples=8000, random_state=1)
    low, high = percentile_interval(means, 0.9)[:, 0]
    peer = stats.bootstrap((values,), np.mean, n_resamples=8000, confidence_level=0.9, method="percentile", rng=2)
    width = peer.confidence_interval.high - peer.confidence_interval.low
    assert low == pytest.approx(peer.confidence_interval.low, abs=0.05 * width)
    assert high == pytest.approx(peer.confidence_interval.high, abs=0.05 * width)


def test_resamples_are_those_of_plain_draws(monkeypatch):
    rng = np.random.default_rng(0)
    values, weights = rng.random((30, 2)), np.column_stack((np.ones(30), rng.integers(1, 5, 30)))
    values[4, 0] = np.nan
    draws = np.random.default_rng(7).integers(0, 30, size=(12, 30))
    expected = [[weighted_mean(values[d, c], weights[d, c]) for c in (0, 1)] for d in draws]
    np.testing.assert_allclose(bootstrap_means(values, weights, resamples=12, random_state=7), expected)
    monkeypatch.setattr(module, "BLOCK_CELLS", 100)  # three resamples at a time
    np.testing.assert_allclose(bootstrap_means(values, weights, resamples=12, random_state=7), expected)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
        sample = rng.random((120, 1)) ** 2  # mean 1/3
        means = bootstrap_means(sample, np.ones_like(sample), resamples=300, random_state=seed)
        low, high = percentile_interval(means, 0.8)[:, 0]
        covered += low <= 1 / 3 <= high
    assert 0.7 <= covered / 200 <= 0.9


def test_what_is_not_defined_has_no_interval():
    values = np.array([[np.nan, 1.0], [np.nan, 1.0], [np.nan, np.nan]])
    means = bootstrap_means(values, np.ones((3, 2)), resamples=50)
    bounds = percentile_interval(means, 0.9)
    assert np.isnan(bounds[:, 0]).all()
    assert bounds[:, 1].tolist() == [1.0, 1.0]


def test_bad_parameters_are_refused():
    ones = np.ones((3, 1))
    with pytest.raises(ParameterError, match="resamples=0"):
        bootstrap_means(ones, ones, resamples=0)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        percentile_interval(ones, 95)
