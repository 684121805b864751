"""Value, gradient and curvature through Gram matrices are those of the sum over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank.losses.quadratic_background import POSITIVE_LOSSES  # noqa: E402
from taylorank.objectives import RG2Objective, RGXObjective, ials_objective, rg_objective, wrmf_objective  # noqa: E402
from taylorank.objectives.rg import proposal  # noqa: E402
from taylorank.objectives.sampled import sampled_rg2_objective  # noqa: E402
from taylorank.training.pair_objective import rg_pairs, weighted_pairs, with_positive_loss  # noqa: E402

M, N, K, PENALTY = 9, 7, 3, 0.3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((M, N)) < 0.4, rng.integers(1, 4, (M, N)), 0).astype(float)
    matrix[4] = 0  # a user without history
    matrix[0, 0] = 2
    from scipy import sparse

    return tr.read_interactions(sparse.csr_array(matrix))


def rg(kind, data, **more):
    return rg_objective(kind, data, proposal_exponent=0.6, context_exponent=1.2, dtype=np.float64, **more)


def dense_rg(data, P, Q, *, interaction):
    """The formula of the docs, pair by pair: L / C less its value at 0."""
    objective = rg(RG2Objective, data)
    strengths = np.zeros((M, N))
    strengths[data.by_user.row_of_entry(), data.by_user.indices] = data.strengths
    R = torch.as_tensor(strengths)
    totals = R.sum(1, keepdim=True)
    q, c = torch.as_tensor(objective.proposal), torch.as_tensor(objective.context)
    s = torch.where(totals > 0, R / totals.clamp_min(1e-9) / q - 1, torch.zeros(()).double())
    o = P @ Q.T
    each = (q * (o - s) ** 2 - q * s**2).sum(1) - interaction * (o @ q) ** 2
    penalty = c @ P.square().sum(1) + c.sum() * (q @ Q.square().sum(1))
    return 0.5 * (c @ each + PENALTY * penalty) / c.sum()


def dense_weighted(data, objective, P, Q):
    o = P @ Q.T
    a, b = (torch.as_tensor(np.array(x)) for x in (objective.user_background, objective.item_background))
    total = (torch.outer(a, b) * (objective.curvature * o**2 + 2 * objective.slope * o)).sum()
    rows, columns = data.by_user.row_of_entry(), data.by_user.indices.astype(np.int64)
    seen = o[torch.as_tensor(rows.astype(np.int64)), torch.as_tensor(columns)]
    e, t = (
        torch.as_tensor(np.broadcast_to(x, data.nnz).astype(np.float64)) for x in (objective.extra, objective.targets)
    )
    penalty = torch.as_tensor(np.array(objective.user_penalty)) @ P.square().sum(1)
    penalty = penalty + torch.as_tensor(np.array(objective.item_penalty)) @ Q.square().sum(1)
    return total + (e * seen**2 - 2 * t * seen).sum() + penalty


def cases(data):
    double = {"dtype": torch.float64}
    weighted = {
        "ials": ials_objective(data, unobserved_weight=0.2, regularization=0.1, nu=0.7),
        "wrmf": wrmf_objective(data, alpha=3.0, regularization=0.5),
        "sampled": sampled_rg2_objective(
            data, negatives=4, penalty=0.2, proposal=proposal(data, 0.6), context_exponent=1.2
        ),
    }
    result = {
        name: (
            rg_pairs(rg(RG2Objective, data), penalty=PENALTY, interaction=kappa, **double),
            lambda P, Q, kappa=kappa: dense_rg(data, P, Q, interaction=kappa),
        )
        for name, kappa in (("rg2", 0.0), ("rgx", 1.0))
    }
    for name, objective in weighted.items():
        result[name] = (
            weighted_pairs(objective, **double),
            lambda P, Q, objective=objective: dense_weighted(data, objective, P, Q),
        )
    result |= {
        name: (
            with_positive_loss(result["rg2"][0], f, weight=0.7, target=-0.3),
            lambda P, Q, f=f: dense_with_positive_loss(data, f, P, Q),
        )
        for name, f in (("logistic", POSITIVE_LOSSES["logistic"]), ("exponential", lambda o: torch.exp(-o)))
    }
    return result


def dense_with_positive_loss(data, f, P, Q):
    """Mean over the positives of f(o_y) + w Σ_j q_j (½ o_j² − r o_j), and the penalty of RG²."""
    objective = rg(RG2Objective, data)
    strengths = np.zeros((M, N))
    strengths[data.by_user.row_of_entry(), data.by_user.indices] = data.strengths
    R = torch.as_tensor(strengths)
    q, c = torch.as_tensor(objective.proposal), torch.as_tensor(objective.context)
    o = P @ Q.T
    each = (R * f(o)).sum(1) / R.sum(1).clamp_min(1e-9) + 0.7 * (0.5 * o.square() + 0.3 * o) @ q
    penalty = c @ P.square().sum(1) + c.sum() * (q @ Q.square().sum(1))
    return (c @ each + 0.5 * PENALTY * penalty) / c.sum()


NAMES = ["rg2", "rgx", "ials", "wrmf", "sampled", "logistic", "exponential"]


def random_pair(seed):
    draw = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(rows, K, generator=draw, dtype=torch.float64) for rows in (M, N))


def flat(pair):
    return torch.cat([part.flatten() for part in pair])


def dense_hessian(loss):
    P, Q = random_pair(0)

    def of(theta):
        return loss(theta[: M * K].view(M, K), theta[M * K :].view(N, K))

    return torch.autograd.functional.hessian(of, flat((P, Q)))


@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradient_are_those_of_the_sum_over_all_pairs(data, name):
    objective, loss = cases(data)[name]
    P, Q = (part.requires_grad_() for part in random_pair(0))
    value = loss(P, Q)
    value.backward()
    point = objective.at(P.detach(), Q.detach())
    assert point.value == pytest.approx(float(value.detach()), rel=1e-11)
    torch.testing.assert_close(point.gradient, (P.grad, Q.grad), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_slope_of_the_value(data, name):
    objective, _ = cases(data)[name]
    at, along = random_pair(0), random_pair(1)
    h = 1e-6
    there, back = (objective.at(*(x + sign * h * d for x, d in zip(at, along, strict=True))).value for sign in (1, -1))
    slope = float(flat(objective.at(*at).gradient) @ flat(along))
    assert (there - back) / (2 * h) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_hessian_product_is_that_of_the_dense_hessian(data, name):
    objective, loss = cases(data)[name]
    along = random_pair(1)
    product = flat(objective.at(*random_pair(0)).hessian(*along))
    torch.testing.assert_close(product, dense_hessian(loss) @ flat(along), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_gauss_newton_is_the_hessian_of_scores_that_move_on_a_line(data, name):
    objective, loss = cases(data)[name]
    P, Q = random_pair(0)
    W, H = random_pair(1)
    point = objective.at(P, Q)
    # with O(ε) = P Qᵀ + ε (W Qᵀ + P Hᵀ), linear in ε, the loss bends by dᵀ GN d
    rows = torch.cat((P, W, P), 1), torch.cat((Q, Q, H), 1)

    def of(e):
        scale = torch.cat((torch.ones(K), e.expand(2 * K)))
        low = loss_of_scores(rows[0] * scale, rows[1])
        straight = 0.5 * (objective.user_penalty @ (P + e * W).square().sum(1))
        return low + straight + 0.5 * (objective.item_penalty @ (Q + e * H).square().sum(1))

    def loss_of_scores(wide_P, wide_Q):
        own = 0.5 * (objective.user_penalty @ wide_P.square().sum(1) + objective.item_penalty @ wide_Q.square().sum(1))
        return loss(wide_P, wide_Q) - own

    bend = torch.autograd.functional.hessian(of, torch.zeros((), dtype=torch.float64))
    assert float(flat((W, H)) @ flat(point.gauss_newton(W, H))) == pytest.approx(float(bend), rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_gauss_newton_never_bends_down(data, name):
    point = cases(data)[name][0].at(*random_pair(0))
    for seed in range(20):
        along = random_pair(seed)
        assert float(flat(along) @ flat(point.gauss_newton(*along))) >= 0


@pytest.mark.parametrize("kind", [RG2Objective, RGXObjective])
def test_value_is_the_objective_of_the_closed_form(data, kind):
    objective = rg(kind, data, score_penalty=0.5)
    P, Q = random_pair(0)
    pairs = rg_pairs(objective, penalty=PENALTY, interaction=float(kind is RGXObjective), dtype=torch.float64)
    expected = objective.loss(P.numpy(), Q.numpy(), regularization=PENALTY) - 0.5 * objective.squared_norm
    assert pairs.at(P, Q).value == pytest.approx(expected / objective.context_total, rel=1e-11)


def test_rows_weigh_what_their_pairs_weigh(data):
    objective = ials_objective(data, unobserved_weight=0.2, regularization=0.1, nu=0.7)
    users, items = weighted_pairs(objective, dtype=torch.float64).at(*random_pair(0)).row_weights
    weight = 0.2 + np.where(data.by_user.to_scipy().toarray() > 0, 1.0, 0.0)
    weight[data.by_user.row_of_entry(), data.by_user.indices] = 0.2 + data.strengths
    np.testing.assert_allclose(users, 2 * weight.sum(1))
    np.testing.assert_allclose(items, 2 * weight.sum(0))
