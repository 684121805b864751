"""The whole evaluation against implicit's, where it is installed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from taylorank.data import planted
from taylorank.ranking import evaluate


@pytest.mark.parametrize("k", [3, 10])
def test_implicit_agrees_where_the_definitions_do(k, table):
    als = pytest.importorskip("implicit.cpu.als")
    from implicit.evaluation import ranking_metrics_at_k

    train, _, test = planted(300, 80, interactions=6000, random_state=0).split()
    rng = np.random.default_rng(0)
    users, items = (rng.standard_normal((n, 8)).astype(np.float32) for n in (300, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # advice on BLAS threads
        peer = als.AlternatingLeastSquares(factors=8)
    peer.user_factors, peer.item_factors = users, items
    matrices = [sparse.csr_matrix(part.matrix, copy=True) for part in (train, test)]
    theirs = ranking_metrics_at_k(peer, *matrices, K=k, show_progress=False)
    ours = evaluate(table(train, users @ items.T), test, k=k, metrics=("precision_min", "map_min", "ndcg"))
    for name, value in (("precision_min", "precision"), ("map_min", "map"), ("ndcg", "ndcg")):
        assert ours[f"{name}@{k}"] == pytest.approx(theirs[value], abs=1e-6)
