"""RG² with a half-life: the same as fading the data, exact for new users, and better where tastes drift."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.data import Interactions, faded
from taylorank.data.tail import split_tail
from taylorank.errors import DataError
from taylorank.ranking import evaluate


@pytest.fixture(scope="module")
def drifting() -> tuple[Interactions, Interactions]:
    """Users of 12 groups who go over to another group's 20 items halfway; the last five items of each are the test."""
    draw = np.random.default_rng(0)
    users, items, times = [], [], []
    for user in range(240):
        first, second = user % 12, (user * 7 + 3) % 12
        chosen = [*draw.permutation(20)[:10] + 20 * first, *draw.permutation(20)[:10] + 20 * second]
        chosen = list(dict.fromkeys(int(item) for item in chosen))
        users += [user] * len(chosen)
        items += chosen
        times += range(len(chosen))
    data = Interactions.from_arrays(users, items, timestamps=times)
    train, test = split_tail(data, (0.75, 0.25))
    return train, test


def test_it_is_the_fit_to_faded_data(drifting):
    train = drifting[0]
    model = tr.RG2(16, half_life=4, tolerance=0).fit(train)
    other = tr.RG2(16, tolerance=0)
    other.fit(faded(train, 4))
    scores = [one.user_factors @ one.item_factors.T for one in (model, other)]
    unit = other.strength_unit_  # which moves the floor of popularity alone
    assert unit <= 1
    assert np.corrcoef(scores[0].ravel(), scores[1].ravel())[0, 1] > 0.98


@pytest.mark.parametrize("solver", ["spectral", "als"])
def test_users_are_folded_in_as_they_were_trained(drifting, solver):
    train = drifting[0]
    model = tr.RG2(16, half_life=4, solver=solver, tolerance=0, iterations=200).fit(train)
    folded = model.fold_in(train)
    np.testing.assert_allclose(folded.user_factors, model.user_factors, rtol=2e-3, atol=2e-3)


def test_a_long_half_life_is_none(drifting):
    train = drifting[0]
    plain, long = (tr.RG2(16, half_life=h).fit(train).recommend([3], n=10)[0] for h in (None, 1e9))
    assert plain.tolist() == long.tolist()


def test_what_is_recent_decides_where_tastes_drift(drifting):
    train, test = drifting
    plain, recent = (evaluate(tr.RG2(32, half_life=h).fit(train), test, k=10)["ndcg@10"] for h in (None, 3))
    assert recent > 1.05 * plain


def test_data_without_times_is_refused(drifting):
    users = drifting[0]
    bare = Interactions.from_matrix(users.matrix)
    with pytest.raises(DataError, match="no times"):
        tr.RG2(8, half_life=3).fit(bare)
