"""Encoders whose parameters are the vectors themselves: matrix factorisation, where the Jacobian is the identity."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from taylorank.training.pair_objective import Pair


class Tables:
    """P and Q as θ = [P, Q], with the interface of `Encoders`; nothing is copied and nothing differentiated."""

    def __init__(self, users: nn.Parameter, items: nn.Parameter) -> None:
        self.parameters = [users, items]
        self.sizes = [users.numel(), items.numel()]
        self.factors = users.shape[1]

    def start(self) -> Tensor:
        """Return θ as the parameters have it now."""
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def write(self, theta: Tensor) -> None:
        """Put θ back into the parameters."""
        with torch.no_grad():
            for parameter, part in zip(self.parameters, self.vectors(theta), strict=True):
                parameter.copy_(part)

    def vectors(self, theta: Tensor) -> Pair:
        """(P, Q), views of θ."""
        users, items = torch.split(theta, self.sizes)
        return users.view(-1, self.factors), items.view(-1, self.factors)

    def push(self, theta: Tensor, direction: Tensor) -> Pair:
        """J d = d."""
        return self.vectors(direction)

    def pull(self, theta: Tensor, gradients: Pair) -> Tensor:
        """Jᵀ g = g."""
        return torch.cat([part.flatten() for part in gradients])

    def pull_with_curvature(self, theta: Tensor, products: Pair, *, direction: Tensor, gradients: Pair) -> Tensor:
        """Jᵀ h: the encoders have no curvature of their own."""
        return self.pull(theta, products)
