"""Sampled RG² and RG× with the weights that are printed, not those that follow.

Pu et al. 2025, Eq. 18-19 and 31-32, with n draws from N items and I_x observed ones of context x, state

    Σ_xy w_xy (o_xy − s_xy)² [− Σ_x V_x ‖o_x‖²],   s = r N / I − 1,   V = I (n + 1) / N²,
    w = I on observed pairs,  I (n + 1) / N elsewhere,

the bracket for RG× alone: a positive weighs N / (n + 1) times a negative. The expectation of their own loss over the
draws has the ratio 1 + N / (n I) and the target n (r N − I) / (r N + n I) (`objectives.sampled`). Here, for any q and
c, with f = (n + 1) / N, w = c N q (1 or f), s = r / (I q) − 1 and V = c f q: γ = 0 and ρ = 1 are what is printed.
The penalty is λ (‖P‖² + ‖Q‖²) of Eq. 31, or λ Σ_x (Σ_y w_xy) ‖P_x‖² + λ Σ_y (Σ_x w_xy) ‖Q_y‖² of Eq. 36-39.

At the unconstrained optimum of RG² o = s, so p = q (1 + o); RG× has o = s w / (w − V).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.objectives.rg import Penalty, context_weights
from taylorank.objectives.sampled import UNSEEN_PENALTY
from taylorank.objectives.weighted import Weighted, check_weighted


def printed_objective(
    data: Interactions,
    *,
    interacts: bool,
    negatives: float,
    penalty: float,
    proposal: NDArray[np.float64],
    context_exponent: float,
    penalised: Penalty = "plain",
    dtype: DTypeLike = np.float32,
) -> Weighted:
    """Return sampled RG², or RG× if it `interacts`, with n = `negatives`, λ = `penalty` and q = `proposal`."""
    if not (negatives > 0 and np.isfinite(negatives)):
        raise ParameterError(f"negatives={negatives} is not a number of draws", "give a number > 0, such as 100")
    check_weighted(data, penalty=penalty)
    rows, N = data.by_user, len(proposal)
    f, b = (negatives + 1) / N, N * proposal
    totals, c = context_weights(data, context_exponent)
    weights = np.repeat(c, rows.row_lengths) * b[rows.indices]  # w of observed pairs
    shares = np.repeat(np.divide(c, totals, out=np.zeros_like(c), where=totals > 0), rows.row_lengths)
    pulls = N * shares * data.strengths - weights  # w s
    users, items = np.full(data.n_users, penalty), np.full(N, penalty)
    if penalised == "weighted":
        observed = (1 - f) * weights
        users = penalty * (np.bincount(rows.row_of_entry(), observed, minlength=data.n_users) + f * N * c)
        items = penalty * (np.bincount(rows.indices, observed, minlength=N) + f * c.sum() * b)
    return Weighted(
        rows,
        c,
        b,
        ((1 - f) * weights).astype(dtype),
        (pulls + f * weights).astype(dtype),
        np.where(c > 0, users, UNSEEN_PENALTY),
        items,
        float((pulls**2 / weights).sum() - f * weights.sum() + f * N * c.sum()),
        curvature=f * (1 - 1 / N) if interacts else f,
        slope=f,
    )
