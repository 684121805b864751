"""The weights of the code that the authors of the RG papers released, with its sign corrected.

    L = Σ_all (I_x / 2N) ((1 − β) o² + 2 o) + Σ_observed (α o² − (1 + 2α) o)
        + λ Σ_x (I_x / 2 + α N + κ) ‖P_x‖² + λ Σ_y (Σ_x I_x / 2N + α M + κ) ‖Q_y‖²

κ is 1 for their RG² and 0 for their RG×. Neither paper's loss has the term with α, and β only rescales the Gram matrix.
Their update of Q adds Σ_x I_x P_x / 2N where the gradient of L subtracts it: here it is subtracted, so that both steps
lower one loss. It exists to run their grids; `objectives.rg` and `objectives.sampled` are what the theory says.
"""

from __future__ import annotations

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.objectives.rg import context_weights
from taylorank.objectives.weighted import Weighted, check_weighted, strengths_of


def released_objective(
    data: Interactions, *, alpha: float, beta: float, regularization: float, own_penalty: float
) -> Weighted:
    """Return L above; `own_penalty` is κ. Strengths multiply the terms of observed pairs."""
    check_weighted(data, alpha=alpha, beta=beta, regularization=regularization)
    if beta > 1:
        raise ParameterError(f"beta={beta} makes the Gram matrix negative", "use 0 to 1")
    totals, _ = context_weights(data, 1.0)
    strengths = strengths_of(data)
    per_user = 0.5 * totals + alpha * data.n_items + own_penalty
    per_item = np.full(data.n_items, totals.sum() / (2 * data.n_items) + alpha * data.n_users + own_penalty)
    return Weighted(
        data.by_user,
        totals / (2 * data.n_items),
        np.ones(data.n_items),
        alpha * strengths,
        (0.5 + alpha) * strengths,
        regularization * per_user,
        regularization * per_item,
        0.0,
        curvature=1 - beta,
        slope=1.0,
    )
