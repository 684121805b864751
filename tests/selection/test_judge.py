"""Validation by a judge: on all users, on a sample, by shortlists, and for users who are folded in."""

from __future__ import annotations

import numpy as np
import pytest
from toy_model import Toy

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.metrics import choosing_metric
from taylorank.ranking import protocol
from taylorank.selection.judge import Judge, ShortlistJudge

NDCG = choosing_metric("ndcg@5")


def test_a_sample_is_drawn_by_its_seed(small_parts):
    _, valid, _ = small_parts
    judge = Judge(NDCG, valid)
    assert judge.on_sample(judge.users, random_state=0) is judge
    samples = [judge.on_sample(50, random_state=seed) for seed in (0, 0, 1)]
    assert [sample.users for sample in samples] == [50, 50, 50]
    assert samples[0].valid == samples[1].valid != samples[2].valid
    rows = samples[0].valid.by_user.row_lengths
    np.testing.assert_array_equal(rows[rows > 0], valid.by_user.row_lengths[rows > 0])  # whole users


def test_a_shortlist_of_all_items_gives_the_value_of_full_ranking(small_parts):
    train, valid, _ = small_parts
    first, other = (tr.RG2(8, proposal_exponent=gamma).fit(train) for gamma in (0.2, 0.8))
    judge = Judge(NDCG, valid)
    quick = ShortlistJudge(judge, lambda: first)  # 120 items, lists of 200
    assert quick.users == judge.users
    assert quick.value(other) == pytest.approx(judge.value(other), rel=1e-6)
    assert quick.value(other) != quick.value(first)


def test_held_out_users_are_folded_in_as_the_protocol_does_it():
    parts = protocol("held-out-users").prepare(tr.planted(300, 120, interactions=6000, random_state=3))
    model = tr.RG2(8).fit(parts.train)
    judge = Judge(NDCG, parts.valid, parts.seen_valid, parts.fold_valid)
    expected = parts.evaluate(model, "valid", metrics="ndcg@5")["ndcg@5"]
    assert judge.value(model) == expected
    assert ShortlistJudge(judge, lambda: model).value(model) == expected
    with pytest.raises(ParameterError, match="cannot fold in new users"):
        judge.value(Toy().fit(parts.train))
