"""Splits by each user's own time."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.data.tail import knows_order, split_tail
from taylorank.errors import DataError


@pytest.fixture(scope="module")
def data():
    return tr.planted(80, 40, interactions=900, random_state=5)


def histories(part):
    """The items of each user, oldest first."""
    rows = part.by_user
    cuts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [rows.indices[a:b][np.argsort(part.timestamps[a:b], kind="stable")].tolist() for a, b in cuts]


def test_the_parts_joined_are_the_histories(data):
    train, valid, test = (histories(part) for part in split_tail(data))
    assert [a + b + c for a, b, c in zip(train, valid, test, strict=True)] == histories(data)


def test_as_many_are_held_back_as_at_random(data):
    tails, randoms = split_tail(data, (0.7, 0.3)), data.split((0.7, 0.3))
    for tail, random in zip(tails, randoms, strict=True):
        assert tail.by_user.row_lengths.tolist() == random.by_user.row_lengths.tolist()
    assert tails[1] != randoms[1]


def test_ties_are_cut_by_the_seed():
    data = tr.Interactions.from_arrays(np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40), timestamps=[1] * 240)
    first, again, other = (split_tail(data, (0.5, 0.5), random_state=seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_without_times_it_is_refused():
    data = tr.Interactions.from_arrays([1, 1], ["a", "b"])
    with pytest.raises(DataError, match="the data has no times; read with timestamp"):
        split_tail(data)


def test_an_order_is_known_if_times_differ_for_most_users():
    users, items = np.repeat(np.arange(10), 3), np.tile(np.arange(3), 10)

    def known(ordered):
        times = np.where(users < ordered, items, 7)
        return knows_order(tr.Interactions.from_arrays(users, items, timestamps=times))

    assert [known(count) for count in (0, 4, 5, 10)] == [False, False, True, True]
    assert not knows_order(tr.Interactions.from_arrays([1, 2], [1, 2], timestamps=[1, 2]))
    dates = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[us]")
    assert knows_order(tr.Interactions.from_arrays([1, 1], [1, 2], timestamps=dates))
