"""Splits that hold back groups of like items."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.data import merge
from taylorank.errors import ParameterError
from taylorank.selection import split_blocks


@pytest.fixture(scope="module")
def grouped():
    """Users with items of two of ten groups each; a group is ten items in a row."""
    rng = np.random.default_rng(0)
    pairs = [
        (user, 10 * group + item)
        for user in range(300)
        for group in rng.choice(10, size=2, replace=False)
        for item in rng.choice(10, size=6, replace=False)
    ]
    users, items = zip(*pairs, strict=True)
    return tr.Interactions.from_arrays(users, items)


def test_what_is_held_back_is_of_one_group(grouped):
    _, valid = split_blocks(grouped, 0.4)
    groups = [{item // 10 for item in valid.items_of(user)} for user in range(300)]
    assert np.mean([len(group) == 1 for group in groups]) > 0.95
    _, random = grouped.split((0.6, 0.4))
    at_random = [{item // 10 for item in random.items_of(user)} for user in range(300)]
    assert np.mean([len(group) == 1 for group in at_random]) < 0.3


def test_parts_are_as_large_as_those_of_a_random_split(grouped):
    train, valid = split_blocks(grouped, 0.25, random_state=3)
    _, random = grouped.split((0.75, 0.25))
    np.testing.assert_array_equal(valid.by_user.row_lengths, random.by_user.row_lengths)
    assert merge(train, valid) == grouped


def test_the_seed_decides(grouped):
    assert split_blocks(grouped, random_state=1)[1] == split_blocks(grouped, random_state=1)[1]
    assert split_blocks(grouped, random_state=1)[1] != split_blocks(grouped, random_state=2)[1]


def test_train_keeps_one_of_each_user():
    data = tr.Interactions.from_arrays([1, 2, 2, 3, 3, 3], [5, 5, 6, 5, 6, 7])
    train, valid = split_blocks(data, 0.9)
    assert train.by_user.row_lengths.tolist() == [1, 1, 1]
    assert valid.by_user.row_lengths.tolist() == [0, 1, 2]


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_other_shares_are_refused(grouped, share):
    with pytest.raises(ParameterError, match="share"):
        split_blocks(grouped, share)
