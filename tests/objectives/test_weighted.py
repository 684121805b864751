"""Objectives with a weight for every observed pair: what folding in one user asks of them."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import planted
from taylorank.models import IALS
from taylorank.objectives import ials_objective

SETTINGS = {"unobserved_weight": 0.1, "regularization": 0.003, "nu": 0.5}


@pytest.fixture(scope="module")
def data():
    return planted(60, 40, interactions=900, random_state=0)


def test_penalties_of_ials_grow_with_the_frequencies(data):
    objective = ials_objective(data, **SETTINGS)
    counts = np.array([np.count_nonzero(data.by_user.indices == item) for item in range(40)])
    np.testing.assert_allclose(objective.item_penalty, 0.003 * np.sqrt(counts + 0.1 * 60))
    np.testing.assert_allclose(objective.user_penalty, 0.003 * np.sqrt(data.by_user.row_lengths + 0.1 * 40))
    np.testing.assert_array_equal(objective.transposed.user_penalty, objective.item_penalty)
    np.testing.assert_array_equal(objective.transposed.item_penalty, objective.user_penalty)


def test_new_users_and_explanations_cost_nothing_per_item_of_the_catalogue(data, monkeypatch):
    model = IALS(factors=4).fit(data)
    expected = model.fold_in(data).user_factors
    model.ranker.vectors.fold_in.rows(data)  # the sums over all items, once

    def refuse(*_, **__):
        raise AssertionError("a count over all items")

    monkeypatch.setattr(np, "bincount", refuse)
    np.testing.assert_array_equal(model.ranker.vectors.fold_in.rows(data), expected)
    assert np.isfinite(model.explain(0, 5).score)
