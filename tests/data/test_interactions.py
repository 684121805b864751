from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taylorank.data import Ids, Interactions, planted, share_ids
from taylorank.errors import DataError, UnknownIdError

IDS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.text(max_size=6), min_size=1, max_size=30),
)


def dense_of(users, items, strengths):
    """The obvious way: a dictionary of pairs, the last one winning."""
    pairs = dict(zip(zip(users, items, strict=True), strengths, strict=True))
    rows, columns = sorted(set(users)), sorted(set(items))
    out = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for (u, i), r in pairs.items():
        out[rows.index(u), columns.index(i)] = r
    return rows, columns, out


@given(IDS, IDS, st.data())
def test_from_arrays_agrees_with_a_dictionary(user_pool, item_pool, data):
    n = data.draw(st.integers(1, 40))
    users = data.draw(st.lists(st.sampled_from(user_pool), min_size=n, max_size=n))
    items = data.draw(st.lists(st.sampled_from(item_pool), min_size=n, max_size=n))
    strengths = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 7.25]), min_size=n, max_size=n))
    got = Interactions.from_arrays(users, items, strengths=strengths)
    rows, columns, dense = dense_of(users, items, strengths)
    assert got.user_ids.tolist() == rows
    assert got.item_ids.tolist() == columns
    np.testing.assert_array_equal(got.matrix.toarray(), dense)
    np.testing.assert_array_equal(got.by_item.to_scipy().toarray(), dense.T)


@pytest.mark.parametrize(("policy", "strength", "time"), [("last", 3.0, 30), ("sum", 6.0, 30), ("max", 3.0, 30)])
def test_repeats_with_times_keep_the_latest(policy, strength, time):
    data = Interactions.from_arrays(
        [1, 1, 1], [5, 5, 5], strengths=[1, 3, 2], timestamps=[10, 30, 20], duplicates=policy
    )
    assert data.strengths.tolist() == [strength]
    assert data.timestamps.tolist() == [time]


def test_repeats_without_times_keep_the_last_row_and_sum_counts_rows():
    assert Interactions.from_arrays([1, 1], [5, 5], strengths=[3, 2]).strengths.tolist() == [2.0]
    assert Interactions.from_arrays([1, 1, 1], [5, 5, 6], duplicates="sum").strengths.tolist() == [2.0, 1.0]


def test_equal_times_fall_back_to_the_order_of_the_source():
    data = Interactions.from_arrays([1, 1], [5, 5], strengths=[3, 2], timestamps=[7, 7])
    assert data.strengths.tolist() == [2.0]


def test_it_is_immutable():
    data = Interactions.from_arrays([1], [2], strengths=[3], timestamps=[4])
    for array in (data.by_user.indices, data.by_user.indptr, data.strengths, data.timestamps, data.user_ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    with pytest.raises(AttributeError):
        data.users = Ids([1])


def test_zero_strengths_are_no_interactions():
    data = Interactions.from_arrays([1, 2], [1, 1], strengths=[0, 2])
    assert data.nnz == 1
    assert "strength 0" in repr(data)


def test_binary_strengths_take_no_memory():
    data = Interactions.from_arrays([1, 2], [1, 1], strengths=[1, 1])
    assert data.is_binary
    assert data.strengths.strides == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_bad_strengths_are_refused_by_row(bad):
    with pytest.raises(DataError, match=r"row 2.*finite"):
        Interactions.from_arrays([1, 2], [1, 1], strengths=[1, bad])


@pytest.mark.parametrize(
    ("values", "words"),
    [([1, "a"], "mixed type"), ([1.5, 2.0], "not an id"), ([None, "a"], "missing"), ([True], "not an id"),
     ([2**63], "64 bits"), (np.array([2**63], dtype=np.uint64), "64 bits")],
)  # fmt: skip
def test_strange_ids_are_refused(values, words):
    with pytest.raises(DataError, match=words):
        Interactions.from_arrays(values, [1] * len(values))


def test_large_ids_and_text_are_kept_exactly():
    ids = [2**31 + 7, -5, 2**62]
    data = Interactions.from_arrays(ids, ["007", "7", " 7\0"])
    assert set(data.user_ids.tolist()) == set(ids)
    assert set(data.item_ids.tolist()) == {"007", "7", " 7\0"}
    assert data.items_of(2**31 + 7).tolist() == ["007"]


def test_unknown_ids_say_what_ids_look_like():
    data = Interactions.from_arrays(["a"], [1])
    with pytest.raises(UnknownIdError, match="unknown user 7; ids here are text, such as 'a'"):
        data.items_of(7)
    assert data.items.positions([1, 2, "1", 2**70]).tolist() == [0, -1, -1, -1]


@given(st.lists(st.tuples(st.text(max_size=4), st.integers(0, 9)), min_size=1, max_size=30))
def test_npz_round_trip(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("npz") / "data.npz"
    users, items = zip(*pairs, strict=True)
    data = Interactions.from_arrays(users, items, timestamps=np.arange(len(pairs)), duplicates="sum")
    data.save_npz(path)
    again = Interactions.load_npz(path)
    assert again == data
    assert again.steps == data.steps


def test_npz_keeps_dates_and_truth(tmp_path):
    data = planted(20, 10, interactions=60)
    data.save_npz(tmp_path / "p.npz")
    again = Interactions.load_npz(tmp_path / "p.npz")
    np.testing.assert_array_equal(again.truth.item_bias, data.truth.item_bias)
    dated = Interactions.from_arrays([1], [1], timestamps=np.array(["2020-01-02"], dtype="datetime64[D]"))
    dated.save_npz(tmp_path / "d.npz")
    assert Interactions.load_npz(tmp_path / "d.npz").timestamps.dtype == "datetime64[us]"


def test_npz_is_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(DataError, match="cannot write"):
        Interactions.from_arrays([1], [1]).save_npz(tmp_path / "no" / "such" / "folder.npz")
    assert list(tmp_path.iterdir()) == []


def test_to_frame_gives_the_rows_back():
    data = Interactions.from_arrays(["b", "a"], [2, 1], strengths=[2, 1], timestamps=[5, 6])
    frame = data.to_frame()
    assert frame.columns == ["user", "item", "strength", "timestamp"]
    assert frame.rows() == [("a", 1, 1.0, 6), ("b", 2, 2.0, 5)]
    assert data.to_frame("pandas")["user"].tolist() == ["a", "b"]
    assert data.to_frame("pyarrow").num_rows == 2


def test_matrices_of_any_kind():
    dense = np.array([[0, 2, 0], [1, 0, 0]])
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.dok_array):
        data = Interactions.from_matrix(make(dense))
        np.testing.assert_array_equal(data.matrix.toarray(), dense)
        assert data.user_ids.tolist() == [0, 1]
    unsorted = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    assert Interactions.from_matrix(unsorted).matrix.toarray().tolist() == [[5.0, 0.0, 1.0]]
    with pytest.raises(DataError, match="sparse"):
        Interactions.from_matrix(dense)


def test_a_matrix_wider_than_31_bits_is_refused():
    wide = sparse.coo_array((np.ones(1), (np.array([0]), np.array([2**31]))), shape=(1, 2**31 + 1))
    with pytest.raises(DataError, match="2³¹"):
        Interactions.from_matrix(wide)


def test_share_ids_moves_parts_into_one_space():
    a = Interactions.from_arrays([1, 3], ["x", "z"], strengths=[2, 3], timestamps=[1, 2])
    b = Interactions.from_arrays([2], ["y"])
    a2, b2 = share_ids(a, b)
    assert a2.users is b2.users
    assert a2.matrix.toarray().tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 3]]
    assert b2.matrix.toarray().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert a2.timestamps.tolist() == [1, 2]
    with pytest.raises(DataError, match="integer ids and the other text"):
        share_ids(a, Interactions.from_arrays(["u"], ["x"]))


def test_sharing_with_nothing_keeps_the_ids():
    a, b = share_ids(Interactions.from_arrays([1], [2]), Interactions.from_arrays([], []))
    assert not a.users.is_text
    assert a.to_frame().rows() == [(1, 2, 1.0)]
    assert b.nnz == 0


def test_merged_strengths_must_stay_in_range():
    with pytest.raises(DataError, match=r"strength 1.8e\+30 in row 1 is not between"):
        Interactions.from_arrays([1, 1], [2, 2], strengths=[9e29, 9e29], duplicates="sum")


def test_the_matrix_cannot_be_changed_and_the_callers_ids_can():
    data = Interactions.from_arrays([1], [2])
    with pytest.raises(ValueError, match="read-only"):
        data.matrix.data[:] = 7
    mine = np.array([1, 2, 3])
    Ids(mine)
    mine[0] = 0
    assert Ids(np.array([2**60, 2**60 + 1])).positions(np.array([2**60 + 1], dtype=np.uint64)).tolist() == [1]


@pytest.mark.parametrize(
    "change",
    [
        {"strengths": np.array([np.nan, 1.0], dtype=np.float32)},
        {"strengths": np.array([-1.0, 1.0], dtype=np.float32)},
        {"strengths": np.array([0.0, 1.0], dtype=np.float32)},
        {"strengths": np.array(["a", "b"])},
        {"strengths": np.ones((2, 1), dtype=np.float32)},
        {"timestamps": np.array([np.nan, 1.0])},
        {"timestamps": np.array(["a", "b"])},
        {"users": np.array([[1], [2]])},
        {"indices": np.array([2**32, 0])},
        {"indptr": np.array([0.0, 1.0, 2.0])},
        {"steps": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
    ],
)
def test_npz_with_wrong_content_is_refused(tmp_path, change):
    Interactions.from_arrays([1, 2], [1, 1]).save_npz(tmp_path / "good.npz")
    np.savez(tmp_path / "bad.npz", **{**dict(np.load(tmp_path / "good.npz")), **change})
    with pytest.raises(DataError):
        Interactions.load_npz(tmp_path / "bad.npz")
