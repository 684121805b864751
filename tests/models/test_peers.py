"""The conversions of docs/reference/conversions.md: with them, peers solve the same systems as we do."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr


@pytest.fixture(scope="module")
def matrix():
    return sparse.csr_matrix(tr.planted(80, 40, interactions=900, random_state=3).matrix)


def with_items(model, item_factors):
    """Our model as if it had learned the peer's items."""
    other = copy.copy(model)
    other.item_factors_ = np.ascontiguousarray(item_factors, dtype=np.float32)
    return other


@pytest.mark.filterwarnings("ignore")
def test_alpha_of_implicit_is_ours_plus_one(matrix):
    als = pytest.importorskip("implicit.cpu.als")
    peer = als.AlternatingLeastSquares(factors=6, alpha=8.0, regularization=2.0, iterations=3, random_state=0)
    peer.fit(matrix, show_progress=False)
    theirs = np.vstack([peer.recalculate_user(user, matrix[user]) for user in range(80)])
    ours = with_items(tr.WRMF(factors=6, alpha=7.0, regularization=2.0, iterations=1).fit(matrix), peer.item_factors)
    np.testing.assert_allclose(ours.fold_in(matrix).user_factors, theirs, rtol=2e-3, atol=1e-4)
    for user, item in ((0, 3), (41, 17)):
        total, top, _ = peer.explain(user, matrix, item, N=5)
        why = ours.explain(user, item, n=5)
        assert why.score == pytest.approx(total, rel=1e-3)
        np.testing.assert_allclose(why.contributions, [value for _, value in top], rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_ials_has_the_parameters_of_irspack_under_other_names(matrix):
    irspack = pytest.importorskip("irspack")
    peer = irspack.IALSRecommender(
        matrix, n_components=6, alpha0=0.2, reg=0.05, nu=0.7, solver_type="CHOLESKY", train_epochs=3
    ).learn()
    ours = tr.IALS(factors=6, unobserved_weight=0.2, regularization=0.05, nu=0.7, iterations=1).fit(matrix)
    theirs = peer.compute_user_embedding(matrix)
    np.testing.assert_allclose(
        with_items(ours, peer.get_item_embedding()).fold_in(matrix).user_factors, theirs, rtol=2e-3, atol=1e-4
    )
