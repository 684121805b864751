"""What evaluations of one test set share, and that none of it leaks into others."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import LeakageWarning
from taylorank.ranking import prepared as kept


@pytest.fixture
def parts():
    return tr.planted(120, 60, interactions=2500, random_state=1).split()


def test_a_second_evaluation_is_the_same_as_a_first(parts):
    train, valid, test = parts
    models = [tr.RG2(factors=k).fit(train) for k in (4, 8)]
    together = [tr.evaluate(model, test, seen=[train, valid]) for model in models]
    for model, expected in zip(models, together, strict=True):
        kept._LAST.clear()
        assert dict(tr.evaluate(model, test, seen=[train, valid])) == dict(expected)


def test_other_masks_other_gains_and_other_models_are_not_mixed_up(parts):
    train, valid, test = parts
    model = tr.RG2(factors=8).fit(train)
    other = tr.RG2(factors=8).fit(train.core(8))

    def values():
        with pytest.warns():
            smaller = dict(tr.evaluate(other, test, seen=[train]))
        calls = [{}, {"seen": [train, valid]}, {"seen": []}, {"gain": "strength"}, {"seen": valid}]
        return [*(dict(tr.evaluate(model, test, **call)) for call in calls), smaller]

    kept._LAST.clear()
    first = values()
    assert values() == first
    assert first[0] != first[2]


def test_warnings_come_each_time(parts):
    train, _, test = parts
    model = tr.RG2(factors=4).fit(train)
    for _ in range(2):
        with pytest.warns(LeakageWarning, match="were seen before"):
            tr.evaluate(model, test, seen=[train, test])


def test_nothing_is_kept_of_a_test_set_that_is_gone(parts):
    train, _, test = parts
    model = tr.Popularity().fit(train)
    before = len(kept._LAST)
    own = test.select(np.arange(test.nnz) % 2 == 0, "half")
    tr.evaluate(model, own)
    assert len(kept._LAST) == before + 1
    del own
    gc.collect()
    assert len(kept._LAST) == before
