"""Scores of drawn items: P queries, each against n items of its own.

The plain way gathers (P, n, K) vectors, multiplies, and scatters as many into the gradient: on a CPU all of it waits
for memory. Draws are the rows of a sparse matrix, so the kernels of the closed forms do the same from the vectors where
they lie: scores of the stored pairs, and two weighted sums of rows for the two gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from taylorank.data.csr import CSR
from taylorank.kernels import backend, gather_sum, nonzero_scores

MOST_ITEMS = 16  # per draw; beyond, gathering costs less than a pass over the items to find those that occur
FEWEST_NUMBERS = 1 << 15  # P · n · K; below, gathering costs less than the calls
TYPES = (torch.float32, torch.float64)


def drawn_scores(query: Tensor, items: Callable[[Tensor], Tensor], columns: Tensor) -> Tensor:
    """Return q_p · v_y of each query (P, K) with the items y of its row of `columns` (P, n) → (P, n).

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> drawn_scores(torch.tensor([[3.0, 4.0]]), lambda columns: vectors[columns], torch.tensor([[1, 0, 1]]))
    tensor([[8., 3., 8.]])
    """
    if not (_has_kernels(query) and _are_many(columns, query.shape[1])):
        return _products(query, items(columns))
    distinct, place = _distinct(columns)
    vectors = items(distinct)
    if vectors.dtype not in TYPES:
        return _products(query, vectors[place])
    apply: Any = _DrawnScores.apply  # torch leaves it without a type
    scores: Tensor = apply(query.to(vectors.dtype), vectors, place)
    return scores


def _products(query: Tensor, vectors: Tensor) -> Tensor:
    """Return inner products of (P, K) with (P, n, K) → (P, n)."""
    return (vectors @ query.to(vectors.dtype)[:, :, None]).squeeze(-1)


def _has_kernels(query: Tensor) -> bool:
    return (
        backend.native is not None
        and query.device.type == "cpu"
        and query.dtype in TYPES
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def _are_many(columns: Tensor, width: int) -> bool:
    """Whether the kernels pay; a negative number is for `items` to take or refuse."""
    if columns.numel() * width < max(FEWEST_NUMBERS, 1):
        return False
    least, largest = columns.aminmax()
    return bool(least >= 0) and int(largest) < MOST_ITEMS * columns.numel()


def _distinct(columns: Tensor) -> tuple[Tensor, Tensor]:
    """Return the items that occur, ascending (D,), and for each of `columns` its place among them, int32 (P, n)."""
    occurs = torch.zeros(int(columns.max()) + 1, dtype=torch.bool, device=columns.device)
    occurs[columns.reshape(-1)] = True
    places = occurs.cumsum(0, dtype=torch.int32) - 1
    return torch.nonzero(occurs).flatten(), places[columns]


class _DrawnScores(torch.autograd.Function):
    """S_pj = q_p · v_(place_pj); the gradients are Σ_j g_pj v_(place_pj) and, of an item, Σ g_pj q_p over its draws."""

    @staticmethod
    def forward(query: Tensor, vectors: Tensor, place: Tensor) -> Tensor:
        rows = _rows(place, None, len(vectors))
        scores = nonzero_scores(rows, _array(query), item_factors=_array(vectors), num_threads=_threads())
        return torch.from_numpy(scores).view(place.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        query, vectors, place = ctx.saved_tensors
        if torch.is_grad_enabled():  # a second derivative is wanted: the same by operations that have one
            return (*_plain_gradients(gradients[0], query, vectors, place), None)
        rows = _rows(place, _array(gradients[0].reshape(-1)), len(vectors))
        of_query = gather_sum(rows, _array(vectors), num_threads=_threads()) if ctx.needs_input_grad[0] else None
        of_items = (
            gather_sum(rows.transpose(), _array(query), num_threads=_threads()) if ctx.needs_input_grad[1] else None
        )
        return _tensor(of_query), _tensor(of_items), None


def _plain_gradients(gradient: Tensor, query: Tensor, vectors: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
    of_query = (gradient[:, :, None] * functional.embedding(place, vectors)).sum(1)
    parts = (gradient[:, :, None] * query[:, None]).flatten(0, 1)
    return of_query, torch.zeros_like(vectors).index_add(0, place.reshape(-1), parts)


def _rows(place: Tensor, weights: Any, n_items: int) -> CSR:
    count, draws = place.shape
    starts = np.arange(0, count * draws + 1, draws, dtype=np.int64)
    return CSR(starts, place.reshape(-1).numpy(), weights, n_items)


def _array(values: Tensor) -> Any:
    return values.detach().contiguous().numpy()


def _tensor(values: Any) -> Tensor | None:
    return None if values is None else torch.from_numpy(values)


def _threads() -> int:
    return torch.get_num_threads()
