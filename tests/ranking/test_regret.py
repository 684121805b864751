"""Regret against enumeration, and against what people would actually draw next."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import planted
from taylorank.errors import DataError, ParameterError
from taylorank.models import RG2, Popularity
from taylorank.ranking import Oracle, recommend, regret


@pytest.fixture(scope="module")
def parts():
    return planted(60, 25, interactions=500, random_state=3).split()


def by_hand(model, test, masks, k):
    """One user after the other, with dictionaries; the truth is single precision, so the order of its sums shows."""
    reached, best = [], []
    for user in test.user_ids[test.by_user.row_lengths > 0].tolist():
        hidden = {i for mask in masks for i in mask.items_of(user).tolist()}
        chance = dict(
            zip(test.item_ids.tolist(), test.truth.probabilities(np.array([user]), test.item_ids)[0], strict=True)
        )
        open_items = {i: p for i, p in chance.items() if i not in hidden}
        total = sum(open_items.values())
        listed = [i for i in recommend(model, [user], k, seen=masks)[0][0].tolist() if i >= 0]
        reached.append(sum(open_items[i] / total / np.log2(r + 2) for r, i in enumerate(listed)))
        top = sorted(open_items.values(), reverse=True)[:k]
        best.append(sum(p / total / np.log2(r + 2) for r, p in enumerate(top)))
    return np.mean(best) - np.mean(reached), np.mean(best)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_it_agrees_with_one_user_at_a_time(parts, k):
    train, valid, test = parts
    for model in (Popularity().fit(train), RG2(factors=4).fit(train)):
        got = regret(model, test, k=k, seen=[train, valid])
        lost, best = by_hand(model, test, [train, valid], k)
        assert got[f"regret@{k}"] == pytest.approx(lost, abs=1e-7)
        assert got[f"best_ndcg@{k}"] == pytest.approx(best, abs=1e-7)
        assert got[f"expected_ndcg@{k}"] + got[f"regret@{k}"] == pytest.approx(got[f"best_ndcg@{k}"])


def test_the_expectation_is_the_mean_over_draws(parts):
    """Draw the next item of one user many times; the NDCG@5 of its list has the mean that regret computes."""
    train, _, test = parts
    user = int(np.flatnonzero(test.by_user.row_lengths > 0)[0])
    alone = test.select(test.by_user.row_of_entry() == user, "one user")
    model = Popularity().fit(train)
    listed = recommend(model, [user], 5)[0][0].tolist()
    chance = test.truth.probabilities(np.array([user]), test.item_ids)[0]
    chance[train.items.positions(train.items_of(user))] = 0
    draws = np.random.default_rng(0).choice(test.item_ids, 40_000, p=chance / chance.sum())
    gains = [1 / np.log2(listed.index(i) + 2) if i in listed else 0.0 for i in draws.tolist()]
    expected = regret(model, alone, k=5)["expected_ndcg@5"]
    assert np.mean(gains) == pytest.approx(expected, abs=4 * np.std(gains) / np.sqrt(len(gains)))


def test_only_the_truth_has_no_regret(parts):
    train, valid, test = parts
    assert regret(Oracle(train), test, seen=[train, valid])["regret@10"] == pytest.approx(0, abs=1e-7)
    train, test = planted(400, 120, interactions=8000, random_state=3).split((0.8, 0.2))
    popular, fitted = Popularity().fit(train), RG2(factors=8).fit(train)
    assert 0 < regret(fitted, test)["regret@10"] < regret(popular, test)["regret@10"] < 1


def test_what_has_no_regret_to_speak_of_is_refused(parts):
    train, _, test = parts
    model = Popularity().fit(train)
    from dataclasses import replace

    with pytest.raises(DataError, match="truth"):
        regret(model, replace(test, truth=None))
    with pytest.raises(DataError, match="no interactions"):
        regret(model, test.select(np.zeros(test.nnz, dtype=bool), "emptied"))
    with pytest.raises(DataError, match="different ids"):
        regret(model, planted(70, 25, interactions=500))
    with pytest.raises(ParameterError, match="k=0"):
        regret(model, test, k=0)
