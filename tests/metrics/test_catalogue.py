from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorank.metrics import coverage, gini


def test_values_worked_by_hand():
    assert coverage(np.array([5, 0, 0, 1])) == 0.5
    assert gini(np.array([0, 0, 0, 6])) == pytest.approx(3 / 4)
    assert gini(np.array([1, 1, 1])) == 0.0
    assert gini(np.zeros(3)) == 0.0
    assert coverage(np.zeros(0)) == 0.0


@given(hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(0, 9)))
def test_gini_is_half_the_mean_difference_over_the_mean(shown):
    total = shown.sum()
    pairs = np.abs(shown[:, None] - shown[None, :]).mean()
    assert gini(shown) == pytest.approx(pairs / (2 * total / len(shown)) if total else 0.0, abs=1e-12)
