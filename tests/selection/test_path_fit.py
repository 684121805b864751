"""What fits with a path cost."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from taylorank.selection import path_fit, study
from taylorank.selection.study import Budget, CutOff, Study
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


def test_a_fit_ends_before_a_pass_that_the_seconds_left_do_not_pay(monkeypatch):
    """Passes of a large rank are long: one more would overrun the budget by a whole pass."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(study, "time", clock)
    run = Study(None, None, None, {}, Budget(None, 100.0), 0, fits=2)
    fit = path_fit.PathFit(run, {}, SimpleNamespace(metric="ndcg@10", users=1), rank=8, number=1)
    fit._last = run.now
    for clock.now in (30.0, 60.0):
        fit._after_pass()
    clock.now = 90.0
    with pytest.raises(CutOff):
        fit._after_pass()  # 10 s are left, and a pass takes 30
    run.fits = 1
    fit._after_pass()  # the first fit runs to its end
