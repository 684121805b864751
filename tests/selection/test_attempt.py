"""What a budget in seconds leaves of a fit that it cuts off."""

from __future__ import annotations

import numpy as np
import pytest
from toy_model import grouped

import taylorank as tr
from taylorank.selection import Choice, compare, study, tune

SPACE = {"factors": Choice((4, 32))}
HOW = {"unobserved_weight": 0.3, "regularization": 0.003, "iterations": 6}


@pytest.fixture(scope="module")
def parts():
    return grouped(400, 320, groups=32).split()


class Clock:
    """Time that only sweeps take: a second for each factor, and columns of EASE: 50 seconds in all."""

    def __init__(self, monkeypatch, *, first=1.0):
        self.now, self.sweeps, self.fits, self.first = 0.0, 0, 0, first
        monkeypatch.setattr(study, "time", self)
        for kind, cost in ((tr.IALS, lambda model: model.factors), (tr.EASE, lambda model: 50.0)):
            monkeypatch.setattr(kind, "fit", self.slowed(kind.fit, cost))

    def slowed(self, original, cost):
        def fit(model, train, valid=None, callback=None, **more):
            self.fits += 1
            slower = self.first if self.fits == 1 else 1.0

            def after(progress):
                self.now += slower * cost(model)
                self.sweeps += 1
                return callback(progress) if callback is not None else None

            return original(model, train, valid, after, **more)

        return fit

    def perf_counter(self):
        return self.now


def value_after(factors, sweeps, parts):
    fitted = tr.IALS(**{**HOW, "factors": factors, "iterations": sweeps}).fit(parts[0])
    return tr.evaluate(fitted, parts[1], k=10)["ndcg@10"]


def slow_tune(monkeypatch, parts, seconds, **how):
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        found = tune(tr.IALS(factors=4, **HOW), *parts[:2], space=SPACE, seconds=seconds, **how)
    return found, clock


def test_a_better_trial_that_is_cut_off_is_kept_with_what_it_reached(parts, monkeypatch):
    """The default, 4 factors, ends after 24 s; 32 factors reach more in the sweeps that fit, and were dropped once."""
    default, reached = value_after(4, 6, parts), value_after(32, 4, parts)
    assert reached > 1.1 * default
    found, clock = slow_tune(monkeypatch, parts, seconds=24 + 4 * 32)
    first, *others = found.trials
    cut = next(trial for trial in others if trial.params["factors"] == 32)
    assert (first.status, first.value) == ("complete", pytest.approx(default, rel=1e-5))
    assert cut.status == "cut off"
    assert cut.note == f"out of time; as of step {cut.steps}"
    assert found.best == {"factors": 32}
    assert found.value == cut.value >= value_after(32, 3, parts) * 0.999
    assert found.steps == cut.steps
    assert found.value == pytest.approx(tr.evaluate(found.model, parts[1], k=10)["ndcg@10"], rel=1e-6)
    assert clock.now <= 24 + 4 * 32
    assert found.overrun == 0
    assert any(line.startswith("inconclusive: factors = 32 was cut off after step") for line in found.advice)


def test_the_best_state_is_kept_and_not_the_last(parts, monkeypatch):
    worse = iter([0.1, 0.3, 0.2, 0.15])
    from taylorank.selection.judge import Judge

    monkeypatch.setattr(Judge, "value", lambda self, model: next(worse, 0.3))
    found, _ = slow_tune(monkeypatch, parts, seconds=16)
    assert found.trials[0].step_values == (0.1, 0.3, 0.2, 0.15)
    assert (found.trials[0].steps, found.trials[0].status) == (2, "cut off")
    assert {trial.status for trial in found.trials} == {"cut off"}


def test_a_refit_has_as_many_steps_and_ends_in_time(parts, monkeypatch):
    found, clock = slow_tune(monkeypatch, parts, seconds=400, refit=True)
    assert found.refitted
    assert clock.now <= 400
    alone, _ = slow_tune(monkeypatch, parts, seconds=20, refit=True)
    assert alone.steps < 6
    again = tr.IALS(**{**HOW, "factors": alone.best["factors"], "iterations": alone.steps})
    again.fit(tr.merge(parts[0], parts[1]))
    np.testing.assert_allclose(alone.model.item_factors, again.item_factors, rtol=1e-5)


def test_with_more_seconds_a_trial_that_was_cut_off_goes_on(parts, monkeypatch, tmp_path):
    file = tmp_path / "trials.jsonl"
    first, _ = slow_tune(monkeypatch, parts, seconds=100, file=file)
    same, _ = slow_tune(monkeypatch, parts, seconds=100, file=file)
    assert [trial.status for trial in first.trials] == [trial.status for trial in same.trials]
    assert [trial.value for trial in first.trials] == [trial.value for trial in same.trials]
    assert first.trials[-1].status == "cut off"
    more, _ = slow_tune(monkeypatch, parts, seconds=1000, file=file)
    assert "cut off" not in {trial.status for trial in more.trials}
    assert more.steps is None


def test_a_fit_without_states_overruns_once_and_says_so(parts, monkeypatch):
    clock = Clock(monkeypatch)
    found = tune("ease", *parts[:2], seconds=20)
    assert len(found.trials) == 1
    assert clock.now == 50
    assert found.overrun == 30
    assert "took 50 s, 30 s more than its budget of 20 s" in found.advice
    assert "inconclusive: 20 s allowed 1 fit, no more" in found.advice


def test_a_comparison_fits_as_many_steps_and_says_what_was_cut_off(parts, monkeypatch):
    from taylorank.report.words import further_sentences

    data = tr.merge(tr.merge(*parts[:2]), parts[2])
    clock = Clock(monkeypatch)
    models = {"ials": tr.IALS(factors=4, **HOW), "ease": tr.EASE()}
    found = compare(data, models, seeds=(0,), seconds=20, spaces={"ials": SPACE}, metrics="ndcg@10")
    run = next(run for run in found.record["runs"] if run["model"] == "ials")
    assert 1 <= run["tuning"]["steps"] < 6
    said = " ".join(further_sentences(found.record))
    assert "Inconclusive: ials (factors = 4 was cut off after step" in said
    assert "Tuning took longer than it was allowed: ease (50 s of 20 s)" in said
    assert clock.sweeps > 0


def test_few_seconds_find_that_a_large_rank_is_best(parts, monkeypatch):
    """The next trial has the largest rank that the time left pays; random draws alone may miss it."""
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        space = {"factors": Choice((2, 4, 8, 16, 32)), "regularization": Choice((0.001, 0.003, 0.01, 0.03, 0.1))}
        found = tune(tr.IALS(factors=4, **HOW), *parts[:2], space=space, seconds=600)
    assert [trial.params["factors"] for trial in found.trials[:3]] == [4, 16, 32]
    assert {trial.params["regularization"] for trial in found.trials[:3]} == {0.003}
    assert found.best["factors"] == 32
    assert clock.now <= 600


def test_a_rank_that_the_time_does_not_pay_waits(parts, monkeypatch):
    with monkeypatch.context() as patched:
        Clock(patched)
        space = {"factors": Choice((2, 4, 8, 16, 32)), "regularization": Choice((0.001, 0.003, 0.01, 0.03, 0.1))}
        found = tune(tr.IALS(factors=4, **HOW), *parts[:2], space=space, seconds=200)
    assert found.trials[1].params == {"factors": 8, "regularization": 0.003}


def test_a_slow_first_fit_does_not_settle_the_rank(parts, monkeypatch):
    """The first fit of a process may be slow: ten times here, which would pay no larger rank. The next shows it."""
    with monkeypatch.context() as patched:
        Clock(patched, first=10.0)
        space = {"factors": Choice((4, 8, 16, 32)), "regularization": Choice((0.001, 0.003, 0.01, 0.03, 0.1, 0.3))}
        found = tune(tr.IALS(factors=4, **HOW), *parts[:2], space=space, seconds=1200)
    own = [trial.params["factors"] for trial in found.trials if trial.params["regularization"] == 0.003]
    assert found.trials[0].seconds == 240
    assert found.trials[1].params["regularization"] == 0.003 or found.trials[2].params["regularization"] == 0.003
    assert 32 in own
    assert found.best["factors"] == 32


def test_ranks_that_the_seconds_did_not_pay_are_said(parts, monkeypatch):
    with monkeypatch.context() as patched:
        Clock(patched)
        space = {"factors": Choice((2, 4, 8, 16, 32)), "regularization": Choice((0.001, 0.003, 0.01, 0.03, 0.1))}
        found = tune(tr.IALS(factors=4, **HOW), *parts[:2], space=space, seconds=150)
    best = found.best["factors"]
    assert best == max(trial.params["factors"] for trial in found.trials) < 32
    assert f"inconclusive: ranks above {best} were not tried, and {best} was the best" in found.advice


def test_ranks_grow_fourfold_at_most_with_seconds_and_at_once_with_fits(parts, monkeypatch):
    """What a rank costs is estimated from a much smaller one, so a wrong estimate must not cost the whole budget."""
    space = {"factors": Choice((2, 4, 8, 32)), "regularization": Choice((0.001, 0.003, 0.01, 0.03, 0.1, 0.3))}
    model = tr.IALS(**{**HOW, "factors": 2})
    with monkeypatch.context() as patched:
        Clock(patched)
        found = tune(model, *parts[:2], space=space, seconds=9000, callback=lambda trial: trial.fit == 2)
    assert [trial.params["factors"] for trial in found.trials] == [2, 8, 32]
    found = tune(model, *parts[:2], space=space, trials=2)
    assert [trial.params["factors"] for trial in found.trials] == [2, 32]
