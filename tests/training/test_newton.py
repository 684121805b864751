"""Newton-CG: its products, where it ends, how fast, and what it does when something is wrong."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import taylorank as tr  # noqa: E402
from taylorank.errors import ParameterError, TrainingError  # noqa: E402
from taylorank.objectives import RG2Objective, ials_objective, rg_objective  # noqa: E402
from taylorank.solvers import solve_row_als, solve_spectral  # noqa: E402
from taylorank.training.conjugate import truncated_cg  # noqa: E402
from taylorank.training.encoders import Encoders, Tables  # noqa: E402
from taylorank.training.newton import NewtonCG, NewtonRecipe  # noqa: E402
from taylorank.training.pair_objective import rg_pairs, weighted_pairs  # noqa: E402
from taylorank.training.preconditioner import RowBlocks  # noqa: E402

K = 6


@pytest.fixture(scope="module")
def data():
    return tr.planted(120, 60, interactions=1500)


@pytest.fixture(scope="module")
def rg(data):
    return rg_objective(RG2Objective, data, proposal_exponent=0.6, context_exponent=1.2, dtype=np.float64)


def tables(m, n, dtype=torch.float64, std=0.1, seed=0, factors=K):
    draw = torch.Generator().manual_seed(seed)
    return Tables(*(nn.Parameter(std * torch.randn(rows, factors, generator=draw, dtype=dtype)) for rows in (m, n)))


def towers(m, n, factors=2):
    torch.manual_seed(0)
    return [nn.Sequential(nn.Embedding(rows, 3), nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, factors)) for rows in (m, n)]


def run(newton, most=100):
    steps = []
    while not newton.finished and len(steps) < most:
        steps.append(newton.step())
    return steps


@pytest.mark.parametrize("curvature", ["hessian", "gauss-newton"])
@pytest.mark.parametrize("interaction", [0.0, 1.0])
def test_product_through_towers_is_that_of_the_dense_hessian(curvature, interaction):
    small = tr.planted(7, 5, interactions=14)
    objective = rg_objective(RG2Objective, small, proposal_exponent=0.6, context_exponent=1.2, dtype=np.float64)
    pairs = rg_pairs(objective, penalty=0.1, interaction=interaction, dtype=torch.float64)
    encoders = Encoders(*(tower.double() for tower in towers(7, 5)), n_users=7, n_items=5, row_batch=3)
    newton = NewtonCG(encoders, pairs, NewtonRecipe(weight_decay=0.01, curvature=curvature))

    def vectors(theta):
        return encoders._per_side(lambda encode, side, rows: encode(encoders._split(theta)))

    def loss(theta):
        P, Q = vectors(theta)
        o = P @ Q.T
        R = torch.zeros(7, 5, dtype=torch.float64)
        R[pairs.pairs.rows, pairs.pairs.columns] = pairs.targets
        a, b = pairs.user_weight, pairs.item_weight
        value = ((0.5 * o**2 + o) * torch.outer(a, b)).sum() - (R * o).sum()
        value = value - 0.5 * interaction * (a @ (o @ b) ** 2) + 0.005 * theta.square().sum()
        return value + 0.05 * (a @ P.square().sum(1) + b @ Q.square().sum(1))

    theta = encoders.start()
    assert newton.loss == pytest.approx(float(loss(theta)), rel=1e-12)
    slope = torch.autograd.functional.jacobian(loss, theta)
    torch.testing.assert_close(newton.gradient(), slope, rtol=1e-9, atol=1e-12)
    d = torch.randn(len(theta), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    if curvature == "hessian":
        dense = torch.autograd.functional.hessian(loss, theta)
    else:
        J = torch.autograd.functional.jacobian(lambda t: torch.cat([part.flatten() for part in vectors(t)]), theta)
        point, (P, Q) = newton.point, newton.encoders.vectors(theta)
        columns = []
        for unit in torch.eye(P.numel() + Q.numel(), dtype=torch.float64):
            W, H = unit[: P.numel()].view_as(P), unit[P.numel() :].view_as(Q)
            columns.append(torch.cat([part.flatten() for part in point.gauss_newton(W, H)]))
        dense = J.T @ torch.stack(columns, 1) @ J + 0.01 * torch.eye(len(theta), dtype=torch.float64)
    torch.testing.assert_close(newton.product(d), dense @ d, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(("dtype", "reached"), [(torch.float64, 1e-10), (torch.float32, 1e-6)])
@pytest.mark.parametrize("interaction", [0.0, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_factors_reach_the_spectral_optimum(rg, dtype, reached, interaction, share):
    path = solve_spectral(rg, K, tolerance=0)
    penalty = path.penalty(share)
    zero = 0.5 * rg.squared_norm
    gain = (zero - rg.loss(*path.factors(K, share), regularization=penalty)) / rg.context_total
    pairs = rg_pairs(rg, penalty=penalty, interaction=interaction, dtype=dtype)
    newton = NewtonCG(tables(120, 60, dtype), pairs)
    run(newton)
    assert newton.finished
    assert -newton.loss == pytest.approx(gain, rel=reached)


def test_full_hessian_is_superlinear_and_gauss_newton_is_not(rg):
    path = solve_spectral(rg, K, tolerance=0)
    penalty = path.penalty(0.2)
    best = (rg.loss(*path.factors(K, 0.2), regularization=penalty) - 0.5 * rg.squared_norm) / rg.context_total
    pairs = rg_pairs(rg, penalty=penalty, dtype=torch.float64)
    excess = {}
    for curvature in ("hessian", "gauss-newton"):
        newton = NewtonCG(tables(120, 60), pairs, NewtonRecipe(curvature=curvature))
        excess[curvature] = np.array([step.loss - best for step in run(newton, 30)])
    ratios = excess["hessian"][1:] / excess["hessian"][:-1]
    assert excess["hessian"].min() < 1e-9
    assert ratios.min() < 1e-2
    assert excess["gauss-newton"].min() > 1e-6


def test_weights_per_cell_reach_what_row_als_reaches(data):
    objective = ials_objective(data, unobserved_weight=0.1, regularization=0.05, nu=1.0)
    P, Q = solve_row_als(objective, 4, sweeps=300, method="cholesky")
    newton = NewtonCG(tables(120, 60, factors=4), weighted_pairs(objective, dtype=torch.float64))
    run(newton, 200)
    gained = objective.constant - objective.loss(P, Q)
    assert -newton.loss == pytest.approx(gained, rel=1e-4) or -newton.loss > gained
    assert newton.loss + objective.constant == pytest.approx(
        objective.loss(*(part.numpy() for part in newton.encoders.vectors(newton.theta))), rel=1e-9
    )


def test_any_pair_of_modules_can_be_trained(rg):
    pairs = rg_pairs(rg, penalty=0.01)
    encoders = Encoders(*towers(120, 60, 4), n_users=120, n_items=60, row_batch=50)
    newton = NewtonCG(encoders, pairs, NewtonRecipe(weight_decay=1e-5))
    steps = run(newton, 25)
    losses = [step.loss for step in steps]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < -0.1
    encoders.write(newton.theta)
    assert newton.objective.at(*encoders.vectors(encoders.start())).value == newton.point.value


def test_every_step_is_recorded(rg):
    newton = NewtonCG(tables(120, 60), rg_pairs(rg, penalty=0.1, dtype=torch.float64))
    steps = run(newton)
    assert [step.iteration for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.gradient > 0 and step.cg_steps >= 1 and step.seconds > 0 for step in steps)
    assert not all(step.convex for step in steps)  # it began near a saddle
    assert all(step.convex for step in steps[-3:])
    assert steps[-1].ratio == pytest.approx(1, abs=0.1)
    assert steps[-1].rate == 1
    assert steps[-1].damping < steps[0].damping


def test_blocks_are_inverted(rg):
    found = tables(120, 60)
    pairs = rg_pairs(rg, penalty=0.1, dtype=torch.float64)
    P, Q = found.vectors(found.start())
    blocks = RowBlocks(found, pairs.at(P, Q), decay=0.0)
    rows = torch.randn(P.numel() + Q.numel(), dtype=torch.float64)
    solved = found.vectors(blocks.solve(rows, 0.0))
    q, c = torch.as_tensor(rg.proposal), torch.as_tensor(rg.context / rg.context_total)
    eye = torch.eye(K, dtype=torch.float64)
    users = c[:, None] * (solved[0] @ ((q[:, None] * Q).T @ Q + 0.1 * eye))
    items = q[:, None] * (solved[1] @ ((c[:, None] * P).T @ P + 0.1 * eye))
    torch.testing.assert_close(torch.cat((users.flatten(), items.flatten())), rows, rtol=1e-6, atol=1e-8)


def test_preconditioning_saves_steps(rg):
    newton = NewtonCG(tables(120, 60, std=0.5), rg_pairs(rg, penalty=0.1, dtype=torch.float64))
    newton.recipe = NewtonRecipe(curvature="gauss-newton")
    g, shape = newton.gradient(), RowBlocks(newton.encoders, newton.point, decay=0.0)
    counts = [
        truncated_cg(newton.product, g, precondition=solve, tolerance=1e-3, most=500).steps
        for solve in (lambda r: shape.solve(r, 0.0), lambda r: r)
    ]
    assert counts[0] < 0.5 * counts[1]


def test_cg_solves_what_is_definite():
    draw = torch.Generator().manual_seed(0)
    root = torch.randn(20, 20, generator=draw, dtype=torch.float64)
    H, g = root @ root.T + torch.eye(20), torch.randn(20, generator=draw, dtype=torch.float64)
    found = truncated_cg(lambda p: H @ p, g, precondition=lambda r: r / H.diag(), tolerance=1e-12, most=200)
    assert found.is_convex
    torch.testing.assert_close(found.step, -torch.linalg.solve(H, g))
    assert found.curvature(g) == pytest.approx(float(found.step @ H @ found.step))


@pytest.mark.parametrize("bend", [-1.0, 0.0])
def test_cg_follows_negative_curvature_downhill(bend):
    H = torch.diag(torch.tensor([2.0, 1.0, bend], dtype=torch.float64))
    g = torch.tensor([1.0, 1.0, 0.5], dtype=torch.float64)
    found = truncated_cg(lambda p: H @ p, g, precondition=lambda r: r, tolerance=1e-9, most=50)
    assert not found.is_convex
    assert torch.isfinite(found.step).all()
    assert float(g @ found.step) < 0
    assert found.curvature(g) == pytest.approx(float(found.step @ H @ found.step))


def test_saddle_at_zero_is_refused(rg):
    newton = NewtonCG(tables(120, 60, std=0.0), rg_pairs(rg, penalty=0.1, dtype=torch.float64))
    with pytest.raises(TrainingError, match="saddle"):
        newton.step()


def test_parameters_that_are_no_numbers_are_refused(rg):
    found = tables(120, 60)
    with torch.no_grad():
        found.parameters[0][0, 0] = float("nan")
    with pytest.raises(TrainingError, match="nan at the start"):
        NewtonCG(found, rg_pairs(rg, penalty=0.1, dtype=torch.float64))


def test_vectors_that_do_not_fit_are_refused(rg):
    users, items = tables(120, 60), tables(120, 60, factors=3)
    encoders = Encoders(
        *(nn.Embedding.from_pretrained(side, freeze=False) for side in (users.parameters[0], items.parameters[1])),
        n_users=120,
        n_items=60,
    )
    with pytest.raises(ParameterError, match="users have 6 factors and items 3"):
        NewtonCG(encoders, rg_pairs(rg, penalty=0.1, dtype=torch.float64))
    with pytest.raises(ParameterError, match=r"the vectors are torch\.float64 .* the objective torch\.float32"):
        NewtonCG(users, rg_pairs(rg, penalty=0.1))


@pytest.mark.parametrize("bad", [{"cg_steps": 0}, {"curvature": "hesian"}, {"damping": -1.0}, {"tolerance": "small"}])
def test_recipes_that_mean_nothing_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        NewtonRecipe(**bad)


def test_search_that_cannot_decrease_ends_with_a_diagnosis(rg, monkeypatch):
    newton = NewtonCG(tables(120, 60), rg_pairs(rg, penalty=0.1, dtype=torch.float64))
    start = newton.theta.clone()
    right = newton.gradient
    monkeypatch.setattr(newton, "gradient", lambda: -right())  # as from an encoder with a wrong derivative
    with pytest.raises(TrainingError, match="no step decreases the loss"):
        run(newton)
    torch.testing.assert_close(newton.theta, start)


def test_search_at_the_end_of_precision_says_so(rg, monkeypatch):
    newton = NewtonCG(tables(120, 60, torch.float32), rg_pairs(rg, penalty=0.1))
    run(newton)
    newton.finished, kept = "", newton.theta.clone()
    monkeypatch.setattr(newton, "_at", lambda theta: (newton.point, newton.loss + 1e-9))  # nothing but rounding is left
    assert newton.step().rate == 0
    assert newton.finished == "the loss is at the rounding error of torch.float32"
    torch.testing.assert_close(newton.theta, kept)
