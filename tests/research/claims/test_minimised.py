"""Claims about the scores of least loss: they come from a solver, and under other weights the corrections fail."""

from __future__ import annotations

import numpy as np
import pytest

from research.claims import graded, weights
from research.claims.claim import CORRECTED, FAILS
from research.claims.distributions import least_rg2, least_squares, random_sets

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_scores_have_less_loss(seed):
    rng = np.random.default_rng(seed)
    weight, goals = rng.random((5, 4)), rng.standard_normal((5, 4))

    def loss(o):
        return (weight * (o - goals) ** 2).sum()

    found = least_squares(weight, goals)
    assert all(loss(found) < loss(found + 1e-3 * rng.standard_normal(4)) for _ in range(50))


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_rg2_in_closed_form(exponent):
    world = random_sets(np.random.default_rng(0))
    found = least_rg2(world.members, world.chance, context_exponent=exponent)
    np.testing.assert_allclose(found, world.best_rg2(context_exponent=exponent), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_contexts_that_do_not_fit_break_the_corrections(seed):
    for experiment, judge, wrong in (
        (graded.graded_regret, graded.judge_graded, {"context_exponent": 0.0}),
        (graded.other_proposals, graded.judge_proposals, {"context_exponent": 0.0}),
        (weights.context_weights, weights.judge_context, {"of_the_draw": 1.0}),
    ):
        assert judge(experiment(seed)).verdict == CORRECTED
        assert judge(experiment(seed, **wrong)).verdict == FAILS
