"""What is hidden, against plain sets of ids."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.data import CSR, Interactions
from taylorank.errors import DataError
from taylorank.ranking import evaluate, recommend
from taylorank.ranking.lists import ranked_scores
from taylorank.ranking.masks import Hidden
from taylorank.ranking.rows import select_entries, take_rows


def pairs(users, items, *, least=1):
    return st.sets(st.tuples(st.integers(0, users - 1), st.integers(0, items - 1)), min_size=least, max_size=30)


def interactions(chosen, *, text):
    name = (lambda n: f"n{n:02}") if text else (lambda n: n)
    return Interactions.from_arrays([name(u) for u, _ in chosen], [name(i) for _, i in chosen])


def rows_as_sets(rows):
    return [set(rows.indices[rows.indptr[x] : rows.indptr[x + 1]].tolist()) for x in range(rows.n_rows)]


@given(pairs(6, 8), st.lists(pairs(9, 12), max_size=3), st.lists(st.integers(0, 5)), st.booleans())
def test_hidden_rows_are_the_union_of_the_masks_by_id(table, seen, masks, users, text):
    data = interactions(sorted(seen), text=text)
    model = table(data, np.zeros((data.n_users, data.n_items), dtype=np.float32)).ranker
    parts = [data, *(interactions(sorted(mask), text=text) for mask in masks)]
    chosen = np.array([u for u in users if u < data.n_users], dtype=np.int64)
    rows = Hidden(model, parts).of(chosen)
    by_id = {u: set() for u in data.user_ids.tolist()}
    for part in parts:
        for u in by_id.keys() & set(part.user_ids.tolist()):
            by_id[u] |= set(part.items_of(u).tolist())
    expected = [set(data.items.positions(by_id[u])) - {-1} for u in data.users.take(chosen).tolist()]
    assert rows_as_sets(rows) == expected
    assert rows.nnz == sum(map(len, expected))
    assert all(np.all(np.diff(rows.indices[a:b]) > 0) for a, b in itertools.pairwise(rows.indptr))


@given(pairs(7, 5), st.lists(st.integers(-1, 6)), st.booleans())
def test_rows_are_taken_in_any_order(chosen, wanted, in_a_row):
    lengths = np.bincount([u for u, _ in chosen], minlength=7)
    columns = np.array([i for _, i in sorted(chosen)], dtype=np.int32)
    data = CSR(np.concatenate(([0], np.cumsum(lengths))), columns, columns * np.float32(2), 5)
    wanted = np.arange(2, 6) if in_a_row else np.array(wanted, dtype=np.int64)
    rows = take_rows(data, wanted)
    expected = [{i for u, i in chosen if u == row} for row in wanted]
    assert rows_as_sets(rows) == expected
    assert rows.weights.tolist() == (2 * rows.indices).tolist()
    kept = select_entries(rows, rows.indices != 3)
    assert rows_as_sets(kept) == [row - {3} for row in expected]


def test_no_masks_hide_nothing(table):
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = table(train, np.ones((2, 2), dtype=np.float32)).ranker
    assert Hidden(model, []).of(np.array([0, 1])) is None
    assert ranked_scores(model, Hidden(model, [train]))(np.array([1])).tolist() == [[1.0, -np.inf]]
    assert recommend(model, [1], 2, seen=[])[0].tolist() == [[1, 2]]


def test_users_of_a_mask_need_not_be_known_to_the_model(table):
    train = Interactions.from_arrays(["ann", "bob"], ["x", "y"])
    model = table(train, np.ones((2, 2), dtype=np.float32)).ranker
    more = Interactions.from_arrays(["eve", "eve", "ann"], ["y", "z", "y"])
    hidden = Hidden(model, [train, more])
    assert rows_as_sets(hidden.of_ids(np.array(["eve", "ann", "zoe"], dtype=object))) == [{1}, {0, 1}, set()]
    assert Hidden(model, []).of_ids(np.array(["eve"], dtype=object)) is None


def test_masks_of_another_id_type_are_refused(table):
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = table(train, np.zeros((2, 2), dtype=np.float32))
    texts = Interactions.from_arrays(["1", "2"], ["1", "2"])
    for call in (lambda: evaluate(model, train, seen=texts), lambda: recommend(model, [1], 1, seen=texts)):
        with pytest.raises(DataError, match="the model's user ids are integers, those of `seen` text"):
            call()
    assert recommend(model, [1], 2, seen=[train, Interactions.from_arrays([1], [2])])[0].tolist() == [[-1, -1]]
    assert evaluate(model, train, k=np.int64(1), seen=[])
