"""Two encoders as functions of all their parameters in one vector θ, with Jacobian products some rows at a time.

    P(θ) (M, K), Q(θ) (N, K);     J d = (∂P/∂θ d, ∂Q/∂θ d);     Jᵀ(g_P, g_Q) = Σ_x g_Pxᵀ ∂P_x/∂θ + Σ_y g_Qyᵀ ∂Q_y/∂θ

Only θ, the vectors and what the encoders need for one batch of rows are in memory. The encoders may share parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, jvp, vjp

from taylorank.errors import ParameterError, TrainingWarning
from taylorank.training.pair_objective import Pair

Values = tuple[Tensor, ...]  # one per parameter
CHECKED_ROWS = 16  # encoded twice, to see that nothing is random

with warnings.catch_warnings():  # the first jvp loads torch's own rules, with a warning that users can do nothing about
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    jvp(torch.sin, (torch.zeros(()),), (torch.zeros(()),))


class Encoders:
    """A module for the users and one for the items: row numbers (B,) → vectors (B, K).

    `row_batch` rows are encoded at a time (None: all).

    >>> users, items = (nn.Embedding(rows, 2) for rows in (3, 5))
    >>> encoders = Encoders(users, items, n_users=3, n_items=5)
    >>> [vectors.shape for vectors in encoders.vectors(encoders.start())]
    [torch.Size([3, 2]), torch.Size([5, 2])]
    """

    def __init__(
        self,
        users: nn.Module,
        items: nn.Module,
        *,
        n_users: int,
        n_items: int,
        row_batch: int | None = 1 << 16,
    ) -> None:
        self.module = nn.ModuleList([users, items])
        check_deterministic(self.module)
        self.counts, self.row_batch = (n_users, n_items), row_batch
        self.parameters = [p for p in self.module.parameters() if p.requires_grad]  # a shared one once
        if not self.parameters:
            raise ParameterError("the encoders have no parameters", "give modules that can learn")
        number = {id(parameter): i for i, parameter in enumerate(self.parameters)}
        self.names = [
            {name: number[id(p)] for name, p in side.named_parameters(remove_duplicate=False) if p.requires_grad}
            for side in self.module
        ]
        self.sizes = [p.numel() for p in self.parameters]
        self._check_repeatable()

    @classmethod
    def of_backbone(cls, backbone: Any, *, row_batch: int | None = None) -> Encoders:
        """Take the two sides of a backbone with a vector per user; one that computes all at once is asked for all."""
        return cls(
            Side(backbone, "users"),
            Side(backbone, "items"),
            n_users=backbone.n_users,
            n_items=backbone.n_items,
            row_batch=None if backbone.rows_at_once is None else row_batch or backbone.rows_at_once,
        )

    def start(self) -> Tensor:
        """Return θ as the modules have it now, (size,)."""
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def write(self, theta: Tensor) -> None:
        """Put θ back into the modules."""
        with torch.no_grad():
            for parameter, part in zip(self.parameters, torch.split(theta, self.sizes), strict=True):
                parameter.copy_(part.view_as(parameter))

    def vectors(self, theta: Tensor) -> Pair:
        """(P, Q)."""
        with torch.no_grad():
            return self._per_side(lambda encode, _side, _rows: encode(self._split(theta)))

    def push(self, theta: Tensor, direction: Tensor) -> Pair:
        """J d, (M, K) and (N, K)."""
        values, along = self._split(theta), self._split(direction)
        return self._per_side(lambda encode, _side, _rows: jvp(encode, (values,), (along,))[1])

    def pull(self, theta: Tensor, gradients: Pair) -> Tensor:
        """Jᵀ g, (size,)."""
        values = self._split(theta)

        def pulled(encode: Any, side: int, rows: slice) -> Tensor:
            return _flat(vjp(encode, values)[1](gradients[side][rows])[0])

        return self._summed(pulled)

    def pull_with_curvature(self, theta: Tensor, products: Pair, *, direction: Tensor, gradients: Pair) -> Tensor:
        """Jᵀ h + Σ_x g_x ∂²P_x/∂θ² d + Σ_y g_y ∂²Q_y/∂θ² d: the curvature of the encoders themselves, too."""
        values, along = self._split(theta), self._split(direction)

        def pulled(encode: Any, side: int, rows: slice) -> Tensor:
            def pull(at: Values, g: Tensor) -> Values:
                result: Values = vjp(encode, at)[1](g)[0]
                return result

            return _flat(jvp(pull, (values, gradients[side][rows]), (along, products[side][rows]))[1])

        return self._summed(pulled)

    @torch.no_grad()
    def _check_repeatable(self) -> None:
        """Refuse what is random without a module that says so, such as functional.dropout."""
        for name, side, count in zip(("users", "items"), self.module, self.counts, strict=True):
            numbers = torch.arange(min(CHECKED_ROWS, count), device=self.parameters[0].device)
            if not torch.allclose(side(numbers), side(numbers), rtol=1e-3, equal_nan=True):
                raise ParameterError(
                    f"the encoder of the {name} gives other vectors at each call", "take out what is random"
                )

    def _split(self, flat: Tensor) -> Values:
        parts = torch.split(flat, self.sizes)
        return tuple(part.view_as(p) for part, p in zip(parts, self.parameters, strict=True))

    def _per_side(self, work: Callable[[Any, int, slice], Tensor]) -> Pair:
        users, items = self._whole(lambda: [torch.cat(list(self._batches(work, side))) for side in (0, 1)])
        return users, items

    def _summed(self, work: Callable[[Any, int, slice], Tensor]) -> Tensor:
        def total() -> Tensor:
            parts = (part for side in (0, 1) for part in self._batches(work, side))
            result = next(parts).clone()
            for part in parts:
                result += part
            return result

        result: Tensor = self._whole(total)
        return result

    def _batches(self, work: Callable[[Any, int, slice], Tensor], side: int) -> Iterator[Tensor]:
        count, size = self.counts[side], self.row_batch or self.counts[side]
        module, device = self.module[side], self.parameters[0].device
        for start in range(0, count, size):
            rows = slice(start, min(start + size, count))
            numbers = torch.arange(rows.start, rows.stop, device=device)

            def encode(values: Values, numbers: Tensor = numbers) -> Tensor:
                own = {name: values[i] for name, i in self.names[side].items()}
                vectors: Tensor = functional_call(module, own, (numbers,))
                return vectors

            yield work(encode, side, rows)

    def _whole(self, work: Callable[[], Any]) -> Any:
        """Do the work; where a CUDA device has too little memory, with half as many rows at a time."""
        while True:
            try:
                return work()
            except torch.OutOfMemoryError as error:
                rows = self.row_batch or max(self.counts)
                if rows <= 1:
                    raise ParameterError(
                        "one row of the encoders does not fit the device", "use device='cpu'"
                    ) from error
                self.row_batch = rows = min(rows, max(self.counts)) // 2
            torch.cuda.empty_cache()
            warnings.warn(
                f"the device ran out of memory; going on with {rows:,} rows at a time", TrainingWarning, stacklevel=2
            )


def _flat(values: Values) -> Tensor:
    return torch.cat([value.flatten() for value in values])


class Side(nn.Module):
    """One side of a backbone: row numbers → vectors."""

    def __init__(self, backbone: Any, side: str) -> None:
        super().__init__()
        self.backbone, self.side = backbone, side

    def forward(self, rows: Tensor) -> Tensor:
        """Return the vectors of the given users or items."""
        encoded = self.backbone.encode()
        vectors: Tensor = encoded.queries(rows) if self.side == "users" else encoded.items(rows)
        return vectors


class Tables:
    """Encoders whose parameters are the vectors themselves, θ = [P, Q]: matrix factorisation, where J is the identity.

    With the interface of `Encoders`; nothing is copied and nothing differentiated.
    """

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


def check_deterministic(module: nn.Module) -> None:
    """Refuse vectors that depend on their batch (batch-norm in training); take out what is random (dropout)."""
    for name, part in module.named_modules():
        kind = type(part).__name__
        if part.training and isinstance(part, nn.modules.batchnorm._BatchNorm):
            raise ParameterError(
                f"{kind} ({name}) makes the vector of a row depend on the rows beside it, so that the loss over all "
                "pairs is no function of the parameters",
                "use LayerNorm, or freeze its statistics with .eval()",
            )
        if part.training and isinstance(part, nn.modules.dropout._DropoutNd) and part.p > 0:
            part.eval()
            warnings.warn(
                f"{kind} ({name}) is switched off: second-order steps need a loss that is the same at each call",
                TrainingWarning,
                stacklevel=3,
            )
