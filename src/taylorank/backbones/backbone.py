"""What every backbone offers: query vectors and item vectors, whose inner product is the score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.backbones.registry import BACKBONES
from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.errors import ParameterError


class ItemVectors(Protocol):
    """(…,) item numbers → (…, K) vectors; None: all items, (N, K)."""

    def __call__(self, columns: Tensor | None = None) -> Tensor:
        """Return the vectors of the given items."""
        ...


@dataclass(frozen=True)
class Encoded:
    """o_xy = queries(x) · items(y), with everything that one step shares computed once."""

    queries: Callable[[Tensor], Tensor]
    items: ItemVectors

    def scores(self, contexts: Tensor, columns: Tensor | None = None) -> Tensor:
        """Return the scores of each context and each of the given items, (…, len(columns))."""
        return self.queries(contexts) @ self.items(columns).T


class Backbone(nn.Module, ABC):
    """Parameters of M users and N items, and the functions from them to vectors.

    Initial values come from `generator` (a CPU generator; None: one with seed 0) and are drawn on the CPU, so that a
    seed gives the same model on every device; `.to(device)` moves it. Dropout, where there is any, follows torch's
    global seed.
    """

    takes: ClassVar[Literal["users", "sequences"]] = "users"
    rows_at_once: ClassVar[int | None] = None  # to encode where memory is bounded; None: all, which cost no more

    def __init__(self, *, n_users: int, n_items: int, factors: int) -> None:
        super().__init__()
        self.n_users = check_whole(n_users, "n_users")
        self.n_items = check_whole(n_items, "n_items")
        self.factors = check_whole(factors, "factors")

    @classmethod
    def build(cls, data: Interactions, factors: int, **options: Any) -> Self:
        """Make the backbone of `data`, which gives the counts and whatever structure the backbone needs."""
        return cls(n_users=data.n_users, n_items=data.n_items, factors=factors, **options)

    @property
    def width(self) -> int:
        """K of the vectors that `encode` returns."""
        return self.factors

    @property
    def tables(self) -> tuple[nn.Parameter, nn.Parameter] | None:
        """The parameters (M, K) and (N, K) that are the vectors themselves; None where there are none."""
        return None

    @property
    def hidden_items(self) -> Tensor | None:
        """Which items losses over all items leave out, (N,); None: they take all."""
        return None

    @property
    def nameless_items(self) -> Tensor | None:
        """Items of which nothing is known, (N,), whose vectors say nothing; None: there are none."""
        return None

    @abstractmethod
    def encode(self) -> Encoded:
        """Compute what a step shares and return the functions from numbers to vectors."""

    def encode_to_rank(self) -> Encoded:
        """Return the functions to the vectors that rank: those of training, unless a backbone says otherwise."""
        return self.encode()

    @abstractmethod
    def project_to_unit_ball(self) -> None:
        """Shorten every embedding that is longer than 1 to length 1."""

    @abstractmethod
    def squared_norms(self, users: Tensor | None, columns: Tensor) -> Tensor:
        """Return |e_x|² + |e_y|² of the embeddings that a pair touches, for a penalty; of e_y alone without users."""

    def warm_start(self, user_factors: Any, item_factors: Any) -> None:
        """Begin at given factors; rows and columns of NaN stay as they are."""
        able = " or ".join(name for name, backbone in BACKBONES.items() if backbone.begins_at_factors)
        raise ParameterError(f"{type(self).__name__} cannot begin at given factors", f"use {able}")


@torch.no_grad()
def with_rows(table: Tensor, factors: Any, *, name: str, scale: float = 1.0) -> Tensor:
    """Return `factors` times `scale`; rows and columns of NaN, of which nothing is known, are those of the table."""
    values = factors if isinstance(factors, Tensor) else torch.tensor(factors)
    rows, width = table.shape
    if values.shape != table.shape:
        shape = " × ".join(map(str, values.shape))
        raise ParameterError(
            f"{name} are {shape} and the embeddings {rows} × {width}", "fit them with the same factors"
        )
    row = torch.isnan(values).all(1)
    column = torch.isnan(values[~row]).all(0)
    unknown = row[:, None] | column
    if bool(unknown.all()) or not bool(torch.isfinite(values[~unknown]).all()):
        raise ParameterError(f"{name} hold values that are not finite", "fit them again")
    return torch.where(unknown.to(table.device), table, values.to(table) * scale)


def squared_lengths(table: Tensor, rows: Tensor, *, sparse: bool = False) -> Tensor:
    """Return |table_row|² of the given rows, (…,)."""
    return looked_up(table, rows, through=lambda vectors: vectors.square().sum(-1, keepdim=True), sparse=sparse)[..., 0]


def looked_up(
    table: Tensor, rows: Tensor | None, *, through: Callable[[Tensor], Tensor], sparse: bool = False
) -> Tensor:
    """Return f(table_row), f a function of each row by itself: of the whole table first where that is less work."""
    if rows is None:
        return through(table)
    if rows.numel() > len(table) and not sparse:
        return functional.embedding(rows, through(table))
    return through(functional.embedding(rows, table, sparse=sparse))


@torch.no_grad()
def shorten(table: Tensor) -> None:
    """Divide each row by max(1, its length), in place."""
    table.div_(torch.linalg.vector_norm(table, dim=1, keepdim=True).clamp_(min=1))
