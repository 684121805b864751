"""The exact losses of the softmax family as functions of one vector of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from research.claims.dense import Floats

EXACT_LOSSES = ("softmax", "sparsemax", "entmax")


def losses_and_gradients(name: str, o: Floats) -> tuple[Floats, Floats]:
    """Return the loss of every item as the positive (N,) and its gradient in the scores (N, N)."""
    return of_positives(name, np.tile(o, (len(o), 1)), np.arange(len(o)))


def of_positives(name: str, o: Floats, positives: Floats) -> tuple[Floats, Floats]:
    """Return the loss (B,) of one positive in every row of scores (B, N), and its gradient (B, N)."""
    import torch

    from taylorank import losses

    scores = torch.tensor(o, dtype=torch.float64, requires_grad=True)
    rows, columns = torch.arange(len(o)), torch.from_numpy(np.asarray(positives, dtype=np.int64))
    loss = losses.get(name)
    if loss.kind == "exact":
        values = loss.function(scores, rows, columns)
    else:  # all other items are the draws
        others = torch.tensor([[j for j in range(o.shape[1]) if j != y] for y in positives])
        values = loss.function(scores[rows, columns], scores.gather(1, others))
    (gradient,) = torch.autograd.grad(values.sum(), scores)
    return values.detach().numpy(), gradient.numpy()


def risk(name: str, o: Floats, eta: Floats) -> tuple[float, Floats]:
    """Return Σ_y η_y ℓ(o; y) and its gradient."""
    values, gradients = losses_and_gradients(name, o)
    return float(eta @ values), eta @ gradients


def predictions(name: str, o: Floats) -> Floats:
    """Return p = ∇ℓ(o; y) + e_y of every row of scores (B, N)."""
    gradient = of_positives(name, o, np.zeros(len(o)))[1]
    gradient[:, 0] += 1.0
    return gradient


def least_risk(name: str, eta: Floats, *, tied: tuple[int, int] | None = None) -> tuple[float, Floats]:
    """Return the least risk and its scores; with `tied` these two items must score alike."""
    N = len(eta)
    groups = np.arange(N)
    if tied is not None:
        groups[tied[1]] = groups[tied[0]]
    members = np.unique(groups, return_inverse=True)[1]
    spread = np.eye(members.max() + 1)[members]  # (N, G): from groups to items

    def of_groups(z: Floats) -> tuple[float, Floats]:
        value, gradient = risk(name, spread @ z, eta)
        return value, gradient @ spread

    found: Any = minimize(
        of_groups,
        np.zeros(spread.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500},
    )
    return float(found.fun), spread @ found.x


def random_posteriors(seed: int, count: int, *, n_items: int = 5, zeros: int = 0) -> list[Floats]:
    """Return random probabilities that differ clearly, the last `zeros` of them 0, in random order."""
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    while len(found) < count:
        eta = rng.dirichlet(np.ones(n_items - zeros))
        eta = np.append(eta, np.zeros(zeros))
        if np.diff(np.sort(eta[: n_items - zeros])).min() > 0.02 and eta[: n_items - zeros].min() > 0.02:
            found.append(rng.permutation(eta))
    return found
