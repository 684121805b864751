"""Losses over all M × N pairs, quadratic but for the observed ones, as functions of the vectors through Gram matrices.

With o_xy = P_x · Q_y every loss here is

    L = Σ_x Σ_y b_y (½ a_x o_xy² + l_x o_xy) − ½ κ Σ_x a_x (b · o_x)² + Σ_observed (½ e_xy o_xy² − t_xy o_xy)
        + ½ Σ_x λ_x ‖P_x‖² + ½ Σ_y λ_y ‖Q_y‖²

| loss | a_x | b_y | l_x | κ | e_xy | t_xy | λ_x | λ_y |
|---|---|---|---|---|---|---|---|---|
| RG², but for a constant | c_x | q_y | c_x | 0 | 0 | c_x r_xy / I_x | λ c_x | λ C q_y |
| RG× | c_x | q_y | c_x | 1 | 0 | c_x r_xy / I_x | λ c_x | λ C q_y |
| any f on the positives | w c_x | q_y | −w r c_x | 0 | – | c_x r_xy / I_x | λ c_x | λ C q_y |
| weights per cell (`objectives.weighted`) | 2 s a_x | b_y | 2 h a_x | 0 | 2 e_xy | 2 t_xy | 2 λ_x | 2 λ_y |

With a `positive_loss` f the observed pairs count Σ t_xy f(o_xy) instead (`losses.quadratic_background`): then t f′(o)
stands for e o − t below, and t f″(o) for e; both come from f by autograd.

E = ∂L/∂O is sparse plus low rank and is never formed. With G = Qᵀ diag(b) Q, A = Pᵀ diag(a) P, m = Qᵀ b, and S the
sparse matrix of e o − t:

    ∂L/∂P = E Q  = diag(a) P G + l mᵀ − κ a ∘ (P m) mᵀ + S Q                      + diag(λ_x) P
    ∂L/∂Q = Eᵀ P = diag(b) Q A + b (lᵀP) − κ b (A m)ᵀ + Sᵀ P                      + diag(λ_y) Q

and for directions (W, H) of (P, Q), with D the second derivative by O and dO = W Qᵀ + P Hᵀ, the Gauss-Newton product is
[D(dO) Q ; D(dO)ᵀ P] and the full Hessian adds [E H ; Eᵀ W]; each costs O((M + N) K² + nnz·K).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taylorank.data import CSR
from taylorank.objectives import RG, Weighted
from taylorank.training.sparse_pairs import SparsePairs

Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class PairObjective:
    """L above, in the number type of its tensors."""

    pairs: SparsePairs
    user_weight: Tensor  # a, (M,)
    item_weight: Tensor  # b, (N,)
    slope: Tensor  # l, (M,)
    extra: Tensor | None  # e, (nnz,); None: 0
    targets: Tensor  # t, (nnz,)
    user_penalty: Tensor  # λ_x, (M,)
    item_penalty: Tensor  # λ_y, (N,)
    interaction: float = 0.0  # κ
    positive_loss: Callable[[Tensor], Tensor] | None = None  # f, entry by entry, convex; `extra` is then None

    def at(self, users: Tensor, items: Tensor) -> PairPoint:
        """Return the loss at P and Q, with what its value and all its derivatives share computed once."""
        return PairPoint(self, users, items)


class PairPoint:
    """L, its gradient and its curvature at one (P, Q)."""

    def __init__(self, objective: PairObjective, users: Tensor, items: Tensor) -> None:
        self.objective, self.P, self.Q = objective, users, items
        self.weighted_P = objective.user_weight[:, None] * users  # diag(a) P
        self.weighted_Q = objective.item_weight[:, None] * items  # diag(b) Q
        self.A, self.G = self.weighted_P.T @ users, self.weighted_Q.T @ items  # (K, K)
        self.m = self.weighted_Q.sum(0)  # (K,)

    @cached_property
    def residuals(self) -> Tensor:
        """The values of S: e o − t on the observed pairs, (nnz,)."""
        f, extra = self.objective, self.objective.extra
        if f.positive_loss is not None:
            return f.targets * self._derivatives[0]
        return -f.targets if extra is None else extra * self.observed - f.targets

    @cached_property
    def curvature(self) -> Tensor | None:
        """The second derivatives of the observed pairs by their scores, e or t f″(o), (nnz,); None: 0."""
        f = self.objective
        return f.extra if f.positive_loss is None else f.targets * self._derivatives[1]

    @cached_property
    def _derivatives(self) -> Pair:
        """f′(o) and f″(o), (nnz,) each."""
        f = self.objective.positive_loss
        assert f is not None
        with torch.enable_grad():
            o = self.observed.detach().requires_grad_()
            (first,) = torch.autograd.grad(f(o).sum(), o, create_graph=True)
            (second,) = torch.autograd.grad(first.sum(), o) if first.requires_grad else (torch.zeros_like(o),)
        return first.detach(), second

    @cached_property
    def row_weights(self) -> Pair:
        """The total curvature of each row: Σ_y of a_x b_y + e_xy, (M,), and Σ_x of the same, (N,)."""
        f = self.objective
        users, items = f.user_weight * f.item_weight.sum(), f.item_weight * f.user_weight.sum()
        if self.curvature is not None:
            ones = torch.ones(max(len(users), len(items)), 1, dtype=users.dtype, device=users.device)
            users = users + f.pairs.apply(self.curvature, ones[: len(items)])[:, 0]
            items = items + f.pairs.apply_transposed(self.curvature, ones[: len(users)])[:, 0]
        return users, items

    @cached_property
    def observed(self) -> Tensor:
        """The scores o of the observed pairs, (nnz,)."""
        return self.objective.pairs.scores(self.P, self.Q)

    @cached_property
    def value(self) -> float:
        """L, summed in float64."""
        f = self.objective
        P, Q = self.P.double(), self.Q.double()
        a, b = f.user_weight.double(), f.item_weight.double()
        A, m = (a[:, None] * P).T @ P, b @ Q
        total = 0.5 * (A * ((b[:, None] * Q).T @ Q)).sum() + (f.slope.double() @ P) @ m
        total = total - 0.5 * f.interaction * (m @ A @ m)
        if f.positive_loss is not None:
            total = total + f.targets.double() @ f.positive_loss(f.pairs.scores(P, Q))
        elif f.extra is None:
            total = total - (P * f.pairs.apply(f.targets.double(), Q)).sum()
        else:
            o = f.pairs.scores(P, Q)
            total = total + (0.5 * f.extra.double() * o - f.targets.double()) @ o
        total = total + 0.5 * (f.user_penalty.double() @ P.square().sum(1))
        return float(total + 0.5 * (f.item_penalty.double() @ Q.square().sum(1)))

    @cached_property
    def gradient(self) -> Pair:
        """(∂L/∂P, ∂L/∂Q)."""
        f = self.objective
        users, items = self._times_score_gradient(self.P, self.Q)
        return users + f.user_penalty[:, None] * self.P, items + f.item_penalty[:, None] * self.Q

    def gauss_newton(self, W: Tensor, H: Tensor) -> Pair:
        """Curvature along (W, H) as if (P, Q) ↦ O were linear: positive semidefinite."""
        f = self.objective
        along = self.weighted_Q.T @ H  # Qᵀ diag(b) H, (K, K)
        across = self.weighted_P.T @ W  # Pᵀ diag(a) W
        users = f.user_weight[:, None] * (W @ self.G + self.P @ along.T)
        items = f.item_weight[:, None] * (self.Q @ across.T + H @ self.A)
        if f.interaction:
            shift = f.item_weight @ H  # Hᵀ b, (K,)
            means = f.interaction * f.user_weight * (W @ self.m + self.P @ shift)  # κ a ∘ (dO b), (M,)
            users = users - torch.outer(means, self.m)
            items = items - torch.outer(f.item_weight, means @ self.P)
        if self.curvature is not None:
            change = self.curvature * (f.pairs.scores(W, self.Q) + f.pairs.scores(self.P, H))
            users = users + f.pairs.apply(change, self.Q)
            items = items + f.pairs.apply_transposed(change, self.P)
        return users + f.user_penalty[:, None] * W, items + f.item_penalty[:, None] * H

    def hessian(self, W: Tensor, H: Tensor) -> Pair:
        """The full second derivative along (W, H): Gauss-Newton and [E H ; Eᵀ W]; may be indefinite."""
        users, items = self.gauss_newton(W, H)
        more_users, more_items = self._times_score_gradient(W, H)
        return users + more_users, items + more_items

    def _times_score_gradient(self, W: Tensor, H: Tensor) -> Pair:
        """(E H, Eᵀ W)."""
        f = self.objective
        along, shift = self.weighted_Q.T @ H, f.item_weight @ H  # Qᵀ diag(b) H, Hᵀ b
        across = self.weighted_P.T @ W  # Pᵀ diag(a) W
        slope = f.slope
        if f.interaction:
            slope = slope - f.interaction * (self.weighted_P @ self.m)  # l − κ a ∘ (P m)
        users = self.weighted_P @ along + torch.outer(slope, shift) + f.pairs.apply(self.residuals, H)
        items = self.weighted_Q @ across + torch.outer(f.item_weight, slope @ W)
        return users, items + f.pairs.apply_transposed(self.residuals, W)


def rg_pairs(
    objective: RG,
    *,
    penalty: float,
    interaction: float = 0.0,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> PairObjective:
    """Return RG² (RG× with `interaction` 1) over C = Σ c_x, the weighted mean over positives, less the constant.

    `penalty` is λ of ½ λ Σ_x (c_x/C) ‖P_x‖² + ½ λ Σ_y q_y ‖Q_y‖², the one of `objectives.rg` over C.
    """
    entries = objective.by_user
    assert entries.weights is not None
    total = objective.context_total
    c = objective.context / total
    scale = np.sqrt(objective.context)[entries.row_of_entry()] * np.sqrt(objective.proposal)[entries.indices]
    tensor = _caster(dtype, device)
    return PairObjective(
        SparsePairs.of(entries, device=device),
        user_weight=tensor(c),
        item_weight=tensor(objective.proposal),
        slope=tensor(objective.shrinkage * c),
        extra=None,
        targets=tensor(entries.weights * scale / total),
        user_penalty=tensor(penalty * c),
        item_penalty=tensor(penalty * objective.proposal),
        interaction=interaction,
    )


def with_positive_loss(
    rg: PairObjective, positive_loss: Callable[[Tensor], Tensor], *, weight: float, target: float
) -> PairObjective:
    """Return f on the positives over the background w Σ_j q_j (½ o_j² − r o_j), with all else that RG² has."""
    c = rg.user_weight
    return replace(rg, user_weight=weight * c, slope=-weight * target * c, positive_loss=positive_loss)


def weighted_pairs(objective: Weighted, *, dtype: torch.dtype = torch.float32, device: str = "cpu") -> PairObjective:
    """Return an objective with weights per cell (WRMF, iALS, sampled RG²), less its constant."""
    rows: CSR = objective.by_user
    extra, targets = (np.broadcast_to(values, rows.nnz) for values in (objective.extra, objective.targets))
    tensor = _caster(dtype, device)
    a = objective.user_background
    return PairObjective(
        SparsePairs.of(rows, device=device),
        user_weight=tensor(2 * objective.curvature * a),
        item_weight=tensor(objective.item_background),
        slope=tensor(2 * objective.slope * a),
        extra=tensor(2.0 * extra),
        targets=tensor(2.0 * targets),
        user_penalty=tensor(2 * objective.user_penalty),
        item_penalty=tensor(2 * objective.item_penalty),
    )


def _caster(dtype: torch.dtype, device: str) -> Any:
    def tensor(values: NDArray[Any]) -> Tensor:
        return torch.as_tensor(np.array(values, dtype=np.float64)).to(device=device, dtype=dtype)

    return tensor
