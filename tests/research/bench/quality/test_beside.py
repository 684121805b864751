"""The studies of defaults and of what is tried beside them: small runs, and the formulas behind them."""

from __future__ import annotations

import numpy as np
import pytest

from research.bench import run_benchmark
from research.bench.quality import defaults
from research.bench.quality.beside import IDEAS, judged_on
from research.bench.quality.beside_models import fitted, left_out, newton_target, powers
from research.bench.quality.defaults_beside import means
from taylorank.data import planted


@pytest.fixture(scope="module")
def judged():
    return judged_on(planted(150, 60, interactions=2500), 8)


def test_it_runs_and_has_a_verdict_for_every_idea():
    record, lines = run_benchmark("beside", quick=True, ideas="power,residual,newton,half life")
    rows = record["sets"]["planted"]
    assert set(rows) == {"base", "power", "residual", "newton", "half life"} <= set(IDEAS)
    assert len(lines) == 5
    assert all("help" in line for line in lines[1:])


def test_an_exponent_of_one_is_the_model_without_a_threshold(judged):
    scored = dict(powers(judged, thresholded=False))["β 1"]
    plain = next(judged.base.path(regularization=(0.0,)))
    users = np.arange(5)
    expected = plain.probabilities(users)
    np.testing.assert_allclose(scored.ranker.scores(users), expected, rtol=1e-4, atol=1e-6)


def test_a_newton_step_from_zero_scores_is_rg2(judged):
    """At o = 0 the targets are those of RG², so its fit is that of the closed form."""
    base, train = judged.base, judged.train
    zero = np.zeros((train.n_users, base.rank), np.float32), np.zeros((train.n_items, base.rank), np.float32)
    totals = np.asarray(train.matrix.sum(axis=1)).ravel()
    target = newton_target(train, *zero, base.proposal_, totals, 1.0)
    root_q = np.sqrt(base.proposal_).astype(np.float32)
    point = next(base.path(regularization=(0.2,)))
    context = np.sqrt(totals**base.context_exponent).astype(np.float32)
    P, Q = fitted(target, point.item_factors, context, root_q, 0.2)
    np.testing.assert_allclose(P @ Q.T, point.user_factors @ point.item_factors.T, rtol=0.02, atol=0.02)


def test_a_seen_item_is_scored_by_the_others(judged):
    teacher = next(judged.base.path(regularization=(0.2,)))
    scores = left_out(teacher)(np.array([3]))[0]
    rows = judged.train.by_user
    place = int(rows.indices[rows.indptr[3]])
    without = teacher.fold_in(judged.train.select(~((rows.row_of_entry() == 3) & (rows.indices == place)), "one"))
    expected = without.probabilities(np.array([3]))[0, place]
    assert scores[place] == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_the_study_of_defaults_has_the_rule_of_the_library():
    record, lines = run_benchmark("rg2-defaults", quick=True)
    size = record["sets"]["planted"]["size"]
    assert size["users"] == 150
    assert record["by density"][0]["relative"] <= 1
    assert lines
    assert defaults.RULES[defaults.QUARTER](size) == min(size["users"], size["items"]) / 4


def test_means_are_of_sets_where_all_were_measured():
    whole = {model: {"test": value} for model, value in (("RG2", 0.2), ("EASE", 0.1), ("implicit", 0.05))}
    share, count = means({"a": whole, "b": {"RG2": {"test": 0.9}}}, ("a", "b"))
    assert count == 1
    assert share == pytest.approx({"RG2": 1.0, "EASE": 0.5, "implicit": 0.25})
