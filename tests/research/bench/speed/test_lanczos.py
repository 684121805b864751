"""Block Lanczos against LAPACK and against the filtered subspace iteration."""

from __future__ import annotations

import numpy as np
import pytest

from research.bench.speed.lanczos import lanczos_svd
from taylorank.data import CSR, planted
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers import truncated_svd
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.spectral import scaled_matrix


def problem(n_users, n_items, dtype, seed=3):
    data = planted(n_users, n_items, interactions=20 * n_users, seed=seed)
    return scaled_matrix(rg_objective(RG2Objective, data, proposal_exponent=0.8, context_exponent=1.2, dtype=dtype))


@pytest.mark.parametrize(("n_users", "n_items"), [(900, 500), (500, 900)])
@pytest.mark.parametrize(("dtype", "tolerance", "accuracy"), [(np.float64, 1e-6, 1e-6), (np.float32, 1e-3, 1e-4)])
def test_it_agrees_with_lapack(n_users, n_items, dtype, tolerance, accuracy):
    matrix = problem(n_users, n_items, dtype)
    exact = np.linalg.svd(matrix.apply(np.eye(n_items, dtype=dtype)), compute_uv=False)
    svd = lanczos_svd(matrix, 40, tolerance=tolerance, block=8)
    assert svd.converged
    assert svd.passes > 3  # more than a basis of 88 columns holds: it took a restart
    np.testing.assert_allclose(svd.values, exact[:40], rtol=accuracy)
    assert svd.residuals.max() <= 1.1 * tolerance
    errors = [
        matrix.apply(svd.right) - svd.left * svd.values,
        matrix.apply_transposed(svd.left) - svd.right * svd.values,
    ]
    residual = np.max([np.linalg.norm(error, axis=0) for error in errors], axis=0) / svd.values[0]
    np.testing.assert_allclose(residual, svd.residuals, atol=50 * np.finfo(dtype).eps)
    for vectors in (svd.left, svd.right):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(40), atol=max(10 * tolerance, 1e-5))


def test_to_machine_precision_it_is_the_other_solver():
    matrix = problem(900, 500, np.float64)
    ours, theirs = lanczos_svd(matrix, 10, tolerance=0, block=4), truncated_svd(matrix, 10, tolerance=0)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)
    np.testing.assert_allclose(np.abs(ours.right.T @ theirs.right), np.eye(10), atol=1e-6)
    again = lanczos_svd(matrix, 10, tolerance=0, block=4)
    assert again.right.tobytes() == ours.right.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fewer_directions_than_asked_for(dtype):
    """Rank 6, of which one is projected out: the rest of the values are zero, and nothing is not a number."""
    rng = np.random.default_rng(0)
    kind = np.sort(rng.integers(0, 6, 400))  # every row holds one of six columns out of 300
    rows = CSR(np.arange(401), (50 * kind).astype(np.int32), np.ones(400, dtype=dtype), 300)
    b = np.zeros(300, dtype=dtype)
    b[0] = 1.0
    a = (kind == 0).astype(dtype)
    svd = lanczos_svd(CentredMatrix(rows, rows.transpose(), a, b), 12, tolerance=1e-4, block=4)
    counts = np.sort(np.bincount(kind)[1:])[::-1]
    np.testing.assert_allclose(svd.values[:5], np.sqrt(counts), rtol=1e-4)
    np.testing.assert_allclose(svd.values[5:], 0, atol=1e-2)
    assert np.isfinite(svd.left).all()
    assert np.isfinite(svd.right).all()


def test_small_problems_go_to_the_other_solver():
    matrix = problem(120, 60, np.float64)
    exact = np.linalg.svd(matrix.apply(np.eye(60)), compute_uv=False)
    np.testing.assert_allclose(lanczos_svd(matrix, 20, tolerance=1e-8).values, exact[:20], rtol=1e-8)
