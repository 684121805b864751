"""Odd input to every model: it works as its clean equivalent does, or fails in one line with cause and remedy."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from fitted import CLOSED_FORM, small
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, ParameterError, TaylorankError, UnknownIdError
from taylorank.registry import MODELS

pytestmark = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(0)
    cells = (rng.random((12, 9)) < 0.4).astype(np.float64)
    cells[np.arange(12), np.arange(12) % 9] = 1  # every user has an interaction
    return cells


def lists(model, users=range(12)):
    return model.recommend(list(users), n=9)


def same(model, other):
    for got, expected in zip(lists(model), lists(other), strict=True):
        np.testing.assert_array_equal(got, expected)


def refused(action, kind=TaylorankError):
    with pytest.raises(kind) as raised:
        action()
    assert raised.value.cause
    assert raised.value.remedy
    assert "\n" not in str(raised.value)


def has(name, parameter):
    return parameter in inspect.signature(MODELS[name]).parameters


BAD_NUMBERS = [-1.0, np.nan, np.inf, "a", None, True]
BAD_COUNTS = [0, -1, 2.5, np.nan, "8", True]
BAD_PARAMETERS = {
    "factors": [*BAD_COUNTS, None],
    "iterations": [*BAD_COUNTS, None],
    "neighbours": [*BAD_COUNTS, None],
    "max_items": BAD_COUNTS,
    "max_passes": BAD_COUNTS,
    "num_threads": [*BAD_COUNTS, 10.0],
    "random_state": [-1, 2.5, "a"],
    "regularization": BAD_NUMBERS,
    "tolerance": BAD_NUMBERS,
    "alpha": BAD_NUMBERS,
    "unobserved_weight": BAD_NUMBERS,
    "nu": BAD_NUMBERS,
    "shrink": BAD_NUMBERS,
    "beta": [*BAD_NUMBERS, 1.5],
    "score_penalty": BAD_NUMBERS,
    "half_life": [0, -1.0, float("nan"), float("inf"), "x"],
    "popularity_discount": BAD_NUMBERS[1:],
    "negatives": [*BAD_NUMBERS, 0],
    "variant": ["rg3", None],
    "proposal_exponent": BAD_NUMBERS[1:],
    "context_exponent": BAD_NUMBERS[1:],
    "ranking": ["best", None],
    "penalty": ["squared", None],
    "weights": ["drawn", None],
    "solver": ["magic", None],
    "loss": ["magic", None],
    "backbone": ["magic", None],
    "sampler": ["magic"],
    "temperature": [*BAD_NUMBERS[:4], True, 0.0],
    "learning_rate": BAD_NUMBERS,
    "weight_decay": BAD_NUMBERS,
    "epochs": [*BAD_COUNTS, None],
    "batch_size": BAD_COUNTS,
    "optimizer": ["magic", None],
    "schedule": ["magic", None],
    "options": [{"magic": 1}, "magic", 3],
    "precision": ["magic", None],
    "compile": ["yes", None, 2],
    "device": ["magic", None],
    "teacher": [None, "rg2", 3],
    "top": [*BAD_COUNTS, None],
    "sharpness": BAD_NUMBERS,
    "bias": ["yes", None, 2],
    "steps": BAD_COUNTS,
}


def test_parameters_out_of_range(name, dense):
    data = sparse.csr_array(dense)
    for parameter in inspect.signature(MODELS[name]).parameters:
        assert parameter in BAD_PARAMETERS, f"say here what {parameter} must not be"
        for value in BAD_PARAMETERS[parameter]:
            if value is None and getattr(MODELS[name](), parameter) is None:  # left to the data
                continue
            refused(lambda p=parameter, v=value: small(name, **{p: v}).fit(data), ParameterError)


def test_more_factors_than_users_or_items(name, dense):
    """RG refuses what has no solution of that rank; weighted models have one, by their regularization."""
    if not has(name, "factors"):
        pytest.skip("no factors")
    if name in ("rg2", "rgx"):
        refused(lambda: small(name, factors=10).fit(sparse.csr_array(dense)), ParameterError)
        return
    model = small(name, factors=20).fit(sparse.csr_array(dense))
    assert model.item_factors.shape == (9, 20)
    assert np.isfinite(model.scores(np.arange(12))).all()
    if name in CLOSED_FORM:
        refused(lambda: small(name, factors=20, regularization=0.0).fit(sparse.csr_array(dense)), ParameterError)


@pytest.mark.parametrize("matrix", [(0, 0), (0, 5), (3, 0), (3, 3)])
def test_data_without_interactions(name, matrix):
    refused(lambda: small(name, factors=1).fit(sparse.csr_array(matrix)), DataError)
    refused(lambda: small(name).fit([]), DataError)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e300])
def test_strengths_that_are_none(name, value, dense):
    refused(lambda: small(name).fit(sparse.csr_array(np.where(dense > 0, value, 0.0))), DataError)
    refused(lambda: small(name).fit([(1, 2, value)]), DataError)
    fitted = small(name).fit(sparse.csr_array(dense))
    refused(lambda: fitted.fold_in([(1, 2, value)]), DataError)


def test_strengths_that_are_complex(name, dense):
    refused(lambda: small(name).fit(sparse.csr_array(dense.astype(complex))), DataError)


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_strengths_of_any_size_give_finite_scores_or_a_reason(name, scale, dense):
    try:
        model = small(name).fit(sparse.csr_array(dense * scale))
    except ParameterError as error:
        raised = error
    else:
        assert np.isfinite(model.scores(np.arange(12))).all()
        ids, _ = lists(model)
        counts = dense.sum(axis=0)
        popular = [i for i in np.argsort(-counts, kind="stable") if dense[0, i] == 0]
        assert set(ids[0][ids[0] >= 0].tolist()) == set(popular)
        return
    assert raised.remedy


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
def test_types_of_numbers(name, dtype, dense):
    users, items = np.nonzero(dense)
    strengths = np.where(np.arange(len(users)) % 3, 1, 2).astype(dtype)
    plain = small(name).fit(tr.Interactions.from_arrays(users, items, strengths=strengths.astype(float).tolist()))
    same(small(name).fit(tr.Interactions.from_arrays(users, items, strengths=strengths)), plain)
    if dtype != "float16":  # which SciPy does not have
        same(small(name).fit(sparse.csr_array((strengths, (users, items)), shape=(12, 9))), plain)


def test_matrices_of_every_layout(name, dense):
    clean = sparse.csr_array(dense)
    expected = small(name).fit(clean)
    for layout in ("csc", "coo", "lil", "dok", "bsr", "dia"):
        same(small(name).fit(clean.asformat(layout)), expected)
    same(small(name).fit(sparse.csr_matrix(dense)), expected)
    same(small(name).fit(sparse.csr_array(np.asfortranarray(dense))), expected)
    same(small(name).fit(sparse.csr_array(dense[::-1])[::-1]), expected)


def test_rows_out_of_order_with_repeats_and_zeros(name):
    """The same matrix: canonical, and with unsorted columns, an entry in two halves, and a stored zero."""
    rng = np.random.default_rng(2)
    cells = np.where(rng.random((12, 9)) < 0.4, rng.choice([1.0, 2.0], (12, 9)), 0.0)
    cells[3, 4], cells[3, 5] = 2.0, 0.0
    rows, columns = np.nonzero(cells)
    values = cells[rows, columns]
    first = np.flatnonzero((rows == 3) & (columns == 4))[0]
    values[first] = 1.0
    rows, columns, values = (
        np.append(a, more) for a, more in ((rows, [3, 3]), (columns, [4, 5]), (values, [1.0, 0.0]))
    )
    order = np.lexsort((-columns, rows))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=12))))
    odd = sparse.csr_array((values[order], columns[order], indptr), shape=(12, 9))
    assert not odd.has_canonical_format
    before = (odd.data.copy(), odd.indices.copy())
    same(small(name).fit(odd), small(name).fit(sparse.csr_array(cells)))
    np.testing.assert_array_equal(odd.data, before[0])  # the caller's matrix is left alone
    np.testing.assert_array_equal(odd.indices, before[1])


def test_read_only_and_strided_arrays(name, dense):
    clean = sparse.csr_array(dense)
    for array in (clean.data, clean.indices, clean.indptr):
        array.flags.writeable = False
    expected = small(name).fit(sparse.csr_array(dense))
    same(small(name).fit(clean), expected)
    users, items = np.nonzero(dense)
    pairs = np.asfortranarray(np.column_stack((users, items)))
    pairs.flags.writeable = False
    for source in (pairs, pairs[::1], np.repeat(pairs, 2, axis=0)[::2]):
        same(small(name).fit(source), small(name).fit(tr.Interactions.from_arrays(users, items)))


def test_a_dense_matrix_is_not_taken_for_pairs(name, dense):
    for array in (dense, np.asfortranarray(dense)):
        with pytest.raises(DataError, match=r"scipy\.sparse\.csr_array"):
            small(name).fit(array)


def test_what_is_no_data(name):
    for source in (None, 3, "nowhere.csv", object(), sparse.coo_array(np.array([1.0, 0.0]))):
        refused(lambda s=source: small(name).fit(s), DataError)


def test_repeated_pairs_and_ids_count_once(name, dense):
    users, items = np.nonzero(dense)
    once = tr.Interactions.from_arrays(users, items)
    twice = tr.Interactions.from_arrays(np.tile(users, 2), np.tile(items, 2))
    model = small(name).fit(twice)
    same(model, small(name).fit(once))
    ids, scores = model.recommend([3, 3, 3], n=4)
    assert ids[0].tolist() == ids[1].tolist() == ids[2].tolist()
    assert scores[0].tolist() == scores[2].tolist()


def test_empty_rows_and_columns_change_nothing_else(name, dense):
    """Two users and an item without interactions, in the middle: others get the lists they got without them.

    Exactly so where the model has no term over all users or all items; elsewhere such a term sees the empty ones.
    """
    wide = np.zeros((14, 10))
    rows, columns = np.delete(np.arange(14), [2, 7]), np.delete(np.arange(10), [5])
    wide[np.ix_(rows, columns)] = dense
    model, plain = small(name).fit(sparse.csr_array(wide)), small(name).fit(sparse.csr_array(dense))
    assert np.isfinite(model.scores(np.arange(14))).all()
    ids, _ = lists(model, range(14))
    for row, user in enumerate(rows.tolist()):
        found = [i for i in ids[user].tolist() if i >= 0 and (i != 5)]
        assert sorted(found) == sorted(columns[dense[row] == 0].tolist())
    if name in ("ease", "itemknn", "popularity"):
        expected, _ = lists(plain)
        for row, user in enumerate(rows.tolist()):
            found = [i for i in ids[user].tolist() if i >= 0 and i != 5]
            assert found == [columns[i] for i in expected[row].tolist() if i >= 0]


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1)])
def test_one_user_or_one_item(name, shape):
    model = small(name, factors=1).fit(sparse.csr_array(np.ones(shape)))
    assert np.isfinite(model.scores(np.arange(shape[0]))).all()
    assert (lists(model, range(shape[0]))[0] == -1).all()
    ids, _ = model.recommend([0], n=shape[1], seen=[])
    assert sorted(ids[0].tolist()) == list(range(shape[1]))
    if hasattr(model, "similar_items"):
        assert model.similar_items([0], n=3)[0].shape == (1, 3)


def test_unknown_ids(name, dense):
    model = small(name).fit(sparse.csr_array(dense))
    for user in (99, -1, "0", 0.0, np.nan, None, True, 2**70, (0,)):
        refused(lambda u=user: model.recommend([u]), (UnknownIdError, ParameterError))
        refused(lambda u=user: model.explain(u, 0), UnknownIdError)
        refused(lambda u=user: model.explain(0, u), UnknownIdError)
        refused(lambda u=user: model.recommend([0], items=[u]), UnknownIdError)
        for neighbours in ("similar_items", "similar_users"):
            if hasattr(model, neighbours):
                refused(lambda u=user, f=neighbours: getattr(model, f)([u]), UnknownIdError)
        assert model.recommend([0], exclude=[user])[0].tolist() == model.recommend([0])[0].tolist()
    for history in ([(1, 99)], [("a", "b")], [(1, "0")]):
        refused(lambda h=history: model.fold_in(h), ParameterError if name == "neural" else DataError)
    texts = small(name, factors=1).fit([("a", "x"), ("b", "y"), ("a", "y")])
    for user in (0, None, b"a", np.str_("c"), ("a",)):
        refused(lambda u=user: texts.recommend([u]), (UnknownIdError, ParameterError))
    assert texts.recommend(np.array(["a", "b"]))[0].shape == (2, 10)


def test_arguments_that_are_no_lists_or_lengths(name, dense):
    model = small(name).fit(sparse.csr_array(dense))
    for n in (0, -3, 2.5, "3", None, True):
        refused(lambda n=n: model.recommend([0], n), ParameterError)
        if n is not None:
            refused(lambda n=n: model.explain(0, 1, n=n), ParameterError)
        if hasattr(model, "similar_items"):
            refused(lambda n=n: model.similar_items([0], n), ParameterError)
    for users in (0, "abc", None, {0}, {0: 1}, np.int64(0), [[0, 1]], np.zeros((2, 2), dtype=int)):
        refused(lambda u=users: model.recommend(u), ParameterError)
    for items in (3, "ab", {1}):
        refused(lambda i=items: model.recommend([0], items=i), ParameterError)
        refused(lambda i=items: model.recommend([0], exclude=i), ParameterError)
    for seen in (3, dense, [dense], "ab"):
        refused(lambda s=seen: model.recommend([0], seen=s), ParameterError)
        refused(lambda s=seen: tr.evaluate(model, model.seen, seen=s), ParameterError)
    refused(lambda: model.recommend([0], cold="maybe"), ParameterError)
    assert model.recommend([], n=4)[0].shape == (0, 4)
    assert model.recommend([0], n=4, items=[])[0].tolist() == [[-1] * 4]


@pytest.mark.parametrize("kind", [list, tuple, np.array, range, "pandas", "polars"])
def test_lists_of_users_of_every_kind(name, kind, dense):
    model = small(name).fit(sparse.csr_array(dense))
    expected = model.recommend([2, 3, 4])[0].tolist()
    users = range(2, 5)
    if kind == "pandas":
        import pandas as pd

        users = pd.Series([2, 3, 4], index=[9, 8, 7])
    elif kind == "polars":
        import polars as pl

        users = pl.Series([2, 3, 4])
    elif kind is not range:
        users = kind([2, 3, 4])
    assert model.recommend(users)[0].tolist() == expected
