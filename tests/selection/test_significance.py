"""Paired tests against SciPy, against known distributions, and under the null."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from taylorank.errors import DataError, ParameterError
from taylorank.selection.significance import against_best, all_pairs_test, holm, mean_interval, sign_flip_test


def slow(d, resamples, seed):
    """Flip signs one pattern at a time."""
    rng = np.random.default_rng(seed)
    extreme = sum(abs((rng.choice([-1.0, 1.0], len(d)) * d).sum()) >= abs(d.sum()) for _ in range(resamples))
    return (extreme + 1) / (resamples + 1)


@pytest.mark.parametrize("seed", range(4))
def test_few_users_give_the_exact_p_of_scipy(seed):
    d = np.round(np.random.default_rng(seed).normal(0.3, 1, 10), 1)
    expected = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", vectorized=False, n_resamples=np.inf
    ).pvalue
    assert sign_flip_test(d)[0] == pytest.approx(expected, abs=1e-12)


def test_many_users_agree_with_scipys_permutations_a_loop_and_the_t_test():
    rng = np.random.default_rng(5)
    d = rng.normal(0.12, 1, 300)
    ours = sign_flip_test(d)[0]
    theirs = stats.permutation_test(
        (d,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples", n_resamples=9999, rng=1
    ).pvalue
    spread = 4 * np.sqrt(ours * (1 - ours) / 9999)
    assert ours == pytest.approx(theirs, abs=2 * spread)
    assert ours == pytest.approx(slow(d, 2000, 3), abs=4 * np.sqrt(ours / 2000))
    assert ours == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.015)


def test_p_is_uniform_when_there_is_no_difference():
    rng = np.random.default_rng(6)
    skewed = rng.exponential(1, (120, 400)) * rng.choice([-1, 1], (120, 400))
    p = sign_flip_test(skewed, resamples=999)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(p < 0.05) < 0.085


def test_a_true_difference_is_found_and_p_is_never_zero():
    d = np.random.default_rng(7).normal(1, 1, 500)
    assert sign_flip_test(d, resamples=999)[0] == 1 / 1000
    assert sign_flip_test(np.zeros(50))[0] == 1.0


def test_the_answer_does_not_depend_on_columns_users_without_difference_or_blocks(monkeypatch):
    d = np.random.default_rng(8).normal(0.1, 1, (60, 3))
    together = sign_flip_test(d, random_state=2)
    assert sign_flip_test(d[:, :1], random_state=2)[0] == together[0]
    assert np.array_equal(sign_flip_test(np.vstack((d, np.zeros((40, 3)))), random_state=2), together)
    monkeypatch.setattr("taylorank.selection.significance.BLOCK_CELLS", 64 * 500)
    assert sign_flip_test(d, random_state=2) == pytest.approx(together, abs=0.02)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    assert holm([0.2]).tolist() == [0.2]
    with pytest.raises(ParameterError, match="not p-values"):
        holm([0.5, 1.5])


def test_the_interval_is_students():
    x = np.random.default_rng(9).normal(3, 2, 25)
    low, high = stats.t.interval(0.95, 24, loc=x.mean(), scale=stats.sem(x))
    assert mean_interval(x) == pytest.approx((x.mean(), low, high))
    assert mean_interval(np.array([1.0]))[1:] == (-np.inf, np.inf)


def test_everything_is_compared_with_the_best_and_corrected_together():
    rng = np.random.default_rng(10)
    base = rng.random(400)
    values = {"low": base - 0.2, "twin": base + rng.normal(0, 0.1, 400) - 0.001, "top": base + 0.01}
    best, found = against_best(values, random_state=4)
    assert best == "top"
    assert set(found) == {"low", "twin"}
    assert found["low"].p_adjusted < 0.05
    assert found["low"].difference == pytest.approx(-0.21)
    for name, versus in found.items():
        assert versus.p == sign_flip_test(values[name] - values["top"], random_state=4)[0]
        assert versus.p_adjusted >= versus.p
        with pytest.warns(DeprecationWarning, match="p_adjusted"):
            assert versus.p_holm == versus.p_adjusted
    assert found["twin"].low < found["twin"].difference < found["twin"].high


def slow_all_pairs(v, resamples, seed):
    """One resample and one pair at a time."""
    pairs = list(itertools.combinations(range(v.shape[1]), 2))

    def t(signs):
        return [abs((signs * (v[:, i] - v[:, j])).sum()) / np.linalg.norm(v[:, i] - v[:, j]) for i, j in pairs]

    observed = np.array(t(np.ones(len(v))))
    rng = np.random.default_rng(seed)
    flipped = np.array([t(rng.choice([-1.0, 1.0], len(v))) for _ in range(resamples)])
    adjusted, least = np.ones((v.shape[1], v.shape[1])), 0.0
    for k in np.argsort(-observed):
        left = observed <= observed[k]
        least = max(least, (1 + (flipped[:, left].max(axis=1) >= observed[k]).sum()) / (resamples + 1))
        adjusted[pairs[k]] = adjusted[pairs[k][::-1]] = least
    return adjusted


def test_all_pairs_agree_with_a_loop_and_do_not_depend_on_the_order_of_models():
    rng = np.random.default_rng(11)
    v = rng.random((80, 1)) + rng.normal([0.0, 0.02, 0.05, 0.3], [0.1, 0.2, 0.1, 0.2], (80, 4))
    p, adjusted = all_pairs_test(v, random_state=1)
    assert adjusted == pytest.approx(slow_all_pairs(v, 3000, 2), abs=0.04)
    assert p[0, 2] == sign_flip_test(v[:, 0] - v[:, 2], random_state=1)[0]
    order = [2, 0, 3, 1]
    assert np.array_equal(all_pairs_test(v[:, order], random_state=1)[1], adjusted[np.ix_(order, order)])
    assert np.array_equal(adjusted, adjusted.T)
    twin = all_pairs_test(v[:, [0, 0, 3]], random_state=1)[1]
    assert twin[0, 1] == 1.0
    assert twin[0, 2] == twin[1, 2] < 0.05


def test_of_equal_models_some_is_marked_in_no_more_than_5_percent_of_comparisons():
    """The best is chosen on the users of the test; Holm's correction alone is far above the level here."""
    rng = np.random.default_rng(12)
    marked = {"holm": 0, "all pairs": 0}
    for seed in range(300):
        v = np.clip(rng.normal(0.05, 0.3, (150, 1)) + rng.normal(0, 0.2, (150, 17)), 0, 1)
        best = v.mean(axis=0).argmax()
        d = np.delete(v, best, axis=1) - v[:, [best]]
        marked["holm"] += holm(sign_flip_test(d, resamples=999, random_state=seed)).min() < 0.05
        names = {str(i): v[:, i] for i in range(17)}
        _, found = against_best(names, resamples=999, random_state=seed)
        marked["all pairs"] += min(versus.p_adjusted for versus in found.values()) < 0.05
    assert marked["holm"] / 300 > 0.1
    assert marked["all pairs"] / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_truly_better_model_is_found_among_equal_ones():
    v = np.random.default_rng(13).normal(0, 0.2, (300, 8))
    v[:, 3] += 0.1
    best, found = against_best({str(i): v[:, i] for i in range(8)}, resamples=999)
    assert best == "3"
    assert all(versus.p_adjusted < 0.05 for versus in found.values())
    equal = all_pairs_test(v, resamples=999)[1][np.ix_([0, 1, 2], [0, 1, 2])]
    assert (equal >= 0.05).all()


@pytest.mark.parametrize("bad", [np.array([[np.nan]]), np.zeros((0, 1)), np.zeros((2, 2, 2))])
def test_what_is_no_difference_is_refused(bad):
    with pytest.raises(DataError):
        sign_flip_test(bad)


def test_models_on_different_users_are_refused():
    with pytest.raises(DataError, match="different users"):
        against_best({"a": np.zeros(3), "b": np.zeros(4)})
    with pytest.raises(ParameterError, match="resamples"):
        sign_flip_test(np.ones(3), resamples=0)
    with pytest.raises(ParameterError, match="resamples"):
        all_pairs_test(np.ones((3, 2)), resamples=0)
