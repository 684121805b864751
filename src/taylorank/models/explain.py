"""Which items of a user's history carried a recommendation.

Every model here is linear in the history once its items are known: P_x = Σ_j part_j over the items j that x met, so

    score of y = base + Σ_j part_j · v_y

with v_y and base from the score that ranks (for RG² by probability v_y = q_y Q_y, base = q_y). The contribution of j is
part_j · v_y; for EASE and ItemKNN it is r_j W_jy.

The parts are those of an exact fold-in of the history. A stored P_x equals it only where the fit has converged, so the
score explained may differ slightly from that of `recommend`, and is what `fold_in` would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.errors import DataError
from taylorank.kernels import RowSystem

if TYPE_CHECKING:
    from taylorank.models.recommender import Recommender

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """score = base + Σ of the contributions of the whole history; `items` are the n largest of them, by id."""

    items: NDArray[Any]
    contributions: Floats
    base: float
    score: float


def explain(model: Recommender, user: Any, item: Any, *, n: int | None = 10) -> Explanation:
    """Return what carried the score of `item` for `user`; see the models' `explain`."""
    if n is not None:
        check_whole(n, "n", remedy="ask for at least one item, or None for all")
    row = int(model.users.require([user], "user", remedy="for a new user, explain on model.fold_in(history)")[0])
    column = int(model.items.require([item], "item")[0])
    if not model.seen.nnz:
        raise DataError("this model was saved without what its users met", "explain on model.fold_in(history)")
    if model.cold_users(np.array([row]))[0]:
        nothing = np.empty(0, dtype=np.int64)
        base = float(model.cold_scores()[column])
        return Explanation(model.items.take(nothing), np.empty(0), base, base)
    positions, contributions, base = model._contributions(row, column)
    order = np.argsort(-contributions, kind="stable")[:n]
    score = base + float(contributions.sum())
    return Explanation(model.items.take(positions[order]), contributions[order], base, score)


def row_parts(system: RowSystem, factors: NDArray[Any], *, shares: NDArray[Any] | None = None) -> Floats:
    """Return (n, K) parts with Σ_j part_j = P_x, for a system of one row: part_j = H⁻¹ (t_j Q_j + share_j h g).

    `shares` (n,), which sum to 1, divide the part h g of the right side that belongs to no entry (default: equally).

    >>> from taylorank.data import CSR
    >>> Q = np.array([[1.0], [2.0]])
    >>> rows = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), None, 2)
    >>> row_parts(RowSystem(rows, Q.T @ Q, background=0.0, regularization=5.0), Q)  # 1/(1 + 4 + 5), 2/(1 + 4 + 5)
    array([[0.1],
           [0.2]])
    """
    chosen = factors[system.rows.indices].astype(np.float64)  # (n, K)
    w, t = (np.broadcast_to(np.asarray(v, dtype=np.float64), len(chosen)) for v in (system.weights, system.targets))
    a, ridge = (float(np.ravel(value)[0]) for value in (system.background, system.regularization))
    H = a * system.gram + (chosen * w[:, None]).T @ chosen + ridge * np.eye(chosen.shape[1])
    right = chosen * t[:, None]
    if system.offsets is not None and system.direction is not None:
        shares = np.full(len(chosen), 1 / max(len(chosen), 1)) if shares is None else shares
        right += np.multiply.outer(shares * float(np.ravel(system.offsets)[0]), system.direction)
    if system.tilt is not None:
        f, m = system.tilt.rows[0], system.tilt.mean
        H -= np.outer(f, m) + np.outer(m, f) + float(np.ravel(system.tilt.scales)[0]) * np.outer(m, m)
    return np.linalg.solve(H, right.T).T.astype(np.float64, copy=False)
