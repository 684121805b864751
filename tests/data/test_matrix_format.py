"""Matrices whose arrays do not fit together: refused in one line, where SciPy would read and write outside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import taylorank as tr
from taylorank.data import Ids, Interactions
from taylorank.errors import DataError, TaylorankError

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dia", "dok")


def matrix(layout="csr"):
    return sparse.random_array((6, 3), density=0.6, format=layout, rng=np.random.default_rng(0))


def refused(odd):
    with pytest.raises(DataError, match=f"the {odd.format} matrix is malformed") as raised:
        Interactions.from_matrix(odd)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("position", [10**8, -1, 7])
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_positions_outside(layout, position):
    odd = matrix(layout)
    odd.indices[2] = position
    refused(odd)


@pytest.mark.parametrize(("place", "pointer"), [(1, 10**6), (1, -5), (-1, 10**6), (-1, 1), (0, 3)])
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_pointers_that_lead_astray(layout, place, pointer):
    odd = matrix(layout)
    odd.indptr[place] = pointer
    refused(odd)


def test_arrays_of_other_types_and_lengths():
    for part, replace in (
        ("data", lambda a: a[:1]),
        ("data", lambda a: a.astype(object)),
        ("indices", lambda a: a.astype(float)),
        ("indices", lambda a: a[:1]),
        ("indptr", lambda a: a[:-2]),
        ("indptr", lambda a: a.astype(np.uint32)),
    ):
        odd = matrix()
        setattr(odd, part, replace(getattr(odd, part)))
        refused(odd)


def test_the_other_layouts():
    outside, longer, elsewhere, diagonals = matrix("coo"), matrix("lil"), matrix("lil"), matrix("dia")
    outside.coords[0][0] = 10**7
    longer.data[0] = [1.0] * 50
    elsewhere.rows[0], elsewhere.data[0] = [99], [1.0]
    diagonals.offsets = np.arange(9)
    for odd in (outside, longer, elsewhere, diagonals):
        refused(odd)


@pytest.mark.parametrize("layout", FORMATS)
def test_whole_ones_are_read_as_they_are(layout):
    data = Interactions.from_matrix(matrix(layout))
    np.testing.assert_allclose(data.matrix.toarray(), matrix().toarray(), rtol=1e-6)


def test_a_false_claim_of_order_is_not_believed():
    odd = sparse.csr_array((np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    odd.has_canonical_format = True
    np.testing.assert_array_equal(Interactions.from_matrix(odd).matrix.toarray(), [[1, 0, 1], [0, 2, 0]])


def test_what_stands_behind_the_last_row_is_no_entry():
    whole = matrix()
    longer = matrix()
    longer.indices, longer.data = np.append(longer.indices, 2), np.append(longer.data, np.nan)
    assert Interactions.from_matrix(longer) == Interactions.from_matrix(whole)


@given(st.data())
def test_any_arrays_give_data_or_a_reason(data):
    """Whatever is accepted is what a plain loop over the arrays finds."""
    small = st.integers(-1, 4)
    odd = sparse.csr_array((3, 3))
    odd.indptr = np.array(data.draw(st.lists(small, min_size=4, max_size=4)))
    odd.indices = np.array(data.draw(st.lists(small, max_size=5)), dtype=np.int64)
    odd.data = np.ones(len(odd.indices))
    try:
        found = Interactions.from_matrix(odd).matrix.toarray()
    except TaylorankError:
        return
    expected = np.zeros((3, 3))
    for row in range(3):
        for entry in range(odd.indptr[row], odd.indptr[row + 1]):
            expected[row, odd.indices[entry]] += 1
    np.testing.assert_array_equal(found, expected)


def test_models_and_their_arguments_refuse_them():
    odd = matrix()
    odd.indices[0] = 7
    model = tr.Popularity().fit(matrix())
    for call in (
        lambda: tr.Popularity().fit(odd),
        lambda: model.recommend([0], seen=odd),
        lambda: model.fold_in(odd),
        lambda: tr.evaluate(model, odd),
    ):
        with pytest.raises(DataError, match="position 7 of 3"):
            call()


def test_side_features_are_checked():
    features = pytest.importorskip("taylorank.backbones.features", reason="torch is not installed")
    odd = matrix()
    odd.indices[0] = 7
    for call in (lambda: features.check_features(odd, 6, "item_features"), lambda: features.hash_columns(odd, 4)):
        with pytest.raises(DataError, match="position 7 of 3"):
            call()


@pytest.mark.parametrize(
    ("users", "items", "words"),
    [([0, 5], [0, 1], "user position 5 in row 2 is none of 2"), ([0, -1], [0, 1], "user position -1"),
     ([0, 1], [0, 2**32], "item position 4294967296"), ([0, 1], [0.0, 1.0], "item positions of type float64"),
     ([0, 1], [0], "different length")],
)  # fmt: skip
def test_positions_of_no_id_are_refused(users, items, words):
    with pytest.raises(DataError, match=words):
        Interactions.from_positions((Ids([10, 20]), np.array(users)), (Ids([1, 2, 3]), np.array(items)))


def test_strengths_and_times_of_positions_are_checked():
    users, items = (Ids([10, 20]), np.array([0, 1])), (Ids([1, 2]), np.array([0, 1]))
    with pytest.raises(DataError, match=r"row 2.*finite"):
        Interactions.from_positions(users, items, strengths=np.array([1, np.nan]))
    with pytest.raises(DataError, match="no timestamp in row 1"):
        Interactions.from_positions(users, items, timestamps=np.array([np.nan, 1]))
