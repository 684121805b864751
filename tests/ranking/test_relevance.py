from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from taylorank.data import CSR, Interactions
from taylorank.ranking import relevance as module
from taylorank.ranking.relevance import contains, relevance


def rows_of(table):
    matrix = sparse.csr_array(table)
    return CSR(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), None, table.shape[1])


@given(hnp.arrays(bool, (5, 7)), hnp.arrays(np.int64, (5, 4), elements=st.integers(-1, 6)))
def test_all_ways_to_look_columns_up_agree_with_a_table(table, wanted):
    expected = np.take_along_axis(table, np.maximum(wanted, 0), axis=1) & (wanted >= 0)
    rows = rows_of(table)
    for height in (1, 2, 5, 100):
        np.testing.assert_array_equal(module._by_table(rows, wanted, height), expected)
    np.testing.assert_array_equal(module._by_search(rows, wanted), expected)
    np.testing.assert_array_equal(module._by_comparison(rows, wanted), expected)


def test_a_large_catalogue_is_searched():
    width = module.TABLE_CELLS
    rows = CSR(np.array([0, 2, 2]), np.array([5, width - 1], dtype=np.int32), None, width)
    assert contains(rows, np.array([[5, width - 1, -1], [5, 6, 7]])).tolist() == [[True, True, False], [False] * 3]


def test_gains_are_found_by_id_and_the_ideal_counts_unknown_items(table):
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    model = table(train, np.zeros((2, 2), dtype=np.float32))
    test = Interactions.from_arrays(["b", "b", "b", "a"], ["x", "w", "zebra", "y"], strengths=[2, 3, 5, 1])
    truth = relevance(model.ranker, test, "strength")
    judged = truth.judge(slice(0, 2), np.array([[1, 0], [0, -1]]), 3)
    assert judged.hits.tolist() == [[True, False, False], [True, False, False]]
    assert judged.gains.tolist() == [[1.0, 0, 0], [2.0, 0, 0]]
    assert judged.ideal.tolist() == [[1.0, 0, 0], [5.0, 3.0, 2.0]]
    assert judged.relevant.tolist() == [1, 3]
    assert truth.unknown_items == 2
    one = truth.judge(slice(1, 2), np.array([[0]]), 1)
    assert one.ideal.tolist() == [[5.0]]
