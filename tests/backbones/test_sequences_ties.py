"""Items of one moment come in one random order, in histories and in the split that cuts them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import taylorank as tr
from taylorank.backbones import sequences


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    pairs = np.argwhere(rng.random((60, 25)) < 0.5)
    return tr.Interactions.from_arrays(*pairs.T, timestamps=rng.integers(0, 4, len(pairs)))


def test_what_a_split_cuts_off_is_the_end_of_the_history(data):
    whole = sequences(data, 30)
    train, valid, test = data.split_last()
    parts = [sequences(part, 30) for part in (train, valid, test)]
    for row, before, middle, last in zip(whole, *parts, strict=True):
        assert row[row < 25].tolist() == [y for part in (before, middle, last) for y in part[part < 25]]


def test_order_within_a_moment_is_no_order_by_number(data):
    at_once = tr.Interactions.from_matrix(data.matrix)
    at_once = tr.Interactions.from_arrays(
        at_once.by_user.row_of_entry(), at_once.by_user.indices, timestamps=np.full(at_once.nnz, 7)
    )
    steps = np.concatenate([np.diff(row[row < 25]) for row in sequences(at_once, 30)])
    assert 0.3 < (steps > 0).mean() < 0.7


def test_other_users_with_the_same_history_have_the_same_order(data):
    users = data.by_user.row_of_entry()
    shifted = tr.Interactions.from_arrays(users + 1000, data.item_ids[data.by_user.indices], timestamps=data.timestamps)
    np.testing.assert_array_equal(sequences(shifted, 30), sequences(data, 30))
