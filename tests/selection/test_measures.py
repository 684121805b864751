"""Convergence and popularity groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from toy_model import Clock

import taylorank as tr
from taylorank.data import Interactions
from taylorank.models import IALS, Popularity
from taylorank.ranking import evaluate, recommend
from taylorank.selection.measures import convergence, popularity_groups, recall_by_popularity


@dataclass
class Step:
    step: int
    fitted: Any

    def model(self):
        return self.fitted


class Slow:
    """Forty steps of a millisecond; the fifth has no snapshot to give."""

    def fit(self, train, valid=None, callback=None):
        self.at = 0
        for step in range(1, 41):
            Clock.now += 0.001
            self.at = step
            callback(Step(step, None if step == 5 else self))
        return self


def test_steps_thin_out_and_measuring_costs_no_time(monkeypatch):
    monkeypatch.setattr("time.perf_counter", Clock.perf_counter)

    def value(model):
        Clock.now += 0.02
        return float(model.at)

    points = convergence(Slow(), None, value)
    steps = [point["step"] for point in points]
    assert steps[:5] == [1, 2, 3, 4, 6]
    assert steps[-1] == 40
    assert len(steps) < 25
    assert [point["value"] for point in points] == steps
    assert [point["seconds"] for point in points] == pytest.approx([0.001 * step for step in steps])


def test_the_end_of_a_fit_is_the_fitted_model():
    train, valid, _ = tr.planted(100, 40, interactions=1500).split()

    def value(model):
        return evaluate(model, valid, k=10)["ndcg@10"]

    points = convergence(IALS(4, iterations=5), train, value)
    assert [point["step"] for point in points] == [1, 2, 3, 4, 5]
    assert points[-1]["value"] == value(IALS(4, iterations=5).fit(train))
    assert points[1]["value"] == value(IALS(4, iterations=2).fit(train))
    assert [point["step"] for point in convergence(Popularity(), train, value)] == [1]


def test_groups_hold_equal_shares():
    data = tr.planted(300, 200, interactions=8000)
    groups = popularity_groups(data)
    counts = np.bincount(data.by_user.indices, minlength=200)
    shares = np.bincount(groups, counts) / counts.sum()
    assert np.all(np.abs(shares - 0.2) < 0.03)
    for group in range(4):
        assert counts[groups == group].min() >= counts[groups == group + 1].max()


def test_recall_by_popularity_is_a_count():
    train, valid, test = tr.planted(120, 60, interactions=2500, random_state=2).split()
    model = IALS(8).fit(train)
    found = recall_by_popularity(model, test, train=train, seen=[train, valid], k=5)
    groups = popularity_groups(train)
    hits, totals = np.zeros(5), np.zeros(5)
    for user in test.user_ids.tolist():
        wanted = test.items_of(user).tolist()
        ids, _ = recommend(model, [user], 5, seen=[train, valid])
        for item in wanted:
            group = groups[train.items.positions([item])[0]]
            totals[group] += 1
            hits[group] += item in ids[0]
    assert [part["interactions"] for part in found] == totals.tolist()
    assert [part["recall"] for part in found] == pytest.approx((hits / totals).tolist())


def test_items_that_train_does_not_know_are_the_rarest():
    train = Interactions.from_arrays([1, 1, 2, 2, 3], [7, 8, 7, 9, 7])
    test = Interactions.from_arrays([1, 2], [99, 8])
    found = recall_by_popularity(Popularity().fit(train), test, train=train, seen=train, k=2)
    assert sum(part["interactions"] for part in found) == 2
    assert found[-1]["interactions"] >= 1
    assert found[0]["recall"] is None
