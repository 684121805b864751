"""RG² and RG× under the plain penalty of Pu et al. 2025, Eq. 31: steps, solutions, and where one SVD is none."""

from __future__ import annotations

import numpy as np
import pytest
from dense_rg import dense_parts, random_data
from scipy import optimize

from taylorank.errors import ParameterError
from taylorank.objectives import RG2Objective, RGXObjective, rg_objective
from taylorank.solvers import solve_als, solve_spectral

KINDS = [RG2Objective, RGXObjective]


def plain(kind, data, gamma, rho):
    return rg_objective(kind, data, proposal_exponent=gamma, context_exponent=rho, penalty="plain", dtype=np.float64)


def printed_loss(r, P, Q, penalty):
    """Eq. 31 cell by cell: Σ_xy I_x (r N / I_x − 1 − o)² + λ (‖P‖² + ‖Q‖²); an empty context has no cells."""
    N, o, loss = r.shape[1], P @ Q.T, 0.0
    for x, total in enumerate(r.sum(axis=1)):
        if total:
            loss += total * ((r[x] * N / total - 1 - o[x]) ** 2).sum()
    return loss + penalty * ((P**2).sum() + (Q**2).sum())


def gradient(loss, point, step=1e-5):
    """Central differences."""
    slopes = np.zeros_like(point)
    for place in np.ndindex(*point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[place] += step
        behind[place] -= step
        slopes[place] = (loss(ahead) - loss(behind)) / (2 * step)
    return slopes


def test_the_loss_is_the_printed_one():
    data = random_data(1)
    rng = np.random.default_rng(2)
    P, Q = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    r = data.matrix.toarray().astype(np.float64)
    objective = plain(RG2Objective, data, 0.0, 1.0)
    expected = printed_loss(r, P, Q, 0.7) / (2 * data.n_items)
    assert objective.loss(P, Q, regularization=0.7) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("gamma", "rho", "penalty"), [(0.0, 1.0, 4.0), (0.7, 1.2, 4.0), (0.7, 1.2, 1.0)])
def test_als_ends_where_the_numeric_gradient_vanishes(kind, gamma, rho, penalty):
    data = random_data(3)
    objective = plain(kind, data, gamma, rho)
    P, Q = solve_als(objective, 4, penalty=penalty, sweeps=3000, tolerance=0)
    scale = abs(gradient(lambda users: objective.loss(users, Q, regularization=penalty), 0.9 * P)).max()
    for side, slopes in (
        ("P", gradient(lambda users: objective.loss(users, Q, regularization=penalty), P)),
        ("Q", gradient(lambda items: objective.loss(P, items, regularization=penalty), Q)),
    ):
        assert abs(slopes).max() < 1e-5 * scale, side
    assert np.square(P).sum() == pytest.approx(np.square(Q).sum())  # the balance that every stationary point has


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("gamma", "rho"), [(0.0, 1.0), (0.8, 0.6)])
def test_als_agrees_with_a_generic_optimiser(kind, gamma, rho):
    data = random_data(5, n_users=12, n_items=8)
    objective, penalty, K = plain(kind, data, gamma, rho), 6.0, 3
    cut = data.n_users * K

    def loss(flat):
        return objective.loss(flat[:cut].reshape(-1, K), flat[cut:].reshape(-1, K), regularization=penalty)

    starts = np.random.default_rng(0).standard_normal((4, cut + data.n_items * K))
    generic = min((optimize.minimize(loss, start, method="BFGS", tol=1e-9) for start in starts), key=lambda f: f.fun)
    P, Q = solve_als(objective, K, penalty=penalty, sweeps=3000, tolerance=0)
    assert objective.loss(P, Q, regularization=penalty) == pytest.approx(generic.fun, rel=1e-8)
    found = generic.x[:cut].reshape(-1, K) @ generic.x[cut:].reshape(-1, K).T
    np.testing.assert_allclose(P @ Q.T, found, atol=1e-3 * abs(found).max())


def test_the_certificate_of_the_convex_problem_holds_at_full_rank():
    """‖diag(c) (S − O) diag(q)‖₂ ≤ μ: no other matrix of any rank has a lower loss."""
    data = random_data(6)
    objective, penalty = plain(RG2Objective, data, 0.0, 1.0), 30.0
    P, Q = solve_als(objective, data.n_items, penalty=penalty, sweeps=4000, tolerance=0)
    _, q, c, s = dense_parts(data, 0.0, 1.0)
    residual = np.linalg.norm(c[:, None] * (s - P @ Q.T) * q, 2)
    assert residual == pytest.approx(penalty / data.n_items, rel=1e-3)
    assert 0 < np.linalg.matrix_rank(P @ Q.T, tol=1e-4) < data.n_items


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("penalty", [0.0, 3.0, 20.0])
def test_constant_weights_have_a_closed_form(kind, penalty):
    data = random_data(7)
    objective = plain(kind, data, 0.0, 0.0)
    assert objective.solvers == ("spectral", "als")
    P, Q = solve_spectral(objective, 5, tolerance=0).factors(5, penalty)
    P2, Q2 = solve_als(objective, 5, penalty=penalty, sweeps=2000, tolerance=0)
    assert abs(P @ Q.T).max() > 0
    np.testing.assert_allclose(P2 @ Q2.T, P @ Q.T, atol=1e-6 * abs(P @ Q.T).max())
    if penalty:
        np.testing.assert_allclose(P.T @ P, Q.T @ Q, atol=1e-8 * abs(Q.T @ Q).max())
    assert objective.loss(P2, Q2, regularization=penalty) == pytest.approx(
        objective.loss(P, Q, regularization=penalty), rel=1e-9
    )


@pytest.mark.parametrize(("gamma", "rho", "closed"), [(0.0, 1.0, False), (0.5, 0.0, False), (0.0, 0.0, True)])
def test_only_constant_weights_have_a_solution_among_singular_vectors(gamma, rho, closed):
    """Else the optimum's columns leave the span of any K singular vectors of S', so no threshold of its SVD is one."""
    data = random_data(8)
    objective = plain(RG2Objective, data, gamma, rho)
    assert objective.solvers == (("spectral", "als") if closed else ("als",))
    P, Q = solve_als(objective, 3, penalty=12.0, sweeps=3000, tolerance=0)
    _, q, c, s = dense_parts(data, gamma, rho)
    left, _, right = np.linalg.svd(np.sqrt(c)[:, None] * s * np.sqrt(q), full_matrices=False)
    outside = []
    for vectors, columns in ((left.T, np.sqrt(c)[:, None] * P), (right, np.sqrt(q)[:, None] * Q)):
        inside = ((vectors @ np.linalg.qr(columns)[0]) ** 2).sum(axis=1)  # 1 for a vector in the span of the columns
        outside.append(3 - np.sort(inside)[-3:].sum())
    assert max(outside) < 1e-9 if closed else min(outside) > 1e-3


def test_the_spectral_solver_refuses_other_weights():
    with pytest.raises(ParameterError, match="spectral does not solve RG2Objective; use als"):
        solve_spectral(plain(RG2Objective, random_data(8), 0.0, 1.0), 3)


def test_rgx_differs_only_if_the_proposal_is_not_uniform():
    data = random_data(9)
    for gamma, same in ((0.0, True), (0.9, False)):
        scores = [
            np.matmul(P, Q.T)
            for P, Q in (
                solve_als(plain(kind, data, gamma, 1.0), 4, penalty=5.0, sweeps=800, tolerance=0) for kind in KINDS
            )
        ]
        assert np.allclose(scores[0], scores[1], atol=1e-6 * abs(scores[0]).max()) is same
