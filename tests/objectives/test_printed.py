"""Sampled RG with the weights that Pu et al. 2025 print in Eq. 18-19, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import planted
from taylorank.errors import ParameterError
from taylorank.kernels import row_solve
from taylorank.objectives import RG2Objective, printed_objective, proposal, rg_objective

DATA = planted(30, 20, interactions=240, seed=2)
R = DATA.matrix.toarray().astype(np.float64)
N, TOTALS = R.shape[1], R.sum(axis=1, keepdims=True)


def factors(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((DATA.n_users, 3)), rng.standard_normal((N, 3))


def objective(n, penalised="plain", penalty=0.3, interacts=False):
    return printed_objective(
        DATA,
        interacts=interacts,
        negatives=n,
        penalty=penalty,
        proposal=proposal(DATA, 0.0),
        context_exponent=1.0,
        penalised=penalised,
        dtype=np.float64,
    )


def printed_loss(P, Q, n, penalised, *, interacts, penalty=0.3):
    """Eq. 31 with W, S and V of Eq. 32, or with the penalty that Eq. 36-37 solve."""
    w = np.where(R > 0, TOTALS, TOTALS * (n + 1) / N)
    o, V = P @ Q.T, TOTALS[:, 0] * (n + 1) / N**2
    loss = (w * (R * N / TOTALS - 1 - o) ** 2).sum() - interacts * (V @ (o**2).sum(axis=1))
    by_row, by_column = (w.sum(axis=1), w.sum(axis=0)) if penalised == "weighted" else (np.ones(len(P)), np.ones(N))
    return loss + penalty * (by_row @ (P**2).sum(axis=1) + by_column @ (Q**2).sum(axis=1))


@pytest.mark.parametrize("n", [1, 7.5, 19, 40])
@pytest.mark.parametrize("penalised", ["plain", "weighted"])
@pytest.mark.parametrize("interacts", [False, True])
def test_the_loss_is_the_printed_one_and_its_steps_minimise_it(n, penalised, interacts):
    P, Q = factors()
    found = objective(n, penalised, interacts=interacts)

    def loss(P, Q):
        return printed_loss(P, Q, n, penalised, interacts=interacts)

    assert found.loss(P, Q) == pytest.approx(loss(P, Q), rel=1e-10)
    assert found.constant == pytest.approx(loss(0 * P, 0 * Q), rel=1e-10)
    P = row_solve(found.user_system(Q), Q, method="cholesky")
    Q = row_solve(found.item_system(P, Q), P, method="cholesky")
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = 1e-4 * rng.standard_normal(Q.shape)
        assert loss(P, Q + direction) > loss(P, Q)
        assert loss(P, Q + direction) - loss(P, Q - direction) == pytest.approx(0, abs=1e-9 * found.constant)


def test_a_positive_weighs_what_the_text_says_and_as_many_draws_as_items_are_rg2():
    P, Q = factors(3)
    full = rg_objective(
        RG2Objective, DATA, proposal_exponent=0.0, context_exponent=1.0, penalty="plain", dtype=np.float64
    )
    assert objective(N - 1).loss(P, Q) == pytest.approx(2 * N * full.loss(P, Q, regularization=0.3), rel=1e-10)
    few = objective(3)
    assert (few.extra + few.curvature * TOTALS[:, 0].repeat(DATA.by_user.row_lengths))[0] / (
        few.curvature * TOTALS[0, 0]
    ) == pytest.approx(N / 4)


@pytest.mark.parametrize("n", [0, np.inf])
def test_draws_that_are_none_are_refused(n):
    with pytest.raises(ParameterError, match="not a number of draws"):
        objective(n)
