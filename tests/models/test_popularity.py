from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import NotFittedError, ParameterError


def test_it_counts_strengths():
    data = tr.Interactions.from_arrays([1, 2, 3], [7, 7, 8], strengths=[1, 2, 5])
    model = tr.Popularity().fit(data)
    assert model.item_counts_.tolist() == [3, 5]
    assert model.recommend([1], n=2)[0].tolist() == [[8, -1]]


def test_it_fits_a_matrix_and_speaks_numbers():
    model = tr.Popularity().fit(sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0]])))
    assert model.recommend([1], n=3)[0].tolist() == [[0, -1, -1]]


def test_items_that_nobody_met_are_not_recommended():
    model = tr.Popularity().fit(sparse.csr_array(np.array([[1, 1, 0, 0], [0, 1, 0, 1]])))
    for lists in (
        model.recommend([0, 1], n=4),
        model.fold_in(sparse.csr_array(np.array([[0, 0, 0, 1]]))).recommend([0], n=4),
        model.recommend([99], n=4, cold="popularity"),
    ):
        assert 2 not in lists[0]
    assert model.recommend([0], n=2, items=[2, 3])[0].tolist() == [[3, -1]]


def test_it_follows_the_conventions():
    model = tr.Popularity()
    assert model.get_params() == {}
    with pytest.raises(NotFittedError, match=r"call fit\(train\) first"):
        model.scores(np.array([0]))
    with pytest.raises(ParameterError, match="no parameter 'depth'"):
        model.set_params(depth=3)
