import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend, pair_products, reference


def rows_of(matrix):
    matrix = sparse.csr_array(matrix.astype(np.float32))
    return CSR(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, matrix.shape[1])


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 30)),
    lists=st.tuples(st.integers(0, 7), st.integers(0, 12)),
    threads=st.sampled_from([1, 2, 5]),
    seed=st.integers(0, 99),
)
def test_squares_of_the_gram_matrix(shape, lists, threads, seed):
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal(shape) * (rng.random(shape) < rng.random())
    items = rng.integers(0, shape[0], lists)  # an item twice in a list too
    gram = (dense @ dense.T).astype(np.float32)
    found = pair_products(rows_of(dense), items, num_threads=threads)
    np.testing.assert_allclose(found, gram[items[:, :, None], items[:, None, :]], atol=1e-4)
    np.testing.assert_allclose(found, reference.pair_products(rows_of(dense), items), atol=1e-5)


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    dense = rng.random((200, 300)) * (rng.random((200, 300)) < 0.1)
    items = rng.integers(0, 200, (500, 20))
    one, many = (pair_products(rows_of(dense), items, num_threads=threads) for threads in (1, 7))
    assert one.tobytes() == many.tobytes()


@given(items=arrays(np.int64, (2, 3), elements=st.integers(-(2**62), 2**62)))
def test_items_that_are_not_there_are_refused(items):
    if backend.native is None:
        pytest.skip("the native kernels are not built")
    rows = rows_of(np.eye(4))
    if ((items >= 0) & (items < 4)).all():
        return
    with pytest.raises(ParameterError, match="not a row"):
        pair_products(rows, items)


def test_columns_that_are_not_there_are_refused():
    bad = CSR(np.array([0, 1]), np.array([7], dtype=np.int32), None, 3)
    with pytest.raises(ParameterError):
        pair_products(bad, np.array([[0]]))
