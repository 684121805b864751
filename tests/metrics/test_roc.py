from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse, stats

from taylorank.data import CSR
from taylorank.metrics import auc
from taylorank.metrics.roc import places_in_rows


def rows_of(table):
    matrix = sparse.csr_array(table)
    return CSR(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), None, table.shape[1])


SCORES = hnp.arrays(np.float32, (3, 8), elements=st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0]))


@given(SCORES, hnp.arrays(bool, (3, 8)), st.integers(0, 2))
def test_agrees_with_all_pairs(scores, relevant, unknown):
    expected = []
    for row, chosen in zip(scores, relevant, strict=True):
        losers = [s for s, r in zip(row, chosen, strict=True) if not r and s > -np.inf]
        winners = [s for s, r in zip(row, chosen, strict=True) if r]
        pairs = len(losers) * (len(winners) + unknown)
        won = sum((w > z) + 0.5 * (w == z) for w in winners if w > -np.inf for z in losers)
        expected.append(won / pairs if pairs else np.nan)
    got = auc(scores, rows_of(relevant), of=relevant.sum(axis=1) + unknown)
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_scipy_agrees(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 30, (20, 100)).astype(np.float32)  # with many ties
    relevant = rng.random(scores.shape) < 0.1
    relevant[:, 0] = True
    got = auc(scores, rows_of(relevant))
    for row, chosen, value in zip(scores, relevant, got, strict=True):
        wins = stats.mannwhitneyu(row[chosen], row[~chosen]).statistic
        assert value == pytest.approx(wins / (chosen.sum() * (~chosen).sum()), abs=1e-6)


@given(
    hnp.arrays(np.float64, (2, 5), elements=st.integers(0, 4)), hnp.arrays(np.float64, 6, elements=st.integers(-1, 5))
)
def test_places_are_those_of_searchsorted(values, wanted):
    ascending, rows = np.sort(values, axis=1), np.array([0, 1, 0, 1, 0, 1])
    for side in ("left", "right"):
        expected = [np.searchsorted(ascending[r], w, side=side) for r, w in zip(rows, wanted, strict=True)]
        assert places_in_rows(ascending, rows, wanted, after_equal=side == "right").tolist() == expected
