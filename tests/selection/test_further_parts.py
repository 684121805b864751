"""Further parts held back, and who is judged on them."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.selection import hold_back
from taylorank.selection.found import Found
from taylorank.selection.further_parts import contenders, further_parts
from taylorank.selection.selected import Candidate, Selection


@pytest.fixture
def data():
    return tr.planted(60, 40, interactions=900, random_state=3)


def pairs(data):
    coo = data.matrix.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))


def test_what_came_before_the_last_part_is_held_back_next(data):
    held = hold_back(data)
    one, two = (part for part, _ in zip(further_parts(held, 0.1, random_state=0), range(2), strict=False))
    assert pairs(one.train) | pairs(one.valid) == pairs(held.train)
    assert pairs(two.train) | pairs(two.valid) == pairs(one.train)
    latest, earliest = (np.full(data.n_users, extreme) for extreme in (-np.inf, np.inf))
    np.maximum.at(latest, one.train.by_user.row_of_entry(), one.train.timestamps)
    np.minimum.at(earliest, one.valid.by_user.row_of_entry(), one.valid.timestamps)
    assert (latest <= earliest).all()


def test_other_random_parts_are_held_back(data):
    held = hold_back(data, hold_out="random")
    one = next(further_parts(held, 0.1, random_state=0))
    assert pairs(one.train) | pairs(one.valid) == pairs(data)
    assert not pairs(one.train) & pairs(one.valid)
    assert len(pairs(one.valid) & pairs(held.valid)) < len(pairs(one.valid)) / 2


def test_parts_end_with_the_data():
    data = tr.Interactions.from_arrays([1, 1, 1], list("abc"), timestamps=[1, 2, 3])
    parts = list(further_parts(hold_back(data), 0.1, random_state=0))
    assert [part.train.nnz for part in parts] == [1]


def found(name, values):
    values = np.asarray(values, dtype=float)
    return Found(Candidate(name, value=float(np.nanmean(values))), None, (values,), 0.0, 0.0)


def test_those_clearly_behind_are_no_contenders():
    noise = np.random.default_rng(0).normal(0, 0.1, 200)
    best, near, far = found("best", noise), found("near", noise[::-1] - 0.001), found("far", noise[::-1] - 0.2)
    assert contenders([far, near, best], best) == [near, best]
    again = [one.looked_at(one.looks[0]) for one in (near, best)]
    assert contenders([far, *again], again[1]) == again


def test_the_lead_is_each_users_mean_over_the_parts_that_both_were_judged_on():
    one, two = found("one", [1.0, 0.5, np.nan]), found("two", [0.0, 0.5, np.nan])
    assert one.ahead_of(two).tolist() == [1.0, 0.0]
    further = one.looked_at(np.array([0.0, np.nan, 0.4])), two.looked_at(np.array([1.0, np.nan, 0.0]))
    assert further[0].ahead_of(further[1]) == pytest.approx([0.0, 0.0, 0.4])
    assert further[0].ahead_of(two).tolist() == [1.0, 0.0]
    assert further[0].value == pytest.approx((0.75 + 0.2) / 2)


def test_what_to_expect_is_the_mean_over_the_parts_with_its_interval():
    """The first part's value alone, by which the model was chosen, is further from what new data will show."""
    first, second = np.r_[np.full(50, 0.9), np.full(50, 0.7)], np.r_[np.full(50, 0.1), np.full(50, 0.3)]
    best, other = found("best", first).looked_at(second), found("other", first - 0.1).looked_at(second)
    low, high = best.candidate.interval
    assert low <= 0.5 <= high < 0.6
    facts = {"data": "", "held_back": "", "metric": "ndcg@10", "users": 100, "chosen": "best", "lead": None}
    ending = {"refitted": True, "status": "complete", "seconds": 1.0, "budget": 2.0}
    selection = Selection(candidates=[best.candidate, other.candidate], **facts, **ending)
    (said,) = (line for line in selection.lines() if line.startswith("expected"))
    assert f"about 0.5000, the mean of 2 parts held back (95 % interval over 100 users {low:.4f} to {high:.4f})" in said
    assert "  best: ndcg@10 0.8000, 0.5000 over 2 parts (" in str(selection)
