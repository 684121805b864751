"""RG² solved three ways, and its loss by enumeration: all must agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from dense_rg import dense_parts, random_data

from taylorank.data import planted
from taylorank.objectives import RG2Objective, RGXObjective, rg_objective
from taylorank.solvers import solve_als, solve_spectral
from taylorank.solvers.spectral import scaled_matrix

CASES = [(0.0, 1.0), (0.8, 1.2), (1.0, 1.0), (0.5, 0.0)]


def dense_loss(data, gamma, rho, P, Q, penalty, *, interaction):
    """The formula, cell by cell."""
    _, q, c, s = dense_parts(data, gamma, rho)
    o = P @ Q.T
    loss = 0.0
    for x in range(len(c)):
        inside = (q * (o[x] - s[x]) ** 2).sum() - interaction * (q @ o[x]) ** 2
        loss += c[x] / 2 * inside + 0.5 * penalty * c[x] * (P[x] ** 2).sum()
    return loss + 0.5 * penalty * c.sum() * (q * (Q**2).sum(axis=1)).sum()


@pytest.mark.parametrize(("gamma", "rho"), CASES)
def test_targets_are_centred_and_the_matrix_is_theirs(gamma, rho):
    data = random_data(0)
    _, q, c, s = dense_parts(data, gamma, rho)
    np.testing.assert_allclose(s @ q, 0, atol=1e-12)
    objective = rg_objective(RG2Objective, data, proposal_exponent=gamma, context_exponent=rho, dtype=np.float64)
    expected = np.sqrt(c)[:, None] * s * np.sqrt(q)
    np.testing.assert_allclose(scaled_matrix(objective).apply(np.eye(data.n_items)), expected, atol=1e-10)
    np.testing.assert_allclose(scaled_matrix(objective).apply_transposed(np.eye(data.n_users)), expected.T, atol=1e-10)
    assert objective.squared_norm == pytest.approx((expected**2).sum())


@pytest.mark.parametrize(("gamma", "rho"), CASES)
@pytest.mark.parametrize(("kind", "interaction"), [(RG2Objective, 0), (RGXObjective, 1)])
def test_losses_agree_with_enumeration(gamma, rho, kind, interaction):
    data = random_data(1)
    rng = np.random.default_rng(2)
    P, Q = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    objective = rg_objective(kind, data, proposal_exponent=gamma, context_exponent=rho, dtype=np.float64)
    expected = dense_loss(data, gamma, rho, P, Q, 0.3, interaction=interaction)
    assert objective.loss(P, Q, regularization=0.3) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("gamma", "rho"), CASES)
@pytest.mark.parametrize("regularization", [0.0, 0.2, 0.6])
def test_spectral_als_and_a_dense_svd_agree(gamma, rho, regularization):
    data = random_data(3)
    objective = rg_objective(RG2Objective, data, proposal_exponent=gamma, context_exponent=rho, dtype=np.float64)
    _, q, c, s = dense_parts(data, gamma, rho)
    U, sigma, Vt = np.linalg.svd(np.sqrt(c)[:, None] * s * np.sqrt(q), full_matrices=False)
    kept = np.maximum(sigma[:5] - regularization * sigma[0], 0)
    oracle = np.divide((U[:, :5] * kept) @ Vt[:5], np.sqrt(c)[:, None], where=c[:, None] > 0, out=np.zeros_like(s))
    oracle /= np.sqrt(q)

    path = solve_spectral(objective, 5, tolerance=0)
    P, Q = path.factors(5, regularization)
    np.testing.assert_allclose(P @ Q.T, oracle, atol=1e-9 * np.abs(oracle).max())
    penalty = path.penalty(regularization)
    P2, Q2 = solve_als(objective, 5, penalty=penalty, sweeps=4000, tolerance=0)
    np.testing.assert_allclose(P2 @ Q2.T, oracle, atol=1e-6 * np.abs(oracle).max())
    best = objective.loss(P, Q, regularization=penalty)
    assert objective.loss(P2, Q2, regularization=penalty) == pytest.approx(best, rel=1e-9)
    for scale in (0.9, 1.1):  # it is a minimum
        assert objective.loss(scale * P, Q, regularization=penalty) > best
    # and the balanced one: both sides carry the same weight of the penalty
    users, items = (c @ (P**2).sum(axis=1)), c.sum() * (q @ (Q**2).sum(axis=1))
    assert users == pytest.approx(items)


def test_rgx_has_the_same_solution():
    data = random_data(4)
    rg2 = rg_objective(RG2Objective, data, proposal_exponent=0.7, context_exponent=1, dtype=np.float64)
    rgx = rg_objective(RGXObjective, data, proposal_exponent=0.7, context_exponent=1, dtype=np.float64)
    P, Q = solve_spectral(rg2, 4, tolerance=0).factors(4, 0.1)
    np.testing.assert_allclose(rg2.proposal @ (P @ Q.T).T, 0, atol=1e-10)
    assert rgx.loss(P, Q) == pytest.approx(rg2.loss(P, Q))
    rng = np.random.default_rng(0)
    for _ in range(20):  # no small step lowers either loss
        dP, dQ = 1e-3 * rng.standard_normal(P.shape), 1e-3 * rng.standard_normal(Q.shape)
        penalty = solve_spectral(rg2, 4, tolerance=0).penalty(0.1)
        for objective in (rg2, rgx):
            here = objective.loss(P, Q, regularization=penalty)
            assert objective.loss(P + dP, Q + dQ, regularization=penalty) > here


def test_als_lowers_the_loss_every_sweep_and_reports_it():
    data = planted(300, 120, interactions=4000)
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.5, context_exponent=1.0)
    sweeps = []
    P, Q = solve_als(objective, 8, penalty=1e-3, sweeps=12, tolerance=0, callback=sweeps.append)
    losses = [s.loss for s in sweeps]
    assert len(losses) == 12
    assert all(b <= a + 1e-6 * abs(a) for a, b in itertools.pairwise(losses))
    assert losses[-1] == pytest.approx(objective.loss(P, Q, regularization=1e-3), rel=1e-4)
    assert len({s.seconds for s in sweeps}) > 1


def test_a_larger_sparse_problem_converges_to_lapack():
    data = planted(700, 500, interactions=12_000, seed=3)
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.8, context_exponent=1.2, dtype=np.float64)
    matrix = scaled_matrix(objective)
    exact = np.linalg.svd(matrix.apply(np.eye(500)), compute_uv=False)
    seen = []
    path = solve_spectral(objective, 40, tolerance=1e-6, callback=seen.append)
    assert path.svd.converged
    np.testing.assert_allclose(path.svd.values, exact[:40], rtol=1e-6)
    assert path.svd.residuals.max() <= 1e-6
    assert [p.passes for p in seen] == sorted({p.passes for p in seen})
    for vectors in (path.svd.left, path.svd.right):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(40), atol=1e-6)
    early = solve_spectral(objective, 40, tolerance=1e-6, max_passes=3)
    assert not early.svd.converged
    assert early.svd.passes <= 3


def test_the_transposed_problem_is_the_same_problem():
    data = planted(60, 300, interactions=2500, seed=1)
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.4, context_exponent=1.0, dtype=np.float64)
    values = solve_spectral(objective, 10, tolerance=0).svd.values
    exact = np.linalg.svd(scaled_matrix(objective).apply(np.eye(300)), compute_uv=False)
    np.testing.assert_allclose(values, exact[:10], rtol=1e-9)
