"""A fit on Spark is the fit of one machine, for any number of partitions."""

from __future__ import annotations

import numpy as np
import pytest
from planted_frame import agreement, frame_of, lists_of, with_strengths

import taylorank as tr
from taylorank.models.rg_parameters import share_of_sizes
from taylorank.objectives import ials_objective
from taylorank.spark import IALS, RG2


@pytest.fixture(scope="module")
def data():
    return tr.planted(600, 300, interactions=12000, random_state=1)


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_rg2_ranks_as_on_one_machine(spark, data, blocks):
    local = tr.RG2(12, regularization=0.2).fit(data)
    model = RG2(rank=12, regParam=0.2, numUserBlocks=blocks).fit(frame_of(spark, data))
    same, error = agreement(local, lists_of(model.recommendForAllUsers(10)))
    assert model.facts["blocks"] == blocks
    assert same >= 0.995
    assert error < 1e-4
    np.testing.assert_allclose(model.facts["values"], local.path_.svd.values, rtol=1e-5)


def test_the_size_of_the_data_decides_rank_and_penalty(spark, data):
    estimator = RG2()
    assert estimator.getRank() is estimator.getRegParam() is None
    model = estimator.fit(frame_of(spark, data))
    share = share_of_sizes(data.n_users, data.n_items, data.nnz)
    local = tr.RG2(regularization=share).fit(data)
    assert (model.getRank(), model.getRegParam()) == (local.rank, pytest.approx(share))
    assert agreement(local, lists_of(model.recommendForAllUsers(10)))[0] >= 0.99
    assert model.to_local().get_params()["factors"] == local.rank
    maps: list[dict] = [{}, {estimator.regParam: 0.5}, {estimator.rank: 3}]
    found = dict(estimator.fitMultiple(frame_of(spark, data), maps))
    assert [found[number].getRank() for number in range(3)] == [local.rank, local.rank, 3]
    assert [found[number].getRegParam() for number in range(3)] == [model.getRegParam(), 0.5, model.getRegParam()]


def test_rg2_with_strengths_and_every_exponent(spark, data):
    graded = with_strengths(data)
    given = {"proposal_exponent": 0.8, "context_exponent": 0.7, "score_penalty": 0.5, "popularity_discount": 0.2}
    local = tr.RG2(8, regularization=0.1, **given).fit(graded)
    model = RG2(
        rank=8, regParam=0.1, proposalExponent=0.8, contextExponent=0.7, scorePenalty=0.5, popularityDiscount=0.2,
        strengthCol="strength",
    ).fit(frame_of(spark, graded, columns=("user", "item", "strength")))  # fmt: skip
    same, error = agreement(local, lists_of(model.recommendForAllUsers(10)))
    assert model.facts["unit"] == graded.typical_strength
    assert same >= 0.995
    assert error < 1e-4


def test_rg2_of_a_wide_sum_goes_through_the_shuffle(spark, data, monkeypatch):
    from taylorank.spark import reduction

    frame = frame_of(spark, data)
    direct = RG2(rank=8, numUserBlocks=3).fit(frame)
    monkeypatch.setattr(reduction, "DIRECT", 0)
    shuffled = RG2(rank=8, numUserBlocks=3).fit(frame)
    assert lists_of(shuffled.recommendForAllUsers(5)) == lists_of(direct.recommendForAllUsers(5))


@pytest.mark.parametrize(("graded", "solver", "blocks"), [(False, "auto", 3), (True, "auto", 3), (False, "cg", 5)])
def test_ials_reaches_the_same_loss(spark, data, graded, solver, blocks):
    given = with_strengths(data) if graded else data
    columns = ("user", "item", "strength") if graded else ("user", "item")
    local = tr.IALS(8, iterations=4, solver=solver).fit(given)
    model = IALS(rank=8, maxIter=4, solver=solver, numUserBlocks=blocks, strengthCol="strength" if graded else "")
    found = model.fit(frame_of(spark, given, columns=columns)).to_local()
    objective = ials_objective(given, unobserved_weight=0.1, regularization=0.003, nu=1.0)
    losses = [objective.loss(m.user_factors, m.item_factors) for m in (local, found)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_ials_stops_by_its_loss(spark, data):
    model = IALS(rank=4, maxIter=30, tol=0.02).fit(frame_of(spark, data))
    local = tr.IALS(4, iterations=30, tolerance=0.02).fit(data)
    objective = ials_objective(data, unobserved_weight=0.1, regularization=0.003, nu=1.0)
    assert model.facts["sweeps"] == len(local.history_) < 30
    found = model.to_local()
    assert model.facts["losses"][-1] == pytest.approx(objective.loss(found.user_factors, found.item_factors), rel=1e-6)
