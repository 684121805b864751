"""Losses on all scores of a query: work once per query, values per positive, gradients by hand.

A `RowLoss` gives values and the gradient of their weighted sum. From it come the pure function of scores (`row_loss`)
and the sum over a batch of factors (`product_loss`), which computes scores, loss and gradients for some queries at a
time: never B × N numbers, and no work but three matrix products and a few passes.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from taylorank.errors import ParameterError
from taylorank.losses.batch import Positives, check_order, widen
from taylorank.losses.simplex import MASKED

State = tuple[Tensor, ...]


class RowLoss(Protocol):
    """A loss by its values and its gradient."""

    @property
    def shift_invariant(self) -> bool:
        """Whether adding a constant to all scores of a row changes nothing."""
        ...

    def values(self, z: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, State]:
        """Return ℓ (P,) at z (B, N), which may be overwritten, and what the gradient needs.

        z are the scores; those of a loss that does not mind have row maxima of 0.
        """

    def gradient(self, state: State, rows: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return the gradient (B, N) of Σ_p w_p ℓ_p; it may overwrite the first tensor of the state."""


def row_loss(loss: RowLoss, scores: Tensor, rows: Tensor, columns: Tensor, *, mask: Tensor | None) -> Tensor:
    """Return ℓ (P,) of scores (B, N); masked items are no candidates, and masked positives have loss 0."""
    if scores.ndim != 2:
        raise ParameterError(f"scores have {scores.ndim} dimensions", "give a matrix, queries × items")
    if mask is not None and mask.shape != scores.shape:
        raise ParameterError(f"the mask is {tuple(mask.shape)}, the scores {tuple(scores.shape)}", "make them alike")
    values: Tensor = _Rows.apply(scores, rows, columns, mask, loss)  # type: ignore[no-untyped-call, unused-ignore]
    return values


@torch.compiler.disable  # type: ignore[untyped-decorator, unused-ignore]  # gradients made in the forward pass
def product_loss(
    loss: RowLoss,
    queries: Tensor,
    items: Tensor,
    positives: Positives,
    *,
    mask: Tensor | None = None,
    chunk_elements: int | None = None,
) -> Tensor:
    """Return Σ_p w_p ℓ_p with scores queries (B, K) · items (N, K)ᵀ, `chunk_elements` of them at a time."""
    dtype = torch.promote_types(queries.dtype, items.dtype)
    total: Tensor = _Product.apply(  # type: ignore[no-untyped-call, unused-ignore]
        queries.to(dtype),
        items.to(dtype),
        positives,
        mask,
        loss,
        _rows_at_a_time(items, chunk_elements),
        torch.is_grad_enabled(),
    )
    return total


def _rows_at_a_time(items: Tensor, chunk_elements: int | None) -> int:
    """A chunk should stay in a CPU's cache, or fill a GPU, and be no thinner than what makes a matrix product."""
    if chunk_elements is not None:
        return max(1, chunk_elements // len(items))
    return max(64, (1 << 26 if items.is_cuda else 1 << 20) // max(len(items), 1))


def prepared(scores: Tensor, mask: Tensor | None, *, shift: bool) -> Tensor:
    """Overwrite scores by z, masked entries far below: with `shift` less the row maximum, else as they are."""
    if mask is not None:
        scores.masked_fill_(mask, MASKED)
    return scores.sub_(scores.amax(1, keepdim=True)) if shift else scores


class _Rows(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, scores: Tensor, rows: Tensor, columns: Tensor, mask: Tensor | None, loss: RowLoss) -> Tensor:
        own = widen(scores).clone(memory_format=torch.contiguous_format)
        z = prepared(own, mask, shift=loss.shift_invariant)
        values, state = loss.values(z, rows, columns)
        kept = None if mask is None else ~mask[rows, columns]
        ctx.save_for_backward(rows, columns, kept, *state)
        ctx.loss, ctx.dtype = loss, scores.dtype
        return values if kept is None else values * kept

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, columns, kept, first, *others = ctx.saved_tensors
        weights = grad if kept is None else grad * kept
        gradient = ctx.loss.gradient((first.clone(), *others), rows, columns, weights)
        return gradient.to(ctx.dtype), None, None, None, None


class _Product(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        items: Tensor,
        positives: Positives,
        mask: Tensor | None,
        loss: RowLoss,
        height: int,
        with_gradient: bool,
    ) -> Tensor:
        rows, columns, weights = positives.rows, positives.columns, widen(positives.weights).to(widen(queries).dtype)
        if mask is not None:
            weights = weights * ~mask[rows, columns]
        by_query = torch.zeros_like(queries)
        by_item = torch.zeros_like(widen(items))
        total = weights.new_zeros(())
        scratch = queries.new_empty(min(height, len(queries)), len(items))
        for start, stop, low, high in _chunks(rows, len(queries), height):
            some = queries[start:stop]
            scores = torch.mm(some, items.T, out=scratch[: stop - start])  # (b, N)
            some_mask = None if mask is None else mask[start:stop]
            z = prepared(widen(scores), some_mask, shift=loss.shift_invariant)
            local = rows[low:high] - start
            values, state = loss.values(z, local, columns[low:high])
            total += values @ weights[low:high]
            if with_gradient:
                gradient = loss.gradient(state, local, columns[low:high], weights[low:high]).to(items.dtype)
                torch.mm(gradient, items, out=by_query[start:stop])
                if by_item.dtype == items.dtype:
                    by_item.addmm_(gradient.T, some)
                else:
                    by_item += gradient.T @ some
        ctx.save_for_backward(by_query, by_item)
        ctx.dtype = items.dtype
        return total

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        by_query, by_item = ctx.saved_tensors
        return (by_query * grad).to(ctx.dtype), (by_item * grad).to(ctx.dtype), None, None, None, None, None


def _chunks(rows: Tensor, n_rows: int, height: int) -> list[tuple[int, int, int, int]]:
    """Return (first row, end, first positive, end) of every chunk that has positives."""
    check_order(rows)
    if n_rows <= height:  # the bounds of several need a look at the device
        return [(0, n_rows, 0, len(rows))] if len(rows) else []
    starts = list(range(0, n_rows, height))
    stops = [*starts[1:], n_rows] if starts else []
    bounds = torch.searchsorted(rows, torch.tensor([*starts, n_rows], device=rows.device)).tolist()
    return [
        (start, stop, low, high)
        for start, stop, low, high in zip(starts, stops, bounds[:-1], bounds[1:], strict=True)
        if high > low
    ]
