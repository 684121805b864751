from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.data import Interactions, read_interactions
from taylorank.errors import DataError, ParameterError

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), min_size=1, max_size=80)


def naive_core(pairs, least_users, least_items):
    """Scan again and again until nothing changes."""
    pairs = set(pairs)
    while True:
        users = [u for u, _ in pairs]
        items = [i for _, i in pairs]
        kept = {(u, i) for u, i in pairs if users.count(u) >= least_users and items.count(i) >= least_items}
        if kept == pairs:
            return pairs
        pairs = kept


def pairs_of(data):
    return set(zip(*(data.to_frame()[c].to_list() for c in ("user", "item")), strict=True))


@given(PAIRS, st.integers(0, 4), st.integers(0, 4))
def test_core_agrees_with_repeated_scans(pairs, least_users, least_items):
    data = Interactions.from_arrays([u for u, _ in pairs], [i for _, i in pairs])
    expected = naive_core(pairs, least_users, least_items)
    if not expected:
        with pytest.raises(DataError, match="removed all"):
            data.core(users=least_users, items=least_items)
        return
    got = data.core(users=least_users, items=least_items)
    assert pairs_of(got) == expected
    assert got.user_ids.tolist() == sorted({u for u, _ in expected})
    assert got.item_ids.tolist() == sorted({i for _, i in expected})


def test_core_follows_long_chains():
    """A path u0-i0-u1-i1-…: its 2-core is empty, and is found by removing one link after the other."""
    n = 2000
    users = np.concatenate((np.arange(n), np.arange(1, n)))
    items = np.concatenate((np.arange(n), np.arange(n - 1)))
    with pytest.raises(DataError, match=r"core\(2\) removed all 3,999 interactions"):
        Interactions.from_arrays(users, items).core(2)


def test_core_keeps_strengths_and_times_with_their_pairs():
    users, items = [1, 1, 2, 2, 3], [1, 2, 1, 2, 9]
    data = Interactions.from_arrays(users, items, strengths=[1, 2, 3, 4, 5], timestamps=[6, 7, 8, 9, 10]).core(2)
    assert data.matrix.toarray().tolist() == [[1, 2], [3, 4]]
    assert data.timestamps.tolist() == [6, 7, 8, 9]
    assert "core(2) removed 1 users, 1 items, 1 interactions" in repr(data)


@pytest.mark.parametrize("arguments", [(), (-1,), (2.5,), (True,)])
def test_core_refuses_what_is_no_count(arguments):
    with pytest.raises(ParameterError):
        Interactions.from_arrays([1], [1]).core(*arguments)


@pytest.mark.parametrize(
    ("name", "min_rating", "k", "counts"),
    [
        ("ml-1m", 3, 5, (6_038, 3_307, 835_789)),
        ("ml-100k", 3, 5, (943, 1_203, 81_697)),
        ("moby-thesaurus", None, 20, (23_040, 35_009, 1_895_603)),
        ("npm-deps-2016", None, 5, (150_792, 17_261, 1_895_512)),
        ("movietweetings", None, 5, (5_973, 3_119, 102_461)),
        ("online-retail", None, 5, (5_537, 4_199, 479_275)),
    ],
)
def test_known_counts_of_real_data(real_data, name, min_rating, k, counts):
    data = read_interactions(real_data / f"{name}.parquet", min_rating=min_rating).core(k)
    assert (data.n_users, data.n_items, data.nnz) == counts
