"""Teaching a student with torch, on a CUDA device: the steps of `student_descent`, by dense products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.errors import TaylorankError
from taylorank.models.student_plan import DECAYS, EPSILON, Plan
from taylorank.ranking import Ranker
from taylorank.ranking.ranker import Best, Positions

Singles = NDArray[np.float32]
BLOCK_CELLS = 1 << 28  # scores of a part of a batch held at a time: 1 GiB


@torch.no_grad()
def best_on_device(ranker: Ranker, device: str) -> Callable[[Positions, int], Best]:
    """Return a function from (users, k) to their k best items and scores, for a ranker of inner products.

    As `kernels.top_k`, but equal scores come in any order, and products round their factors (TF32).
    """
    vectors = ranker.vectors
    assert vectors is not None
    live = vectors.items.factors.any(axis=0)
    items = torch.tensor(vectors.items.factors[:, live], device=device)
    scales, offsets = (
        None if line is None else torch.tensor(line, device=device) for line in (vectors.scales, vectors.offsets)
    )
    hidden = None if ranker.rankable is None else torch.tensor(~ranker.rankable, device=device)

    @torch.no_grad()
    def best_of(users: Positions, top: int) -> Best:
        rows = torch.tensor(vectors.rows(users)[:, live], device=device, dtype=items.dtype)
        with _quick_products():
            scores = rows @ items.T  # (B, N)
        if scales is not None:
            scores *= scales
        if offsets is not None:
            scores += offsets
        if hidden is not None:
            scores.masked_fill_(hidden, -torch.inf)
        values, places = scores.topk(top, dim=1)
        return places.cpu().numpy(), values.cpu().numpy()

    return best_of


class TorchDescent:
    """As `student_descent.Descent`: the same batches, rates and start, so the same vectors up to rounding."""

    def __init__(self, plan: Plan, users: Singles, items: Singles, *, device: str) -> None:
        self.plan, self.device = plan, device
        self.users, self.items = (torch.tensor(side, device=device) for side in (users, items))
        self.biases = torch.zeros(len(items), device=device)
        self.weights = torch.tensor(plan.weights, device=device)
        self.lists = _padded(plan.lists, device)
        self._moments = {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in self._parameters().items()}
        self.step = 0

    def _parameters(self) -> dict[str, torch.Tensor]:
        return {"users": self.users, "items": self.items, "biases": self.biases}

    @torch.no_grad()
    def learn(self, batch: NDArray[np.int64]) -> float:
        """Make one step with the users of `batch`; return their loss."""
        self.step += 1
        rows = torch.tensor(batch, device=self.device)
        u, v = _unit(self.users), _unit(self.items)
        with _quick_products():
            loss, by_users, by_items, by_biases = self._gradients(rows, u, v)
        whole = torch.zeros_like(self.users)
        whole[rows] = by_users
        self._move("users", _along_sphere(whole, u, self.users))
        self._move("items", _along_sphere(by_items, v, self.items))
        if self.plan.bias:
            self._move("biases", by_biases)
        if not np.isfinite(loss):
            raise TaylorankError("the student's scores overflow", "raise temperature or lower learning_rate")
        return loss

    def snapshot(self) -> tuple[Singles, Singles, Singles]:
        """Return users, items and biases as they are now; those who are not taught have vectors of 0."""
        users, items = (_unit(side).cpu().numpy() for side in (self.users, self.items))
        users[self.plan.weights == 0] = 0.0
        return users, items, self.biases.cpu().numpy().copy()

    def _gradients(self, rows: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> tuple[float, Any, Any, Any]:
        """The loss, and its gradients by u of these rows, v and b; a part of the rows at a time."""
        scale = 1 / self.plan.temperature
        by_users, by_items, by_biases = torch.empty_like(u[rows]), torch.zeros_like(v), torch.zeros_like(self.biases)
        loss = torch.zeros((), dtype=torch.float64, device=self.device)
        size = max(1, BLOCK_CELLS // len(v))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            own, weights = u[part], self.weights[part]
            listed, shares = (side[part] for side in self.lists)
            scores = torch.addmm(self.biases, own, v.T, alpha=scale)  # (B, N)
            logs = torch.logsumexp(scores, dim=1)
            aimed = (scores.gather(1, listed) * shares).sum(dim=1)
            loss += (weights * (logs - aimed)).double().sum()
            errors = scores.sub_(logs[:, None]).exp_().scatter_add_(1, listed, -shares).mul_(weights[:, None])
            by_users[start : start + size] = scale * (errors @ v)
            by_items.addmm_(errors.T, own, alpha=scale)
            by_biases += errors.sum(dim=0)
        return float(loss), by_users, by_items, by_biases

    def _move(self, name: str, gradient: torch.Tensor) -> None:
        first, second = self._moments[name]
        first.lerp_(gradient, 1 - DECAYS[0])
        second.lerp_(gradient**2, 1 - DECAYS[1])
        self._parameters()[name].addcdiv_(first, second.sqrt().add_(EPSILON), value=-float(self.plan.rates[self.step]))


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    unit: torch.Tensor = vectors / vectors.norm(dim=1, keepdim=True)
    return unit


def _along_sphere(gradient: torch.Tensor, unit: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    """(g − (g·u) u) / ‖w‖."""
    along: torch.Tensor = gradient - (gradient * unit).sum(dim=1, keepdim=True) * unit
    return along.div_(raw.norm(dim=1, keepdim=True))


def _padded(lists: CSR, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Items (M, top) and shares (M, top) of the lists; short ones are filled up with shares of 0."""
    assert lists.weights is not None
    lengths = lists.row_lengths
    places = np.arange(lists.nnz) - np.repeat(lists.indptr[:-1], lengths)
    shape = (lists.n_rows, int(lengths.max()))
    items, shares = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    items[lists.row_of_entry(), places], shares[lists.row_of_entry(), places] = lists.indices, lists.weights
    return torch.tensor(items, device=device), torch.tensor(shares, device=device)


@contextmanager
def _quick_products() -> Iterator[None]:
    """Let products round their factors to 10 bits (TF32), which is many times faster and enough for a gradient."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
