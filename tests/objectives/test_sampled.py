"""Sampled RG² and RG×: the losses by drawing every possible set of negatives, the steps by a generic solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from taylorank.data import Interactions
from taylorank.kernels import row_solve
from taylorank.objectives import (
    RG2Objective,
    RGXObjective,
    proposal,
    released_objective,
    rg_objective,
    sampled_rg2_objective,
    sampled_rgx_objective,
)
from taylorank.solvers import solve_row_als, solve_spectral

MAKERS = {"rg2": sampled_rg2_objective, "rgx": sampled_rgx_objective}


def small(seed=0, n_users=5, n_items=4, graded=True):
    rng = np.random.default_rng(seed)
    r = (rng.random((n_users, n_items)) < 0.5) * (rng.choice([0.5, 1.0, 2.0], (n_users, n_items)) if graded else 1.0)
    r[np.arange(n_users), rng.integers(0, n_items, n_users)] = 1.0
    r[:, rng.integers(n_items)] += r.sum(axis=0).min() == 0
    users, items = np.nonzero(r)
    data = Interactions.from_arrays(users, items, strengths=r[users, items] if graded else None)
    return data, data.matrix.toarray().astype(np.float64)


def drawn_loss(o, positive, q, n, *, interaction):
    """E over all N^n ordered draws of −o_y + mean(o) + ½ mean(o²) [− ½ mean(o)²], by enumeration."""
    total = 0.0
    for draw in itertools.product(range(len(q)), repeat=n):
        chosen = o[[positive, *draw]]
        value = -o[positive] + chosen.mean() + 0.5 * (chosen**2).mean() - interaction * 0.5 * chosen.mean() ** 2
        total += np.prod(q[list(draw)]) * value
    return total


@pytest.mark.parametrize(("kind", "interaction"), [("rg2", 0), ("rgx", 1)])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("rho", [1.0, 0.3])
def test_the_loss_is_the_mean_over_every_draw(kind, interaction, n, rho):
    data, r = small(n)
    q = proposal(data, 0.7)
    objective = MAKERS[kind](data, negatives=n, penalty=0.0, proposal=q, context_exponent=rho, dtype=np.float64)
    rng = np.random.default_rng(1)
    P, Q = rng.standard_normal((data.n_users, 2)), rng.standard_normal((data.n_items, 2))
    o, totals = P @ Q.T, r.sum(axis=1)
    expected = sum(
        totals[x] ** (rho - 1) * r[x, y] * drawn_loss(o[x], y, q, n, interaction=interaction)
        for x, y in zip(*np.nonzero(r), strict=True)
    )
    zero = np.zeros_like
    assert objective.loss(P, Q) - objective.loss(zero(P), zero(Q)) == pytest.approx(expected, rel=1e-10)
    assert objective.constant == pytest.approx(objective.loss(zero(P), zero(Q)), rel=1e-12)


@pytest.mark.parametrize("n", [1, 3.5, 50])
def test_sampled_rg2_is_the_stated_sum_of_squares(n):
    data, r = small(3)
    q = proposal(data, 0.4)
    objective = sampled_rg2_objective(
        data, negatives=n, penalty=0.3, proposal=q, context_exponent=1.3, dtype=np.float64
    )
    rng = np.random.default_rng(4)
    P, Q = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    totals = r.sum(axis=1, keepdims=True)
    c = totals**1.3
    weight = (c / totals) * (r + n * totals * q) / (2 * (n + 1))
    target = n * (r - totals * q) / (r + n * totals * q)
    np.testing.assert_allclose(target[r == 0], -1)
    penalty = 0.5 * 0.3 * ((c[:, 0] @ (P**2).sum(axis=1)) + (2 * weight.sum(axis=0)) @ (Q**2).sum(axis=1))
    expected = (weight * (P @ Q.T - target) ** 2).sum() + penalty
    assert objective.loss(P, Q) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", ["rg2", "rgx"])
@pytest.mark.parametrize("n", [2, 30])
@pytest.mark.parametrize("graded", [True, False])
def test_a_step_is_the_minimum_over_its_side(kind, n, graded):
    """The loss is quadratic in one side: a generic dense solver finds the same minimum from its Hessian."""
    data, _ = small(5, 7, 6, graded)
    objective = MAKERS[kind](
        data, negatives=n, penalty=0.2, proposal=proposal(data, 0.5), context_exponent=1.2, dtype=np.float64
    )
    rng = np.random.default_rng(6)
    P, Q = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    P = row_solve(objective.user_system(Q), Q, method="cholesky")
    np.testing.assert_allclose(P, minimum(lambda p: objective.loss(p, Q), P.shape), atol=1e-7)
    Q = row_solve(objective.item_system(P, Q), P, method="cholesky")
    np.testing.assert_allclose(Q, minimum(lambda m: objective.loss(P, m), Q.shape), atol=1e-7)


def minimum(loss, shape):
    """Minimise a quadratic of a matrix, known by its values alone."""
    size = int(np.prod(shape))
    unit = np.eye(size).reshape(size, *shape)
    zero = loss(np.zeros(shape))
    plus, minus = (np.array([loss(sign * e) for e in unit]) for sign in (1, -1))
    gradient, diagonal = (plus - minus) / 2, (plus + minus) / 2 - zero
    hessian = np.diag(2 * diagonal)
    for i, j in itertools.combinations(range(size), 2):
        hessian[i, j] = hessian[j, i] = loss(unit[i] + unit[j]) - plus[i] - plus[j] + zero
    return -np.linalg.solve(hessian, gradient).reshape(shape)


@pytest.mark.parametrize(("kind", "full"), [("rg2", RG2Objective), ("rgx", RGXObjective)])
def test_many_draws_are_rg(kind, full):
    data, _ = small(7, 8, 6)
    q = proposal(data, 0.6)
    limit = rg_objective(full, data, proposal_exponent=0.6, context_exponent=1.1, dtype=np.float64)
    rng = np.random.default_rng(8)
    P, Q = rng.standard_normal((data.n_users, 2)), rng.standard_normal((data.n_items, 2))
    gaps = []
    for n in (1e2, 1e4, 1e6):
        many = MAKERS[kind](data, negatives=n, penalty=0.2, proposal=q, context_exponent=1.1, dtype=np.float64)
        gaps.append(abs(many.loss(P, Q) - limit.loss(P, Q, regularization=0.2)))
    assert gaps[2] < 1e-3 * gaps[0]
    assert gaps[2] < 1e-4 * abs(limit.loss(P, Q))


@pytest.mark.parametrize("kind", ["rg2", "rgx"])
def test_infinitely_many_draws_have_the_spectral_solution(kind):
    data, _ = small(9, 20, 12)
    full = rg_objective(RG2Objective, data, proposal_exponent=0.5, context_exponent=1.0, dtype=np.float64)
    path = solve_spectral(full, 3, tolerance=0)
    objective = MAKERS[kind](
        data,
        negatives=np.inf,
        penalty=path.penalty(0.1),
        proposal=full.proposal,
        context_exponent=1.0,
        dtype=np.float64,
    )
    rng = np.random.default_rng(0)
    start = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    P, Q = solve_row_als(objective, 3, sweeps=1500, method="cholesky", start=start)
    expected = np.matmul(*(f if i == 0 else f.T for i, f in enumerate(path.factors(3, 0.1))))
    np.testing.assert_allclose(P @ Q.T, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["rg2", "rgx"])
@pytest.mark.parametrize("method", ["cholesky", "cg", "blocks"])
def test_the_loss_falls_sweep_by_sweep(kind, method):
    data, _ = small(10, 60, 25)
    objective = MAKERS[kind](data, negatives=20, penalty=0.1, proposal=proposal(data, 0.5), context_exponent=1.0)
    losses = []
    solve_row_als(objective, 4, sweeps=25, method=method, callback=lambda s: losses.append(s.loss))
    assert all(b <= a + 1e-5 * abs(a) for a, b in itertools.pairwise(losses))
    assert losses[-1] < losses[0] < objective.constant


@pytest.mark.parametrize("kind", ["rg2", "rgx"])
def test_probabilities_are_recovered_at_the_unconstrained_optimum(kind):
    """With full rank and no penalty o is free, and what the model makes of it are the frequencies r / I."""
    from taylorank.models import SampledRG2, SampledRGX

    data, r = small(11, 6, 5)
    n = 7.0
    q = proposal(data, 0.8)
    objective = MAKERS[kind](data, negatives=n, penalty=1e-9, proposal=q, context_exponent=1.0, dtype=np.float64)
    Q = np.eye(data.n_items)
    P = row_solve(objective.user_system(Q), Q, method="cholesky")
    model = {"rg2": SampledRG2, "rgx": SampledRGX}[kind](proposal_exponent=0.8, negatives=n)
    model.train_, model.proposal_ = data, q
    model.user_factors_, model.item_factors_ = P, Q
    np.testing.assert_allclose(model.scores(np.arange(data.n_users)), r / r.sum(axis=1, keepdims=True), atol=2e-4)


@pytest.mark.parametrize(("own", "beta"), [(1.0, 0.0), (0.0, 0.3)])
def test_the_released_weights_have_the_stated_steps(own, beta):
    data, r = small(12, 6, 5, graded=False)
    alpha, lam, (M, N) = 0.2, 0.05, r.shape
    objective = released_objective(data, alpha=alpha, beta=beta, regularization=lam, own_penalty=own)
    rng = np.random.default_rng(2)
    Q = rng.standard_normal((N, 3))
    P = row_solve(objective.user_system(Q), Q, method="cholesky")
    totals = r.sum(axis=1)
    for x in range(M):
        H = (1 - beta) * totals[x] / (2 * N) * Q.T @ Q + alpha * (Q.T * r[x]) @ Q
        H += lam * (totals[x] / 2 + alpha * N + own) * np.eye(3)
        right = (0.5 + alpha) * r[x] @ Q - totals[x] / (2 * N) * Q.sum(axis=0)
        np.testing.assert_allclose(P[x], np.linalg.solve(H, right), atol=1e-8)
    new = row_solve(objective.item_system(P, Q), P, method="cholesky")
    assert objective.loss(P, new) < objective.loss(P, Q)
    for y in range(N):  # the same form, and the sum over contexts is subtracted
        H = (1 - beta) / (2 * N) * (P.T * totals) @ P + alpha * (P.T * r[:, y]) @ P
        H += lam * (totals.sum() / (2 * N) + alpha * M + own) * np.eye(3)
        right = (0.5 + alpha) * r[:, y] @ P - totals @ P / (2 * N)
        np.testing.assert_allclose(new[y], np.linalg.solve(H, right), atol=1e-8)


@pytest.mark.parametrize("kappa", [0.5, 4.0])
def test_a_penalty_on_scores_is_a_change_of_context_weight(kappa):
    """Pu et al. 2025, A.6: RG² + ½ κ Σ q o² over rank K is least at the truncated SVD of diag(c / √(c + κ)) s √q."""
    data, r = small(13, 12, 8)
    q = proposal(data, 0.5)
    totals = r.sum(axis=1)
    c = totals**1.2
    s = r / (totals[:, None] * q) - 1
    k = kappa * c.mean()
    U, sigma, Vt = np.linalg.svd((c / np.sqrt(c + k))[:, None] * s * np.sqrt(q))
    oracle = (U[:, :3] * sigma[:3]) @ Vt[:3] / np.sqrt(c + k)[:, None] / np.sqrt(q)
    objective = rg_objective(
        RG2Objective, data, proposal_exponent=0.5, context_exponent=1.2, score_penalty=kappa, dtype=np.float64
    )
    P, Q = solve_spectral(objective, 3, tolerance=0).factors(3, 0.0)
    np.testing.assert_allclose(P @ Q.T, oracle, atol=1e-9)

    def penalised(o):
        return 0.5 * (c[:, None] * q * (o - s) ** 2).sum() + 0.5 * k * (q * o**2).sum()

    constant = penalised(np.zeros_like(s)) - 0.5 * objective.squared_norm
    assert objective.loss(P, Q) + constant == pytest.approx(penalised(P @ Q.T))
