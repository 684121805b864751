from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.data import Interactions, check_leakage, planted
from taylorank.data.shuffle import random_keys
from taylorank.errors import DataError, LeakageWarning, ParameterError

LOGS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 30), st.integers(0, 50)), min_size=1, max_size=120)


def from_log(log):
    users, items, times = zip(*log, strict=True)
    return Interactions.from_arrays(users, items, timestamps=times)


def pairs_of(data):
    return set(zip(*(data.to_frame()[c].to_list() for c in ("user", "item")), strict=True))


def assert_partition(data, parts):
    found = [pairs_of(part) for part in parts]
    assert set().union(*found) == pairs_of(data)
    assert sum(map(len, found)) == data.nnz
    for part in parts:
        assert part.users is data.users
        assert part.items is data.items


@given(LOGS, st.integers(0, 2**64 - 1))
def test_ratio_split_is_a_partition_with_the_promised_counts(log, seed):
    data = from_log(log)
    train, valid, test = data.split((0.8, 0.1, 0.1), random_state=seed)
    assert_partition(data, (train, valid, test))
    for row, n in enumerate(data.by_user.row_lengths.tolist()):
        wanted = max(1, int(n * 0.1 + 1e-9))
        to_test = min(wanted, n - 1) if n else 0
        to_valid = min(wanted, n - 1 - to_test) if n else 0
        got = [int(part.by_user.row_lengths[row]) for part in (train, valid, test)]
        assert got == [n - to_test - to_valid, to_valid, to_test]


def test_small_users_are_tested_while_train_keeps_one():
    users = [1] + [2] * 2 + [3] * 3 + [20] * 20 + [29] * 29
    data = Interactions.from_arrays(users, range(len(users)))
    parts = data.split(random_state=3)
    lengths = np.stack([part.by_user.row_lengths for part in parts], axis=1).tolist()
    assert lengths == [[1, 0, 0], [1, 0, 1], [1, 1, 1], [16, 2, 2], [25, 2, 2]]


def test_split_is_the_same_on_every_machine():
    """The keys are SplitMix64's published first outputs; another order would give users another split."""
    assert random_keys(3, 0).tolist() == [16294208416658607535, 7960286522194355700, 487617019471545679]
    data = Interactions.from_arrays([0] * 10, range(10))
    _, valid, test = data.split(random_state=0)
    assert (valid.by_user.indices.tolist(), test.by_user.indices.tolist()) == ([4], [2])


def test_split_does_not_depend_on_the_order_of_the_rows():
    data = planted(50, 40, interactions=400)
    frame = data.to_frame()
    order = np.random.default_rng(0).permutation(data.nnz)
    columns = [frame[c].to_numpy()[order] for c in ("user", "item")]
    again = Interactions.from_arrays(*columns, timestamps=frame["timestamp"].to_numpy()[order])
    for seed in (0, 1):
        assert all(a == b for a, b in zip(data.split(random_state=seed), again.split(random_state=seed), strict=True))
    assert data.split(random_state=0)[2] != data.split(random_state=1)[2]


def test_every_interaction_is_equally_likely_to_be_tested():
    data = Interactions.from_arrays([0] * 20, range(20))
    counts = np.zeros(20)
    for seed in range(2000):
        counts[data.split((0.5, 0.5), random_state=seed)[1].by_user.indices] += 1
    chi2 = ((counts - 1000) ** 2 / (1000 * 0.5)).sum() * 19 / 20
    assert chi2 < 43.8  # the 99.9 % point of χ² with 19 degrees of freedom


@given(LOGS, st.integers(0, 3), st.integers(0, 3))
def test_last_split_takes_the_latest(log, n_valid, n_test):
    data = from_log(log)
    train, valid, test = data.split_last(valid=n_valid, test=n_test)
    assert_partition(data, (train, valid, test))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_leakage(train, valid, test, order="user") == []
    lengths = data.by_user.row_lengths
    np.testing.assert_array_equal(test.by_user.row_lengths, np.minimum(n_test, np.maximum(lengths - 1, 0)))
    assert np.all(train.by_user.row_lengths[lengths > 0] >= 1)


@given(LOGS)
def test_time_split_cuts_at_moments(log):
    data = from_log(log)
    try:
        parts = data.split_time((0.6, 0.2, 0.2))
    except DataError:
        return  # too few moments for three parts
    assert_partition(data, parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_leakage(*parts, order="global") == []


def test_time_split_at_given_moments_and_dates():
    data = Interactions.from_arrays([1, 1, 2], [1, 2, 3], timestamps=[10, 20, 30])
    train, test = data.split_time(at=[20])
    assert (train.timestamps.tolist(), test.timestamps.tolist()) == ([10], [20, 30])
    days = np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[D]")
    dated = Interactions.from_arrays([1, 1], [1, 2], timestamps=days)
    assert dated.split_time(at=["2020-01-15"])[1].nnz == 1
    for bad in ([], [1, 2, 3], [30, 20], ["soon"]):
        with pytest.raises(ParameterError):
            data.split_time(at=bad)


@given(LOGS, st.integers(0, 1000))
def test_user_split_keeps_users_apart(log, seed):
    data = from_log(log)
    try:
        train, valid, test = data.split_users((0.6, 0.2, 0.2), fold_in=0.5, random_state=seed)
    except DataError:
        return  # too few users
    sides = [
        pairs_of(train),
        pairs_of(valid.seen) | pairs_of(valid.target),
        pairs_of(test.seen) | pairs_of(test.target),
    ]
    users = [{u for u, _ in side} for side in sides]
    assert sum(map(len, users)) == len(set().union(*users))
    known = {i for _, i in sides[0]}
    assert all(i in known for side in sides[1:] for _, i in side)
    for held in (valid, test):
        assert not pairs_of(held.seen) & pairs_of(held.target)
        shown, hidden = held.seen.by_user.row_lengths, held.target.by_user.row_lengths
        assert np.all(shown[hidden > 0] >= 1)


@pytest.mark.parametrize("ratios", [(1.0,), (0.5, 0.4), (0.9, 0.2, -0.1), (0, 0.5, 0.5), (0.7, 0.1, 0.1, 0.1)])
def test_ratios_must_be_shares(ratios):
    with pytest.raises(ParameterError):
        Interactions.from_arrays([1], [1]).split(ratios)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", 2**64])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(ParameterError, match=r"seed|random_state"):
        Interactions.from_arrays([1], [1]).split(random_state=seed)


def test_splits_by_time_need_times():
    data = Interactions.from_arrays([1], [1])
    for split in (data.split_last, data.split_time):
        with pytest.raises(DataError, match="needs timestamps"):
            split()


def test_leakage_is_found_and_named():
    train = Interactions.from_arrays([1, 2], [7, 8], timestamps=[10, 20])
    test = Interactions.from_arrays([1, 2], [7, 9], timestamps=[15, 5])
    overlap = "1 (user, item) pairs are in train and in test, such as (1, 7)"
    for order, message in [
        ("any", overlap),
        ("global", "2 events of test happened before the last event of train"),
        ("user", "1 users have an event of test before their last of train"),
    ]:
        with pytest.warns(LeakageWarning) as caught:
            leaks = check_leakage(train, test, order=order)
        assert [str(w.message) for w in caught] == leaks
        assert leaks[0].startswith(overlap)
        assert leaks[-1].startswith(message)


def test_leakage_in_time_is_looked_for_where_there_are_times():
    train = Interactions.from_arrays([1, 2], [7, 8], timestamps=[10, 20])
    test = Interactions.from_arrays([1, 2], [8, 9], timestamps=[15, 5])
    with pytest.warns(LeakageWarning):
        leaks = check_leakage(train, test)
    assert [leak.split(" before")[0] for leak in leaks] == [
        "1 users have an event of test",
        "2 events of test happened",
    ]
    assert check_leakage(train, test, order="any") == []
    assert check_leakage(train, Interactions.from_arrays([1, 2], [8, 9])) == []
    assert check_leakage(train, Interactions.from_arrays([1, 2], [8, 9], timestamps=[21, 22])) == []


def test_leakage_checks_say_when_they_cannot_check():
    bare, timed = Interactions.from_arrays([1], [1]), Interactions.from_arrays([1], [2], timestamps=[3])
    with pytest.raises(DataError, match="times of one kind"):
        check_leakage(bare, timed, order="global")
    for arguments, options in (((bare, timed), {"order": "time"}), ((bare,), {}), ((), {})):
        with pytest.raises(ParameterError):
            check_leakage(*arguments, **options)


def test_time_splits_with_nothing_to_hold_out():
    data = Interactions.from_arrays([1, 1, 2], [1, 2, 3], timestamps=[10, 20, 30])
    assert [part.nnz for part in data.split_time((1.0, 0.0))] == [3, 0]
    assert [part.nnz for part in data.split_time((0.5, 0.0, 0.5))] == [1, 0, 2]
    with pytest.raises(ParameterError):
        data.split_time(at=[np.inf])
    with pytest.raises(ParameterError, match="is not a list"):
        data.split(0.8)


@pytest.mark.parametrize("way", ["split", "split_last", "split_users"])
def test_seed_is_the_older_name_of_random_state(way):
    data = planted(60, 30, interactions=600, random_state=1)
    data = replace(data, timestamps=np.zeros(data.nnz, dtype=np.int64))  # all at one moment: the order is random
    split = getattr(data, way)
    assert split(seed=5) == split(random_state=5)
    assert split(seed=5) != split()
