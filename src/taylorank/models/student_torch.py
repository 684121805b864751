"""Teaching a student with torch, on a CUDA device: the steps of `student_descent`, by dense products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.models.student_plan import DECAYS, EPSILON, Plan

Singles = NDArray[np.float32]
BLOCK_CELLS = 1 << 28  # scores of a part of a batch held at a time: 1 GiB
LEAST_SHARE = 1e-38  # of an item in the softmax, for its logarithm


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
    def learn(self, batch: NDArray[np.int64]) -> torch.Tensor:
        """Make one step with the users of `batch`; return their loss, a number that may still be on its way."""
        self.step += 1
        rows = self._sent(batch)
        u, v = self._unit(self.users), self._unit(self.items)
        with quick_products():
            loss, by_users, by_items, by_biases = self._gradients(rows, u, v)
        whole = torch.zeros_like(self.users)
        whole[rows] = by_users
        for name, gradient, unit, raw in (("users", whole, u, self.users), ("items", by_items, v, self.items)):
            self._move(name, _along_sphere(gradient, unit, raw))
        if self.plan.bias:
            self._move("biases", by_biases)
        return loss

    def snapshot(self) -> tuple[Singles, Singles, Singles]:
        """Return users, items and biases as they are now; those who are not taught have vectors of 0."""
        users, items = (self._unit(side).cpu().numpy() for side in (self.users, self.items))
        users[self.plan.weights == 0] = 0.0
        return users, items, self.biases.cpu().numpy().copy()

    def _sent(self, batch: NDArray[np.int64]) -> torch.Tensor:
        """The batch on the device; from pinned memory, so that nobody waits for the steps before it."""
        rows = torch.from_numpy(batch)
        return rows if self.device == "cpu" else rows.pin_memory().to(self.device, non_blocking=True)

    def _unit(self, vectors: torch.Tensor) -> torch.Tensor:
        unit: torch.Tensor = vectors / vectors.norm(dim=1, keepdim=True)
        return unit

    def _gradients(self, rows: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, Any, Any, Any]:
        """The loss, and its gradients by u of these rows, v and b; a part of the rows at a time.

        Weights go with the vectors of the users: each pass over the scores costs more than all products.
        """
        scale = 1 / self.plan.temperature
        by_users, by_items, by_biases = torch.empty_like(u[rows]), torch.zeros_like(v), torch.zeros_like(self.biases)
        loss = torch.zeros((), dtype=torch.float64, device=self.device)
        size = max(1, BLOCK_CELLS // len(v))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            own, weights = u[part], self.weights[part]
            listed, shares = (side[part] for side in self.lists)
            scores = torch.addmm(self.biases, own, v.T, alpha=scale)  # (B, N)
            errors = torch.softmax(scores, dim=1)
            logs = errors.gather(1, listed).clamp_min_(LEAST_SHARE).log_()
            loss -= (weights[:, None] * logs * shares).double().sum()
            errors.scatter_add_(1, listed, -shares)
            by_users[start : start + size] = (scale * weights)[:, None] * (errors @ v)
            by_items.addmm_(errors.T, own * weights[:, None], alpha=scale)
            by_biases.addmv_(errors.T, weights)
        return loss, by_users, by_items, by_biases

    def _move(self, name: str, gradient: torch.Tensor) -> None:
        first, second = self._moments[name]
        first.lerp_(gradient, 1 - DECAYS[0])
        second.lerp_(gradient**2, 1 - DECAYS[1])
        self._parameters()[name].addcdiv_(first, second.sqrt().add_(EPSILON), value=-float(self.plan.rates[self.step]))


def _along_sphere(gradient: torch.Tensor, unit: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    """(g − (g·u) u) / ‖w‖."""
    along: torch.Tensor = gradient - (gradient * unit).sum(dim=1, keepdim=True) * unit
    return along.div_(raw.norm(dim=1, keepdim=True))


def _padded(lists: CSR, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Items (M, top) and shares (M, top) of the lists; short ones are filled up with shares of 0."""
    indptr, indices, weights = (
        torch.tensor(part, device=device) for part in (lists.indptr, lists.indices, lists.weights)
    )
    lengths = indptr.diff()
    rows = torch.repeat_interleave(torch.arange(len(lengths), device=device), lengths)
    places = torch.arange(len(indices), device=device) - indptr[rows]
    shape = (lists.n_rows, int(lengths.max()))
    items, shares = torch.zeros(shape, dtype=torch.int64, device=device), torch.zeros(shape, device=device)
    items[rows, places], shares[rows, places] = indices.long(), weights
    return items, shares


@contextmanager
def quick_products() -> Iterator[None]:
    """Let products round their factors to 10 bits (TF32), which is many times faster and enough for a gradient."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
