"""Claims about the settings of RG² and WRMF: every verdict can be reached, and test data choose nothing."""

from __future__ import annotations

import pytest

import taylorank as tr
from research.claims import sweeps_over_settings as sweeps
from research.claims.claim import CORRECTED, FAILS, HOLDS


def test_scores_that_a_tenth_of_the_penalty_multiplies_explode():
    """λ = 0.8 removes nearly everything: from there on a tenth of it lets the scores grow by far more than twice."""
    assert sweeps.judge_penalties(sweeps.penalties(0, given=(0.08, 0.8))).verdict == HOLDS


@pytest.mark.parametrize(
    ("sizes", "quality", "expected"),
    [
        ([7.0, 6.9], 0.05, CORRECTED),
        ([11.0, 10.9], 0.05, HOLDS),
        ([9.0, 4.0], 0.05, HOLDS),
        ([9.0, 4.0], 0.2, FAILS),
        ([2.0, 1.9], 0.05, FAILS),
    ],
)
def test_scores_are_judged_by_their_targets_and_by_each_other(sizes, quality, expected):
    numbers = {
        "λ": [0.001, 0.01],
        "λ that removes everything": 0.8,
        "mean |score| of a positive": sizes,
        "mean target of a positive": 10.0,
        "ndcg@10": [quality, 0.1],
        "chosen on validation": {"λ": 0.3, "mean |score| of a positive": 1.0, "ndcg@10": 0.2},
    }
    assert sweeps.judge_penalties(numbers).verdict == expected


def test_the_grid_is_searched_on_validation_data(monkeypatch):
    """Settings that shine on the test part alone are not chosen."""

    def evaluate(model, part, *, k, seen=None):
        of_test = seen is not None
        return {"ndcg@10": 1 / model.regularization if of_test else model.regularization}

    monkeypatch.setattr(sweeps, "evaluate", evaluate)
    data = tr.planted(30, 20, interactions=300)
    found = sweeps.grid_search(data, (0.0, 0.1), (1.0, 10.0), alphas=(1.0, 2.0), rank=2, seed=0)
    assert found["papers' grid"] == {"settings": 4, "λ": 0.1, "α": 1.0, "ndcg@10": 10.0}
    assert found["larger λ"] == {"settings": 4, "λ": 10.0, "α": 1.0, "ndcg@10": 0.1}
