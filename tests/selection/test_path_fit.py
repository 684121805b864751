"""What fits with a path cost."""

from __future__ import annotations

import pytest

from taylorank.selection import path_fit
from taylorank.selection.trials import Trial


def test_costs_grow_from_what_was_seen():
    class One:
        rank, number = 10, 0
        trials = (Trial({}, 1.0, 5.0, users=100), *[Trial({}, 1.0, 0.5, users=100)] * 4)

    class Of:
        refit = True

        class judge:  # noqa: N801
            users = 200

            class valid:  # noqa: N801
                nnz = 10

        class train:  # noqa: N801
            nnz = 100

    costs = path_fit.Costs(Of)
    assert costs.search(10) == costs.refit(10) == costs.judging(10) == 0.0
    costs.learn(One)
    assert costs.search(10) == pytest.approx(path_fit.CAUTION * (5.0 + 4 * 0.5))
    assert costs.search(20) > 2 * costs.search(10)
    assert costs.refit(10) == pytest.approx(1.1 * path_fit.CAUTION * 5.0)
    assert costs.judging(10) == pytest.approx(path_fit.FULL_RANKING * 0.5 * 2)
