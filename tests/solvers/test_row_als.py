"""WRMF and iALS: the loss by enumeration, the steps by a dense solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import row_solve
from taylorank.objectives.weighted import ials_objective, wrmf_objective
from taylorank.solvers.row_als import solve_row_als


def graded(seed=0):
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((14, 9)) < 0.4)
    return tr.Interactions.from_arrays(users, items, strengths=rng.choice([0.5, 1.0, 2.0], len(users)))


def wrmf_dense(r, o, P, Q):
    w, p = 1 + 3.0 * r, (r > 0).astype(float)
    return (w * (o - p) ** 2).sum() + 0.7 * ((P**2).sum() + (Q**2).sum())


def ials_dense(r, o, P, Q):
    n_x, n_y = (r > 0).sum(axis=1) + 0.2 * r.shape[1], (r > 0).sum(axis=0) + 0.2 * r.shape[0]
    fit = (r * (o - 1) ** 2).sum() + 0.2 * (o**2).sum()
    return fit + 0.05 * ((n_x**0.5) @ (P**2).sum(axis=1) + (n_y**0.5) @ (Q**2).sum(axis=1))


CASES = [
    (lambda d: wrmf_objective(d, alpha=3.0, regularization=0.7), wrmf_dense),
    (lambda d: ials_objective(d, unobserved_weight=0.2, regularization=0.05, nu=0.5), ials_dense),
]


@pytest.mark.parametrize(("make", "dense"), CASES)
def test_losses_agree_with_enumeration(make, dense):
    data = graded()
    rng = np.random.default_rng(1)
    P, Q = rng.standard_normal((data.n_users, 3)), rng.standard_normal((data.n_items, 3))
    expected = dense(data.matrix.toarray().astype(float), P @ Q.T, P, Q)
    assert make(data).loss(P, Q) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("make", "dense"), CASES)
def test_a_step_is_the_minimum_over_its_side(make, dense):
    """The gradient of the dense loss vanishes after a step, by finite differences in float64."""
    data = graded(2)
    r = data.matrix.toarray().astype(float)
    rng = np.random.default_rng(3)
    Q = rng.standard_normal((data.n_items, 4))
    P = row_solve(make(data).user_system(Q), Q)
    Q2 = row_solve(make(data).item_system(P), P)
    for left, right, move in ((P, Q, "P"), (P, Q2, "Q")):
        for _ in range(10):
            dP, dQ = (rng.standard_normal(f.shape) if move == name else 0 for f, name in ((left, "P"), (right, "Q")))
            up, down = (
                dense(r, (left + h * dP) @ (right + h * dQ).T, left + h * dP, right + h * dQ) for h in (1e-4, -1e-4)
            )
            assert abs(up - down) / 2e-4 < 1e-4 * dense(r, left @ right.T, left, right)


@pytest.mark.parametrize("method", ["cholesky", "cg", "blocks"])
@pytest.mark.parametrize(("make", "dense"), CASES)
def test_every_method_lowers_the_loss_and_reaches_the_same(make, dense, method):
    data = tr.planted(120, 50, interactions=1500, seed=5)
    objective = make(data)
    seen = []
    solve_row_als(objective, 6, sweeps=40, method=method, callback=seen.append)
    losses = [s.loss for s in seen]
    assert all(b <= a * (1 + 1e-5) for a, b in itertools.pairwise(losses))
    exact = []
    solve_row_als(objective, 6, sweeps=40, method="cholesky", callback=exact.append)
    assert losses[-1] == pytest.approx(exact[-1].loss, rel=5e-3)


@pytest.mark.parametrize("model", [tr.WRMF(factors=8), tr.IALS(factors=8)])
def test_models_beat_popularity_fold_in_and_are_kept(model, tmp_path):
    train, valid, test = tr.planted(400, 150, interactions=8000, seed=4).core(5).split()
    fitted = model.fit(train)
    ours = tr.evaluate(fitted, test, seen=[train, valid])["ndcg@10"]
    assert ours > tr.evaluate(tr.Popularity().fit(train), test, seen=[train, valid])["ndcg@10"]
    folded = fitted.fold_in(train)
    best = row_solve(fitted._objective(train).user_system(fitted.item_factors), fitted.item_factors)
    np.testing.assert_allclose(folded.user_factors, best, rtol=1e-4, atol=1e-5)
    fitted.save(tmp_path / "m.tr")
    users = train.user_ids[:5]
    assert tr.load(tmp_path / "m.tr").recommend(users)[0].tolist() == fitted.recommend(users)[0].tolist()


def test_early_stopping_and_bad_parameters():
    train = tr.planted(60, 30, interactions=500)
    sweeps = []

    def stop(sweep):
        sweeps.append(sweep)
        return sweep.step == 3

    tr.IALS(factors=3).fit(train, callback=stop)
    assert len(sweeps) == 3
    for bad in ({"factors": 0}, {"regularization": -1.0}, {"iterations": 0}, {"tolerance": -1.0}, {"nu": np.nan}):
        with pytest.raises(ParameterError):
            tr.IALS(**bad).fit(train)
    empty = train.select(np.zeros(train.nnz, dtype=bool), "emptied")
    with pytest.raises(DataError, match="no interactions"):
        tr.WRMF(factors=2).fit(empty)
