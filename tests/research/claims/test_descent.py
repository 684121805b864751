"""The descents behind the claim about stochastic gradients: they differ by noise alone."""

from __future__ import annotations

import numpy as np
import pytest

from research.claims.descent import descend, grouped_targets


class EveryRowOnce:
    """Draws row i for run i, in place of a random one."""

    def integers(self, high, size):
        assert high == size
        return np.arange(size)


def gradients(S, P, Q):
    E = P @ Q.T - S
    return E @ Q, E.T @ P


def loss(S, P, Q):
    return 0.5 * ((S - P @ Q.T) ** 2).sum()


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    S = grouped_targets(rng, 9, 6)
    return S, *(rng.standard_normal((n, 2)) for n in S.shape)


def test_without_noise_every_size_of_step_is_plain_descent(problem):
    S, P, Q = problem
    sizes = (0.1, 0.01)
    trajectory = descend(S, (P[None], Q[None]), np.random.default_rng(0), sizes=sizes, length=6, every=2, noisy=False)
    for k, size in enumerate(sizes):
        p, q = P, Q
        for step in range(1, 7):
            of_p, of_q = gradients(S, p, q)
            p, q = p - size * of_p, q - size * of_q
            if step % 2 == 0:
                point = step // 2 - 1
                assert trajectory.losses[point, k, 0] == pytest.approx(loss(S, p, q))
                squares = sum((part**2).sum() for part in gradients(S, p, q))
                assert trajectory.squared_gradients[point, k, 0] == pytest.approx(squares)


def test_noise_is_unbiased(problem):
    """The mean change of the loss over all rows that can be drawn is, to first order, that along the gradient."""
    S, P, Q = problem
    size = 1e-6
    start = tuple(np.repeat(one[None], len(S), axis=0) for one in (P, Q))
    noisy = descend(S, start, EveryRowOnce(), sizes=(size,), length=1, every=1, noisy=True)
    squares = sum((part**2).sum() for part in gradients(S, P, Q))
    change = noisy.losses[0, 0].mean() - loss(S, P, Q)
    assert change == pytest.approx(-size * squares, rel=1e-3)
    assert noisy.losses[0, 0].std() > 0
