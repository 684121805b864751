"""Both ways to the SVD against LAPACK, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taylorank.data import CSR, planted
from taylorank.errors import TrainingWarning
from taylorank.models import RG2
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers import filtered, lanczos, truncated_svd
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.spectral import scaled_matrix
from taylorank.solvers.svd import Wanted, whole_svd

COUNT = 180  # of 500
METHODS = {"lanczos": lanczos.solve, "filtered": filtered.solve}


def problem(n_users, n_items, dtype, seed=3):
    data = planted(n_users, n_items, interactions=20 * n_users, seed=seed)
    return scaled_matrix(rg_objective(RG2Objective, data, proposal_exponent=0.8, context_exponent=1.2, dtype=dtype))


def wanted(count, tolerance, *, max_passes=None, start=None, random_state=0, callback=None):
    return Wanted(count, tolerance, max_passes, start, random_state, callback)


def tall(matrix):
    return matrix if matrix.shape[0] >= matrix.shape[1] else matrix.transposed


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n_users", "n_items"), [(900, 500), (500, 900)])
@pytest.mark.parametrize(("dtype", "tolerance", "accuracy"), [(np.float64, 1e-6, 1e-6), (np.float32, 1e-5, 1e-5)])
def test_it_agrees_with_lapack(method, n_users, n_items, dtype, tolerance, accuracy):
    matrix = tall(problem(n_users, n_items, dtype))
    exact = np.linalg.svd(matrix.apply(np.eye(500, dtype=dtype)), compute_uv=False)
    steps = []
    svd = METHODS[method](matrix, wanted(COUNT, tolerance, callback=steps.append))
    assert svd.converged
    assert steps[-1].passes <= svd.passes
    np.testing.assert_allclose(svd.values, exact[:COUNT], rtol=accuracy)
    assert svd.residuals.max() <= 1.1 * tolerance
    errors = [
        matrix.apply(svd.right) - svd.left * svd.values,
        matrix.apply_transposed(svd.left) - svd.right * svd.values,
    ]
    residual = np.max([np.linalg.norm(error, axis=0) for error in errors], axis=0) / svd.values[0]
    np.testing.assert_allclose(residual, svd.residuals, atol=50 * np.finfo(dtype).eps)
    for vectors in (svd.left, svd.right):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(COUNT), atol=max(10 * tolerance, 1e-5))


def test_to_machine_precision_all_ways_lead_to_one_svd():
    matrix = problem(900, 500, np.float64)
    first, second, third = (solve(matrix, wanted(10, 0.0)) for solve in (lanczos.solve, filtered.solve, whole_svd))
    for other in (second, third):
        np.testing.assert_allclose(first.values, other.values, rtol=1e-12)
        np.testing.assert_allclose(np.abs(first.right.T @ other.right), np.eye(10), atol=1e-6)
    again = lanczos.solve(matrix, wanted(10, 0.0))
    assert again.right.tobytes() == first.right.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_kept_state_goes_on_to_the_same_bits(method):
    matrix, states = problem(900, 500, np.float32), []
    whole = METHODS[method](matrix, wanted(COUNT, 0.0, callback=lambda p: states.append(p.state())))
    assert len(states) >= 2
    for state in states[1:]:
        again = METHODS[method](matrix, wanted(COUNT, 0.0, start=state))
        assert again.right.tobytes() == whole.right.tobytes()
        assert again.passes == whole.passes


@pytest.mark.parametrize("seed", range(3))
def test_locked_vectors_do_not_spoil_those_that_follow(seed):
    """Many restarts lock many vectors; the residuals, computed from the vectors, still meet the tolerance."""
    matrix, steps = problem(1500, 900, np.float32, seed), []
    svd = lanczos.solve(matrix, wanted(150, 1e-5, random_state=seed, callback=steps.append))
    assert len(steps) > 3
    assert svd.residuals.max() <= 1e-5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fewer_directions_than_asked_for(method, dtype):
    """Rank 6, of which one is projected out: the rest of the values are zero, and nothing is not a number."""
    rng = np.random.default_rng(0)
    kind = np.sort(rng.integers(0, 6, 400))  # every row holds one of six columns out of 300
    rows = CSR(np.arange(401), (50 * kind).astype(np.int32), np.ones(400, dtype=dtype), 300)
    b = np.zeros(300, dtype=dtype)
    b[0] = 1.0
    a = (kind == 0).astype(dtype)
    svd = METHODS[method](CentredMatrix(rows, rows.transpose(), a, b), wanted(12, 1e-4))
    counts = np.sort(np.bincount(kind)[1:])[::-1]
    np.testing.assert_allclose(svd.values[:5], np.sqrt(counts), rtol=1e-4)
    np.testing.assert_allclose(svd.values[5:], 0, atol=1e-2)
    assert np.isfinite(svd.left).all()
    assert np.isfinite(svd.right).all()


def test_small_problems_are_solved_as_a_whole():
    matrix, passes = problem(120, 60, np.float64), []
    exact = np.linalg.svd(matrix.apply(np.eye(60)), compute_uv=False)
    svd = truncated_svd(matrix, 20, tolerance=1e-8, callback=lambda p: passes.append(p.passes))
    np.testing.assert_allclose(svd.values, exact[:20], rtol=1e-8)
    assert passes == [1]


def power_law(seed=0):
    """A few users and items have most interactions, and a few values are far larger than the rest."""
    rng = np.random.default_rng(seed)
    users, items = (rng.zipf(1.2, 100_000) % size for size in (5000, 3000))
    return sp.csr_array((np.ones(100_000), (users, items)), shape=(5000, 3000))


@pytest.mark.parametrize("tolerance", [0.0, 4e-6, 1e-5])
def test_data_of_a_power_law_end_at_what_precision_allows(tolerance):
    model = RG2(16, tolerance=tolerance).fit(power_law())
    assert model.passes_ < 100
    assert model.residual_ < 1e-4


def test_a_tolerance_that_rounding_does_not_allow_ends_with_a_word():
    """The matrix answers with noise: residuals stop falling, and the fit ends and says so."""

    class Noisy(CentredMatrix):
        def apply(self, block):
            noise = np.random.default_rng(abs(int(1e6 * block[0, 0]))).standard_normal
            exact = CentredMatrix.apply(self, block)
            return exact + (1e-3 * np.abs(exact).max() * noise(exact.shape)).astype(exact.dtype)

    plain = problem(900, 500, np.float32)
    noisy = Noisy(plain.by_row, plain.by_column, plain.left, plain.right)
    with pytest.warns(TrainingWarning, match="rounding leaves no more"):
        svd = lanczos.solve(noisy, wanted(40, 1e-5))
    assert not svd.converged
